#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Looks at holes and directories of a folder of miosfs (18-sparse)."""

import errno
import os
import sys

PAGE = 4096


def check(fine, what):
    if not fine:
        sys.exit(f"failed: {what}")


def holes(folder):
    """Data at pages 2, 3 and 700; the end of a file is a hole."""
    path = f"{folder}/holes"
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600)
    os.pwrite(fd, b"x" * 2 * PAGE, 2 * PAGE)
    os.pwrite(fd, b"x", 700 * PAGE + 5)
    size = 700 * PAGE + 6
    found, at = [], 0
    while at < size:
        try:
            data = os.lseek(fd, at, os.SEEK_DATA)
        except OSError as e:
            check(e.errno == errno.ENXIO, e)
            break
        at = os.lseek(fd, data, os.SEEK_HOLE)
        found.append((data, at))
    check(found == [(2 * PAGE, 4 * PAGE), (700 * PAGE, size)],
          f"data is at {found}")
    check(os.lseek(fd, 2 * PAGE + 1, os.SEEK_DATA) == 2 * PAGE + 1, "in a page")
    check(os.lseek(fd, 5, os.SEEK_HOLE) == 5, "in a hole")
    for beyond in (size, size + PAGE, 1 << 62):
        try:
            os.lseek(fd, beyond, os.SEEK_HOLE)
            check(False, f"{beyond} is in the file")
        except OSError as e:
            check(e.errno == errno.ENXIO, e)
    os.close(fd)
    os.unlink(path)


def reading(folder):
    """Names come, change and go while one reads: it ends, with all that stayed."""
    path = f"{folder}/reading"
    os.mkdir(path)
    before = {f"f{i:03}" for i in range(100)}
    for name in before:
        os.close(os.open(f"{path}/{name}", os.O_CREAT | os.O_WRONLY))
    seen = []
    with os.scandir(path) as entries:
        for entry in entries:
            seen.append(entry.name)
            check(len(seen) <= 100, "there is no end of names")
            os.close(os.open(f"{path}/new{len(seen)}", os.O_CREAT | os.O_WRONLY))
    check(set(seen) == before, "who read saw other names")
    check(len(os.listdir(path)) == 200, "not all names are there afterwards")
    seen = 0
    with os.scandir(path) as entries:
        for entry in entries:
            seen += 1
            check(seen <= 200, "there is no end of names that change")
            os.rename(f"{path}/{entry.name}", f"{path}/{entry.name}.{seen}")
    check(seen == 200, f"{seen} of 200 names were read")
    for name in os.listdir(path):
        os.unlink(f"{path}/{name}")
    os.rmdir(path)


holes(sys.argv[1])
reading(sys.argv[1])
