#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""How many page faults a mapping of a file costs, which tells large pages from
small ones where nothing else does.

large.py store FILE [small]	stores into each page; prints the faults
large.py load FILE [small]	looks at each page; prints the faults
large.py race FILE N		stores into each page when FILE's folder has a file "go",
				another one of each 2 MiB first than the others
large.py segment		the same in a segment of System V
large.py parts FILE		takes away and gives back rights of a part, and moves a
				part; prints the bytes there, before and after
large.py churn FILE		stores, cuts and punches until it is killed
large.py others FILE		a debugger, direct I/O, a child and a futex on one
"""
import ctypes
import mmap
import os
import random
import resource
import sys
import time

import pages

PAGE = 4096
LARGE = 512 * PAGE
FUTEX, FUTEX_WAKE = 202, 1
MREMAP_MAYMOVE = 1


def mapped(path, small):
    """All of a file; by large pages, unless small ones are asked for."""
    with open(path, "r+b") as file:
        memory = mmap.mmap(file.fileno(), 0)
    if not small:
        memory.madvise(mmap.MADV_HUGEPAGE)
    return memory


def faults():
    """So far, of this program."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt


def store(path, *small):
    """A letter for each 2 MiB into each of its pages."""
    memory = mapped(path, small)
    places = range(0, len(memory), PAGE)
    before = faults()
    for at in places:
        memory[at] = 65 + at // LARGE
    print(faults() - before)
    return True


def race(path, which):
    """With those on other instances."""
    memory = mapped(path, False)
    go = os.path.join(os.path.dirname(path), "go")
    while not os.path.exists(go):
        time.sleep(0.001)
    for start in range(0, len(memory), LARGE):
        for at in range(int(which) * 170, 512 + int(which) * 170):
            memory[start + at % 512 * PAGE] = 65
    return True


def segment():
    """Each page of a segment of 4 MiB."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.shmat.restype = ctypes.c_void_p
    key = libc.shmget(0, ctypes.c_size_t(2 * LARGE), 0o600)
    start = libc.shmat(key, None, 0)
    libc.shmctl(key, 0, None)
    if libc.madvise(ctypes.c_void_p(start), ctypes.c_size_t(2 * LARGE),
                    mmap.MADV_HUGEPAGE):
        return False
    before = faults()
    for at in range(0, 2 * LARGE, PAGE):
        ctypes.memset(start + at, 65, 1)
    print(faults() - before)
    return True


def load(path, *small):
    """The letters that are there."""
    memory = mapped(path, small)
    places = range(0, len(memory), PAGE)
    before = faults()
    for at in places:
        memory[at]
    print(faults() - before)
    return True


def parts(path):
    """What of a large page is treated by itself: all stays as it was."""
    memory = mapped(path, False)
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mremap.restype = ctypes.c_void_p
    start = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    read, write = mmap.PROT_READ, mmap.PROT_READ | mmap.PROT_WRITE
    seen = [memory[0], memory[LARGE - PAGE]]
    part = ctypes.c_void_p(start + 16 * PAGE)
    size = ctypes.c_size_t(16 * PAGE)
    fine = not libc.mprotect(part, size, read)
    seen += [memory[16 * PAGE], memory[17 * PAGE]]
    fine &= not libc.mprotect(part, size, write)
    memory[16 * PAGE + 1] = 97
    fine &= not libc.mprotect(ctypes.c_void_p(start), ctypes.c_size_t(LARGE), read)
    seen.append(memory[16 * PAGE + 1])
    fine &= not libc.mprotect(ctypes.c_void_p(start), ctypes.c_size_t(LARGE), write)
    memory[16 * PAGE + 2] = 98
    moved = libc.mremap(part, size, size, MREMAP_MAYMOVE | 2,
                        ctypes.c_void_p(start + 64 * LARGE))
    fine &= moved == start + 64 * LARGE
    seen += list(ctypes.string_at(moved, 3)) + [memory[48 * PAGE]]
    memory.madvise(mmap.MADV_DONTNEED, LARGE // 2, LARGE // 2)
    seen.append(memory[LARGE - PAGE])
    print(bytes(seen).decode())
    return fine


def churn(path):
    """As others do; who meets the end of the file begins anew."""
    random.seed(os.getpid())
    libc = ctypes.CDLL(None, use_errno=True)
    with open(path, "r+b") as file:
        size = os.fstat(file.fileno()).st_size
        memory = mmap.mmap(file.fileno(), size)
        memory.madvise(mmap.MADV_HUGEPAGE)
        start = ctypes.addressof(ctypes.c_char.from_buffer(memory))
        while True:
            at = random.randrange(0, size, PAGE)
            # The kernel stores: where there is no page it says so.
            letter = bytes([65 + at // LARGE])
            ends = os.pipe()
            os.write(ends[1], letter)
            libc.read(ends[0], ctypes.c_void_p(start + at), 1)
            for end in ends:
                os.close(end)
            how = random.randrange(40)
            if how == 0:
                os.ftruncate(file.fileno(), at)
                os.ftruncate(file.fileno(), size)
            elif how == 1:
                libc.fallocate(file.fileno(), 3, ctypes.c_long(at),
                               ctypes.c_long(PAGE))


def others(path):
    """Whoever else looks at the pages of a mapping."""
    memory = mapped(path, False)
    memory[0] = 65
    word = ctypes.c_uint32.from_buffer(memory, 5 * PAGE)
    libc = ctypes.CDLL(None, use_errno=True)
    fine = not libc.syscall(FUTEX, ctypes.byref(word), FUTEX_WAKE, 1, None,
                            None, 0)
    child = os.fork()
    if not child:
        memory[7 * PAGE] = 99
        os._exit(memory[0])
    fine &= os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 65
    fine &= memory[7 * PAGE] == 99
    # These map it by themselves: with large pages where the mount says so.
    fine &= pages.peek(path) and pages.trace(path) and pages.lock(path)
    return fine and pages.direct(path, "/tmp/direct") and pages.fork(path)


if __name__ == "__main__":
    sys.exit(not {"store": store, "load": load, "segment": segment,
                  "race": race,
                  "parts": parts,
                  "churn": churn, "others": others}[sys.argv[1]](*sys.argv[2:]))
