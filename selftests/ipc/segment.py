#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""What a program does with System V shared memory, or the error that it gets.

segment.py get KEY SIZE FLAGS: prints the id.  FLAGS: octal, as of shmget().
segment.py stat ID: key, mode, bytes, attached, maker, last, as shmctl() says.
segment.py look ID: attaches it to read: its first word, and where it lies.
segment.py add ID NAME SLOT: attaches it; adds to its first word and to word
SLOT until /tmp/NAME.end is there, and not while /tmp/NAME.rest is; detaches it,
and prints where it was.
"""
import ctypes
import errno
import os
import sys
import time

LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.shmat.restype = ctypes.c_void_p
LIBC.shmat.argtypes = [ctypes.c_int, ctypes.c_void_p, ctypes.c_int]
LIBC.shmdt.argtypes = [ctypes.c_void_p]
IPC_STAT = 2
SHM_RDONLY = 0o10000
WORD = 8


class Ds(ctypes.Structure):
    """struct shmid_ds of x86-64"""
    _fields_ = [("key", ctypes.c_int), ("uid", ctypes.c_uint),
                ("gid", ctypes.c_uint), ("cuid", ctypes.c_uint),
                ("cgid", ctypes.c_uint), ("mode", ctypes.c_uint),
                ("seq", ctypes.c_ushort), ("pad", ctypes.c_ushort * 3),
                ("unused", ctypes.c_ulong * 2), ("size", ctypes.c_ulong),
                ("times", ctypes.c_long * 3), ("cpid", ctypes.c_int),
                ("lpid", ctypes.c_int), ("attached", ctypes.c_ulong),
                ("rest", ctypes.c_ulong * 2)]


def checked(result):
    """It, or what is wrong as the last thing that is said."""
    if result in (-1, 2 ** 64 - 1):
        print(errno.errorcode[ctypes.get_errno()])
        sys.exit(0)
    return result


def add(ident, name, slot):
    """Until told to end."""
    place = checked(LIBC.shmat(ident, None, 0))
    fetch_add = ctypes.CDLL("libatomic.so.1")["__atomic_fetch_add_8"]
    fetch_add.argtypes = [ctypes.c_void_p, ctypes.c_uint64, ctypes.c_int]
    while not os.path.exists(f"/tmp/{name}.end"):
        for _ in range(0 if os.path.exists(f"/tmp/{name}.rest") else 100):
            fetch_add(place, 1, 5)
            fetch_add(place + slot * WORD, 1, 5)
        time.sleep(0.01)
    checked(LIBC.shmdt(place))
    ctypes.set_errno(0)
    if LIBC.shmdt(place) != -1 or ctypes.get_errno() != errno.EINVAL:
        sys.exit("detached twice")
    print(f"{place:#x}")


def main():
    """One of the above."""
    what, rest = sys.argv[1], sys.argv[2:]
    if what == "get":
        print(checked(LIBC.shmget(int(rest[0], 0), int(rest[1]),
                                  int(rest[2], 8))))
    elif what == "stat":
        ds = Ds()
        checked(LIBC.shmctl(int(rest[0]), IPC_STAT, ctypes.byref(ds)))
        print(f"{ds.key:#x} {ds.mode:o} {ds.size} {ds.attached} "
              f"{ds.cpid >> 16} {ds.lpid >> 16}")
    elif what == "look":
        place = checked(LIBC.shmat(int(rest[0]), None, SHM_RDONLY))
        print(ctypes.c_uint64.from_address(place).value, f"{place:#x}")
    else:
        add(int(rest[0]), rest[1], int(rest[2]))


if __name__ == "__main__":
    main()
