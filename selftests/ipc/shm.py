#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""What a program does with POSIX shared memory, each a command of its own.

shm.py make NAME BYTES      SharedMemory(create=True), its first byte 1
shm.py add NAME AT          add 1 to a byte, print what was there
shm.py grow NAME BYTES      ftruncate, and store in the last byte through a map
shm.py wait NAME            sem_open and sem_wait, half a minute at most
shm.py post NAME            sem_open and sem_post
shm.py unlink NAME          shm_unlink
"""
import ctypes
import mmap
import multiprocessing.resource_tracker as tracker
import multiprocessing.shared_memory as shared
import os
import sys
import time

LIBC = ctypes.CDLL("libc.so.6", use_errno=True)
LIBC.sem_open.restype = ctypes.c_void_p
LIBC.sem_post.argtypes = [ctypes.c_void_p]
LIBC.sem_timedwait.argtypes = [ctypes.c_void_p, ctypes.c_void_p]


def attach(name, **how):
    """A segment that stays when we end, as Python 3.13's track=False has it."""
    memory = shared.SharedMemory(name, **how)
    tracker.unregister(f"/{name}", "shared_memory")
    return memory


def make(name, size):
    """A new segment."""
    memory = attach(name, create=True, size=int(size))
    memory.buf[0] = 1


def add(name, place):
    """One more, in place: nobody else adds to it now."""
    memory = attach(name)
    print(memory.buf[int(place)])
    memory.buf[int(place)] += 1


def grow(name, size):
    """Longer, for all that have it mapped and for all that map it now."""
    memory = attach(name)
    with open(f"/dev/shm/{name}", "r+b") as file:
        os.ftruncate(file.fileno(), int(size))
        mmap.mmap(file.fileno(), int(size))[int(size) - 1] = 7
    memory.buf[1] = 7


def semaphore(name):
    """Made by whoever comes first, with nothing in it."""
    sem = LIBC.sem_open(b"/" + name.encode(), os.O_CREAT, 0o600, 0)
    if not sem:
        raise OSError(ctypes.get_errno(), f"sem_open {name}")
    return sem


def wait(name):
    """Until somebody posts."""
    until = (ctypes.c_long * 2)(int(time.time()) + 30, 0)
    if LIBC.sem_timedwait(semaphore(name), until):
        raise OSError(ctypes.get_errno(), f"sem_timedwait {name}")


def post(name):
    """Wakes who waits."""
    LIBC.sem_post(semaphore(name))


def unlink(name):
    """The name goes; who has it mapped keeps it."""
    if LIBC.shm_unlink(b"/" + name.encode()):
        raise OSError(ctypes.get_errno(), f"shm_unlink {name}")


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
