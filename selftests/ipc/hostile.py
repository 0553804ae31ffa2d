#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""What another user's program tries on shared memory that is not its own, a line
with the result each, so that two runs can be compared.

hostile.py make FOLDER         as root: files and segments; prints the segments' ids
hostile.py try FOLDER ID ID    as another user, on these
hostile.py fill FOLDER         names until there are no more, and removes them
hostile.py segments            the same of segments
hostile.py wakes FOLDER COUNT  so many wakes, each at another address
"""
import ctypes
import errno
import mmap
import os
import sys

LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.shmat.restype = ctypes.c_void_p
LIBC.shmat.argtypes = [ctypes.c_int, ctypes.c_void_p, ctypes.c_int]
LIBC.mmap.restype = ctypes.c_void_p
LIBC.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int,
                      ctypes.c_int, ctypes.c_int, ctypes.c_long]
FUTEX = 202
WAIT, WAKE, REQUEUE, CMP_REQUEUE, WAKE_OP = 0, 1, 3, 4, 5
KEYS = 0x6d100000, 0x6d100001
IPC_CREAT, IPC_RMID, IPC_SET, IPC_STAT = 0o1000, 0, 1, 2
SHM_RDONLY, SHM_LOCK = 0o10000, 11
SIZE = 1 << 16
FAILED = 2 ** 64 - 1


def said(what, result):
    """A line; an address is as good as another one."""
    name = errno.errorcode.get(ctypes.get_errno(), "?")
    good = result not in (-1, None, FAILED)
    if good and isinstance(result, int) and result > 1 << 32:
        result = "an address"
    print(f"{what}: {result if good else name}")
    return result if good else None


def tried(what, function, *args):
    """A call of Python's own."""
    try:
        function(*args)
        print(f"{what}: done")
    except OSError as error:
        print(f"{what}: {errno.errorcode[error.errno]}")


def make(folder):
    """Whom the other user may not touch, and whom he may look at."""
    os.umask(0)
    for name, mode in (("closed", 0o600), ("shown", 0o644)):
        fd = os.open(f"{folder}/{name}", os.O_CREAT | os.O_RDWR, mode)
        os.ftruncate(fd, SIZE)
    print(*(LIBC.shmget(key, SIZE, IPC_CREAT | mode)
            for key, mode in zip(KEYS, (0o600, 0o644))))


def on_files(folder):
    for name in ("closed", "shown"):
        path = f"{folder}/{name}"
        tried(f"{name}, read", os.open, path, os.O_RDONLY)
        tried(f"{name}, write", os.open, path, os.O_RDWR)
        tried(f"{name}, make", os.open, path, os.O_RDWR | os.O_CREAT)
        tried(f"{name}, cut", os.truncate, path, 0)
        tried(f"{name}, unlink", os.unlink, path)
        tried(f"{name}, rename", os.rename, path, path + "-")
        tried(f"{name}, replace", os.rename, f"{folder}/own", path)
        tried(f"{name}, chmod", os.chmod, path, 0o666)
        tried(f"{name}, chown", os.chown, path, os.getuid(), -1)
        tried(f"{name}, times", os.utime, path, (1, 1))
        tried(f"{name}, link", os.link, path, f"{folder}/linked")


