#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Two programs, on two instances, that map one file.

share.py FILE 1|2: store a byte, wait for that of the other one, and print where
the file lies here.  The byte of the first page is there before; that of the
second page is a fault that both may have at once.
"""
import ctypes
import mmap
import sys
import time

PAGE = 4096


def met(memory, place, value):
    """Has the other one stored it?  It may have to start first."""
    for _ in range(600):
        if memory[place] == value:
            return True
        time.sleep(0.05)
    return False


def main():
    """The address, or what was not seen."""
    path, me = sys.argv[1], int(sys.argv[2])
    other = 3 - me
    with open(path, "r+b") as file:
        memory = mmap.mmap(file.fileno(), 2 * PAGE)
    address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    for place in (0, PAGE):
        memory[place + me] = 100 + me
        if not met(memory, place + other, 100 + other):
            print(f"no store of {other} at {place}")
            return 1
    print(f"{address:#x}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
