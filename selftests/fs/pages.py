#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Where the pages of a mapped file lie, and what can be done with them.

pages.py touch FILE FIRST NR [NODE]  stores into these pages; prints on which
                                     nodes they lie, as "1:100"; all on NODE
pages.py cpus FILE                   stores into all pages, each from the next CPU;
                                     prints how many extents two CPUs share
pages.py direct FILE TO              writes FILE from the mapping to TO, past
                                     the page cache
pages.py odirect FILE                the file itself is opened with O_DIRECT, read
                                     and written, as tmpfs allows
pages.py peek FILE                   another process reads it from the mapping
pages.py trace FILE                  a debugger reads and writes it there
pages.py core FILE TO                a process that had it mapped leaves it in TO
pages.py lock FILE                   locks the mapping, and lets it go
pages.py fork FILE                   a child changes a private mapping
pages.py store FILE PAGE             stores there; prints the signal that came
pages.py mbind FILE MODE NODES HOW   binds a mapping, HOW: shared, private,
                                     readonly; NODES: [1, 2], or own; prints 0
                                     or the error's name
"""
import collections
import ctypes
import errno
import mmap
import os
import resource
import signal
import struct
import sys

PAGE = 4096
EXTENT = 2 << 20
SYS = "/sys/kernel/mios"
SYS_MBIND = 237
STATIC_NODES = 1 << 15
PTRACE_PEEKDATA, PTRACE_POKEDATA, PTRACE_ATTACH = 2, 5, 16


class Vector(ctypes.Structure):
    """struct iovec"""
    _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]


def mapped(path, flags=mmap.MAP_SHARED):
    """All of a file."""
    with open(path, "r+b") as file:
        return mmap.mmap(file.fileno(), 0, flags)


def address(memory):
    """Where it is mapped."""
    return ctypes.addressof(ctypes.c_char.from_buffer(memory))


def pools():
    """Of each node (address, size)."""
    found = {}
    for node in range(64):
        try:
            with open(f"{SYS}/instance{node}/pool", encoding="ascii") as file:
                size, sign, base = file.read().strip().partition("@")
        except FileNotFoundError:
            continue
        if sign:
            found[node] = int(base, 16), int(size)
    return found


def physical_of(virtual):
    """Of the page that is mapped there."""
    with open("/proc/self/pagemap", "rb", buffering=0) as file:
        file.seek(virtual // PAGE * 8)
        word, = struct.unpack("<Q", file.read(8))
    return (word & (1 << 55) - 1) * PAGE


def node_of(virtual):
    """Of the page that is mapped there."""
    physical = physical_of(virtual)
    for node, (base, size) in pools().items():
        if base <= physical < base + size:
            return node
    sys.exit(f"{physical:#x} is in no pool")


def touch(path, first, count, *node):
    """Stores into pages, and looks where they are."""
    memory = mapped(path)
    nodes = collections.Counter()
    for page in range(int(first), int(first) + int(count)):
        memory[page * PAGE] = page % 251 + 1
        nodes[node_of(address(memory) + page * PAGE)] += 1
    print(" ".join(f"{n}:{nodes[n]}" for n in sorted(nodes)))
    return list(nodes) == [int(node[0])] if node else True


def cpus(path):
    """Extents from which more than one CPU has got pages; then all once more."""
    memory = mapped(path)
    mine = sorted(os.sched_getaffinity(0))
    extents = [set() for _ in mine]
    first = []
    for page in range(len(memory) // PAGE):
        os.sched_setaffinity(0, [mine[page % len(mine)]])
        memory[page * PAGE] = 1
        first.append(physical_of(address(memory) + page * PAGE))
        extents[page % len(mine)].add(first[-1] // EXTENT)
    print(len(set.intersection(*extents)))
    memory.madvise(mmap.MADV_DONTNEED)
    for page, physical in enumerate(first):
        os.sched_setaffinity(0, [mine[(page + 1) % len(mine)]])
        if (memory[page * PAGE] != 1 or
                physical_of(address(memory) + page * PAGE) != physical):
            return False
    return len(mine) > 1


def direct(path, to):
    """Past the page cache, as a device would read it."""
    memory = mapped(path)
    out = os.open(to, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_DIRECT)
    done = os.write(out, memoryview(memory))
    os.close(out)
    return done == len(memory)


def odirect(path):
    """Whole pages, and as tmpfs has it other pieces, too."""
    memory = mapped(path)
    file = os.open(path, os.O_RDWR | os.O_DIRECT)
    page = mmap.mmap(-1, PAGE)
    fine = os.preadv(file, [page], 0) == PAGE and page[:] == memory[:PAGE]
    fine &= os.pwritev(file, [page], 0) == PAGE
    fine &= os.pread(file, 100, 50) == memory[50:150]
    fine &= os.pwrite(file, memory[7:9], 7) == 2
    os.close(file)
    return fine and memory[:PAGE] == page[:]


def peek(path):
    """By a process that has not mapped it."""
    memory = mapped(path)
    ends = os.pipe()
    child = os.fork()
    if not child:
        os.read(ends[0], 1)
        os._exit(0)
    size = len(memory)
    got = ctypes.create_string_buffer(size)
    libc = ctypes.CDLL(None, use_errno=True)
    here = Vector(ctypes.addressof(got), size)
    there = Vector(address(memory), size)
    read = libc.process_vm_readv(child, ctypes.byref(here), 1,
                                 ctypes.byref(there), 1, 0)
    os.write(ends[1], b"x")
    os.waitpid(child, 0)
    return read == size and got.raw == memory[:]


def trace(path):
    """By a debugger."""
    memory = mapped(path)
    at = ctypes.c_void_p(address(memory))
    memory[:8] = b"untraced"
    child = os.fork()
    if not child:
        signal.pause()
    libc = ctypes.CDLL(None, use_errno=True)
    libc.ptrace.restype = ctypes.c_long
    libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_int, ctypes.c_void_p,
                            ctypes.c_void_p]
    fine = not libc.ptrace(PTRACE_ATTACH, child, None, None)
    os.waitpid(child, 0)
    word = libc.ptrace(PTRACE_PEEKDATA, child, at, None)
    fine &= struct.pack("<q", word) == b"untraced"
    new, = struct.unpack("<q", b"debugger")
    fine &= not libc.ptrace(PTRACE_POKEDATA, child, at, new)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return fine and memory[:8] == b"debugger"


def core(path, to):
    """In a core dump, which leaves out shared files unless it is told."""
    with open("/proc/sys/kernel/core_pattern", "w", encoding="ascii") as file:
        file.write(to)
    memory = mapped(path)
    memory[:16] = b"dump of a page: "
    child = os.fork()
    if not child:
        resource.setrlimit(resource.RLIMIT_CORE, (-1, -1))
        with open("/proc/self/coredump_filter", "w", encoding="ascii") as file:
            file.write("0xff")
        os.abort()
    status = os.waitpid(child, 0)[1]
    with open(to, "rb") as file:
        return os.WCOREDUMP(status) and memory[:] in file.read()


def lock(path):
    """There is nothing to be done, and nothing wrong."""
    memory = mapped(path)
    libc = ctypes.CDLL(None, use_errno=True)
    at, size = ctypes.c_void_p(address(memory)), ctypes.c_size_t(len(memory))
    before = memory[:]
    return not libc.mlock(at, size) and memory[:] == before and \
        not libc.munlock(at, size)


def fork(path):
    """A private mapping: nobody else sees what a child stores."""
    memory = mapped(path, mmap.MAP_PRIVATE)
    before = memory[0]
    child = os.fork()
    if not child:
        memory[0] = before + 1
        os._exit(memory[0])
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return status == before + 1 and memory[0] == before


def store(path, page):
    """By a child, which may die of it."""
    memory = mapped(path)
    child = os.fork()
    if not child:
        memory[int(page) * PAGE] = 1
        os._exit(0)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    print(signal.Signals(-code).name if code < 0 else "stored")
    return True


def mbind(path, mode, nodes, how):
    """As mios-numactl encodes nodes of the machine: see mios/memory/fs/policy.c."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mmap.restype = ctypes.c_void_p
    fd = os.open(path, os.O_RDONLY if how == "readonly" else os.O_RDWR)
    protection = mmap.PROT_READ | (mmap.PROT_WRITE if how != "readonly" else 0)
    size = os.fstat(fd).st_size
    at = ctypes.c_void_p(libc.mmap(None, ctypes.c_size_t(size), protection,
                                   mmap.MAP_PRIVATE if how == "private" else
                                   mmap.MAP_SHARED, fd, ctypes.c_long(0)))
    mode, mask = int(mode), 1
    if nodes != "own":
        listed = [int(node) for node in nodes.strip("[]").split(",") if node]
        mask = sum(1 << 63 - node for node in listed) + bool(listed)
        mode |= STATIC_NODES if listed else 0
    word = ctypes.c_uint64(mask)
    failed = libc.syscall(SYS_MBIND, at, ctypes.c_size_t(size), mode,
                          ctypes.byref(word), 65, 0)
    print(errno.errorcode[ctypes.get_errno()] if failed else 0)
    return True


WHAT = {"touch": touch, "cpus": cpus, "direct": direct, "peek": peek, "fork": fork,
        "odirect": odirect, "trace": trace, "core": core, "lock": lock,
        "store": store, "mbind": mbind}

if __name__ == "__main__":
    sys.exit(not WHAT[sys.argv[1]](*sys.argv[2:]))