def on_words(folder):
    """Of a file that may be read only."""
    fd = os.open(f"{folder}/shown", os.O_RDONLY)
    at = LIBC.mmap(None, SIZE, mmap.PROT_READ, mmap.MAP_SHARED, fd, 0)
    now = (ctypes.c_long * 2)(0, 1000)

    def futex(what, place, *args):
        said(f"futex, {what}",
             LIBC.syscall(FUTEX, ctypes.c_void_p(place),
                          *(a if isinstance(a, ctypes.Array) else
                            ctypes.c_void_p(a) for a in args)))
    futex("wake", at, WAKE, 1, 0, 0, 0)
    futex("wake all, and more", at, WAKE, 0x7fffffff, 0, 0, 0)
    futex("wait for another value", at, WAIT, 1, 0, 0, 0)
    futex("wait", at, WAIT, 0, now, 0, 0)
    futex("requeue", at, REQUEUE, 1, 1, at + 4, 0)
    futex("requeue, compared", at, CMP_REQUEUE, 1, 1, at + 4, 1)
    futex("store", at, WAKE_OP, 1, 1, at + 4, 1 << 12)
    futex("at an odd address", at + 2, WAKE, 1, 0, 0, 0)
    futex("above", 1 << 47, WAKE, 1, 0, 0, 0)
    futex("in nothing", 4096, WAKE, 1, 0, 0, 0)
    futex("what is no call", at, 77, 1, 0, 0, 0)
    LIBC.munmap(ctypes.c_void_p(at), ctypes.c_size_t(SIZE))
    futex("in what is gone", at, WAKE, 1, 0, 0, 0)


def on_segments(idents):
    ds = ctypes.create_string_buffer(112)
    for key, ident, name in zip(KEYS, idents, ("closed", "shown")):
        said(f"{name} segment, by its key, to read",
             LIBC.shmget(key, 0, 0o400) == ident or None)
        said(f"{name} segment, by its key, to write",
             LIBC.shmget(key, 0, 0o600) == ident or None)
        said(f"{name} segment, larger",
             LIBC.shmget(key, SIZE * 2, 0) == ident or None)
        said(f"{name} segment, attach", LIBC.shmat(ident, None, 0))
        said(f"{name} segment, to read", LIBC.shmat(ident, None, SHM_RDONLY))
        for call in (IPC_STAT, IPC_SET, IPC_RMID, SHM_LOCK):
            said(f"{name} segment, shmctl({call})",
                 LIBC.shmctl(ident, call, ds))
    for ident in (-1, 0x7fffffff, idents[0] + (1 << 15), idents[0] ^ 1 << 20):
        said("a foreign id", LIBC.shmat(ident, None, 0))
        said("a foreign id, removed", LIBC.shmctl(ident, IPC_RMID, None))


def fill(folder):
    count = 0
    try:
        while count < 1000000:
            os.close(os.open(f"{folder}/{count}.full",
                             os.O_CREAT | os.O_EXCL | os.O_RDWR))
            count += 1
    except OSError as error:
        print(f"names end with {errno.errorcode[error.errno]}")
    for name in range(count):
        os.unlink(f"{folder}/{name}.full")


def segments():
    made = []
    while len(made) < 1000000:
        made.append(LIBC.shmget(0, 4096, IPC_CREAT | 0o600))
        if made[-1] < 0:
            said("segments end with", made.pop())
            break
    for ident in made:
        LIBC.shmctl(ident, IPC_RMID, None)


def wakes(folder, count):
    """Each of them at a word where nobody has ever waited."""
    fd = os.open(f"{folder}/sparse", os.O_CREAT | os.O_RDWR, 0o600)
    os.ftruncate(fd, count * 4)
    at = LIBC.mmap(None, count * 4, 3, mmap.MAP_SHARED, fd, 0)
    woken = 0
    for place in range(at, at + count * 4, 4):
        woken += LIBC.syscall(FUTEX, ctypes.c_void_p(place), WAKE, 1, 0, 0, 0)
    os.unlink(f"{folder}/sparse")
    print(f"{woken} woken")


def main():
    what, rest = sys.argv[1], sys.argv[2:]
    if what == "make":
        make(*rest)
    elif what == "try":
        with open(f"{rest[0]}/own", "w", encoding="utf-8"):
            pass
        on_files(rest[0])
        on_words(rest[0])
        on_segments([int(word) for word in rest[1:]])
        os.unlink(f"{rest[0]}/own")
    elif what == "fill":
        fill(*rest)
    elif what == "segments":
        segments()
    else:
        wakes(rest[0], int(rest[1]))


main()
