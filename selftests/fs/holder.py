#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""A program that has a file mapped, and tells what it sees there.

holder.py FILE NAME [pin PAGE | large]: map FILE, write to no page but look at each;
"large": by large pages.  Whenever /tmp/NAME.ask is there, /tmp/NAME.said becomes the first byte of each
page: a letter, 0, or BUS where there is none.  With "pin" a page lies in a pipe
meanwhile, unread; when /tmp/NAME.read is there, /tmp/NAME.said becomes its
first byte; when /tmp/NAME.drop is there, the mapping goes and the pipe stays.  It
ends when /tmp/NAME.end is there.
"""
import ctypes
import mmap
import os
import sys
import time

PAGE = 4096


class Vector(ctypes.Structure):
    """struct iovec"""
    _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]


def word(byte):
    """For a person."""
    return chr(byte[0]) if byte[0] else "0"


def look(memory, ends):
    """The kernel looks, as the CPU would: it gets an error, not a signal."""
    words = []
    for page in range(len(memory) // PAGE):
        try:
            os.write(ends[1], memoryview(memory)[page * PAGE:page * PAGE + 1])
            words.append(word(os.read(ends[0], 1)))
        except OSError:
            words.append("BUS")
    return " ".join(words)


def pin(memory, page):
    """The end of a pipe in which the page itself lies."""
    ends = os.pipe()
    start = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    vector = Vector(start + page * PAGE, PAGE)
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.vmsplice(ends[1], ctypes.byref(vector), 1, 0) != PAGE:
        sys.exit(f"vmsplice: {os.strerror(ctypes.get_errno())}")
    return ends[0]


def main():
    """Until told to end."""
    path, name = sys.argv[1:3]
    with open(path, "r+b") as file:
        memory = mmap.mmap(file.fileno(), 0)
    if sys.argv[3:] == ["large"]:
        memory.madvise(mmap.MADV_HUGEPAGE)
    ends, pinned = os.pipe(), None
    look(memory, ends)
    if sys.argv[3:4] == ["pin"]:
        pinned = pin(memory, int(sys.argv[4]))
    while not os.path.exists(f"/tmp/{name}.end"):
        for order in "ask", "read", "drop":
            asked = f"/tmp/{name}.{order}"
            if not os.path.exists(asked):
                continue
            with open(f"/tmp/{name}.said", "w", encoding="ascii") as said:
                if order == "drop":
                    memory.close()
                else:
                    said.write(look(memory, ends) if order == "ask" else
                               word(os.read(pinned, PAGE)))
            os.unlink(asked)
        time.sleep(0.05)


if __name__ == "__main__":
    main()
