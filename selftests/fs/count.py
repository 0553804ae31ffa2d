#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Add to a counter in a mapped file, as programs of other instances do.

count.py FILE SLOT: add 1 to the first word, and after that to word SLOT, which
is ours alone, again and again: from when byte 56 is not 0, until byte 57 is not.
It rests now and then: CPUs take turns in the test machine, and another instance
boots beside it.
"""
import ctypes
import mmap
import pathlib
import sys
import time

WORD = 8
BEGIN, END = 56, 57
SIZE = 4096
AT_ONCE, REST = 1000, 0.02      # additions; seconds


def main():
    """Nothing to say, or what was not there."""
    path, slot = pathlib.Path(sys.argv[1]), int(sys.argv[2])
    add = ctypes.CDLL("libatomic.so.1")["__atomic_fetch_add_8"]
    add.argtypes = [ctypes.c_void_p, ctypes.c_uint64, ctypes.c_int]
    with open(path, "r+b") as file:
        memory = mmap.mmap(file.fileno(), SIZE)
    counter = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    for _ in range(600):
        if memory[BEGIN]:
            break
        time.sleep(0.05)
    else:
        return "nobody says begin"
    while not memory[END]:
        for _ in range(AT_ONCE):
            add(counter, 1, 5)
            add(counter + slot * WORD, 1, 5)
        time.sleep(REST)
    return 0


if __name__ == "__main__":
    sys.exit(main())
