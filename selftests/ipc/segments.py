#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""A walk through System V shared memory: what each call returns, line by line.

Ids and addresses are left out, so that it says the same of segments that all
instances have, and of those of a kernel's own (in an ipc namespace of its own).
"""
import ctypes
import errno
import mmap
import os
import signal

LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.shmat.restype = ctypes.c_void_p
LIBC.shmat.argtypes = [ctypes.c_int, ctypes.c_void_p, ctypes.c_int]
LIBC.shmdt.argtypes = [ctypes.c_void_p]
LIBC.mremap.restype = ctypes.c_void_p

CREAT, EXCL = 0o1000, 0o2000
RDONLY, RND, REMAP = 0o10000, 0o20000, 0o40000
RMID, SET, STAT, LOCK, UNLOCK, SHM_STAT, SHM_INFO = 0, 1, 2, 11, 12, 13, 14
SHM_STAT_ANY, INDEX, MAYMOVE, MADV_REMOVE = 15, 0x7fff, 1, 9
KEY, SIZE, PAGE = 0x7357, 5 * 4096 + 7, 4096
NOBODY = 65534


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


class Info(ctypes.Structure):
    """struct shm_info"""
    _fields_ = [("used", ctypes.c_int), ("sizes", ctypes.c_ulong * 5)]


def said(what, result, show=False):
    """One line; the result itself only where it means something."""
    if result in (-1, 2 ** 64 - 1):
        print(what, errno.errorcode[ctypes.get_errno()])
        return None
    print(what, result if show else "fine")
    return result


def get(what, key, size, flags):
    """shmget()"""
    return said(what, LIBC.shmget(key, size, flags))


def at(what, ident, address=None, flags=0):
    """shmat()"""
    return said(what, LIBC.shmat(ident, address, flags))


def ctl(what, ident, command, buffer=None):
    """shmctl(), all of it that does not change"""
    return said(what, LIBC.shmctl(ident, command, buffer and
                                  ctypes.byref(buffer)), command < SHM_STAT)


def stat(what, ident):
    """IPC_STAT"""
    ds = Ds()
    if ctl(what, ident, STAT, ds) is not None:
        print(f"  {ds.key:#x} {ds.uid} {ds.gid} {ds.cuid} {ds.cgid} "
              f"{ds.mode:o} {ds.size} {ds.attached} cpid {ds.cpid > 0} "
              f"lpid {ds.lpid > 0} times {[t > 0 for t in ds.times]}")
    return ds


def by_index(what, ident, command):
    """As ipcs looks at all that there are."""
    ds = Ds()
    found = said(what, LIBC.shmctl(ident & INDEX, command, ctypes.byref(ds)))
    if found is not None:
        print("  the same", found == ident, ds.size)


def child(run):
    """In another process, whose end is told."""
    os.sys.stdout.flush()
    pid = os.fork()
    if not pid:
        run()
        os.sys.stdout.flush()
        os._exit(0)
    status = os.waitpid(pid, 0)[1]
    print("  the child", signal.Signals(status & 127).name if status & 127
          else "ends")


def keys():
    """What keys are worth."""
    get("no such key", KEY, SIZE, 0o600)
    get("no bytes", KEY, 0, CREAT | 0o600)
    ident = get("made", KEY, SIZE, CREAT | 0o640)
    get("again", KEY, SIZE, CREAT | EXCL | 0o600)
    get("too large", KEY, SIZE + 1, 0o600)
    print("the same", get("found", KEY, 1, 0) == ident)
    stat("as made", ident)
    by_index("by its index", ident, SHM_STAT)
    print("none is beyond the last", LIBC.shmctl(
        0, SHM_INFO, ctypes.byref(Info())) >= ident & INDEX)
    return ident


def small():
    """The least that programs ask for."""
    ident = get("16 bytes", 0, 16, CREAT | 0o600)
    place = at("attach", ident)
    ctypes.memset(place, 1, 16)
    stat("16 bytes", ident)
    ctl("remove", ident, RMID)
    said("detach", LIBC.shmdt(place))
    stat("gone", ident)


def grown(ident):
    """Mapped beyond its end, elsewhere, as there is no room behind it."""
    length = 6 * PAGE
    with mmap.mmap(-1, 2 * length) as area:
        room = ctypes.addressof(ctypes.c_char.from_buffer(area))
        place = at("to be grown", ident, room, REMAP)
        larger = said("grown", LIBC.mremap(
            ctypes.c_void_p(place), ctypes.c_size_t(length),
            ctypes.c_size_t(2 * length), MAYMOVE))
    stat("grown", ident)
    said("detach what has grown", LIBC.shmdt(larger))
    stat("none has it", ident)


def places(ident):
    """Where it is attached, and how."""
    one = at("anywhere", ident)
    two = at("twice", ident, None, RDONLY)
    ctypes.c_uint64.from_address(one + 8).value = 42
    print("seen", ctypes.c_uint64.from_address(two + 8).value)
    said("given back", LIBC.madvise(ctypes.c_void_p(one), ctypes.c_size_t(PAGE),
                                    MADV_REMOVE))
    print("seen", ctypes.c_uint64.from_address(two + 8).value)
    said("given back to read", LIBC.madvise(
        ctypes.c_void_p(two), ctypes.c_size_t(PAGE), MADV_REMOVE))
    print("last page", ctypes.string_at(one + SIZE - 7 + 4000, 1))
    child(lambda: ctypes.memset(two, 1, 1))
    stat("attached twice", ident)
    child(lambda: stat("in a child", ident))
    at("over one", ident, one)
    at("crooked", ident, one + 1)
    at("remap to nowhere", ident, None, REMAP)
    print("remapped there", at("remap", ident, one + 100, REMAP | RND) == one)
    stat("one was replaced", ident)
    LIBC.munmap(ctypes.c_void_p(one + PAGE), PAGE)
    stat("with a gap", ident)
    said("detach", LIBC.shmdt(one))
    said("detach again", LIBC.shmdt(one))
    said("detach crooked", LIBC.shmdt(two + 1))
    stat("one is left", ident)
    said("detach the other", LIBC.shmdt(two))
    stat("none", ident)


def others(ident):
    """What another user may."""
    os.setegid(NOBODY)
    os.seteuid(NOBODY)
    get("to read and write", KEY, 1, 0o600)
    get("to read", KEY, 1, 0o400)
    get("for nothing", KEY, 1, 0)
    at("attach", ident)
    stat("stat", ident)
    by_index("by its index", ident, SHM_STAT)
    by_index("in any case", ident, SHM_STAT_ANY)
    ctl("remove", ident, RMID)
    ctl("set", ident, SET, Ds())
    ctl("lock", ident, LOCK)
    os.seteuid(0)
    os.setegid(0)
    ds = Ds(uid=NOBODY, gid=7, mode=0o1444)
    ctl("given away", ident, SET, ds)
    stat("by root", ident)
    os.seteuid(NOBODY)
    at("its owner reads", ident, None, RDONLY) and print("  and has it")
    at("and does not write", ident)
    ctl("is its owner", ident, SET, Ds(uid=NOBODY, gid=7, mode=0o600))
    os.seteuid(0)


def ends(ident):
    """Removal."""
    place = at("attach", ident)
    ctl("lock", ident, LOCK)
    ctl("unlock", ident, UNLOCK)
    before = Info()
    LIBC.shmctl(0, SHM_INFO, ctypes.byref(before))
    ctl("remove", ident, RMID)
    stat("removed", ident)
    get("its key", KEY, 1, 0)
    again = at("attach by its id", ident)
    child(lambda: said("in a child", LIBC.shmdt(place)))
    LIBC.shmdt(place)
    LIBC.shmdt(again)
    child(lambda: None)
    # What was attached before by its owner is there still.
    stat("one is left", ident)
    after = Info()
    LIBC.shmctl(0, SHM_INFO, ctypes.byref(after))
    print("in all", after.used - before.used)
    ctl("no such command", ident, 99)


def main():
    """All of it."""
    ident = keys()
    places(ident)
    grown(ident)
    others(ident)
    ends(ident)
    small()
    new = get("a new one", KEY, PAGE, CREAT | 0o600)
    area = mmap.mmap(-1, PAGE)
    at("over a mapping", new, ctypes.addressof(
        ctypes.c_char.from_buffer(area)))
    ctl("gone", new, RMID)
    stat("gone", new)
    at("attach", new)
    ctl("gone again", new, RMID)
    at("no id", -1)
    stat("no id", 1 << 30)


if __name__ == "__main__":
    main()
