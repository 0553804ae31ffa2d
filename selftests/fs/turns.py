#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Turns at the lock of /mios, for 36-turns.

usage: turns.py make DIR NAME NUMBER    so many files, when DIR/begin is there;
                                        prints how many ms that took
       turns.py order DIR               in which order all were made

Ids of files are counted on under the lock, and st_ino has them.  "order" looks
at the time when all that were there made files, and prints for each how many
it made, and how many of those came right behind another one of its own.
"""
import collections
import os
import pathlib
import sys
import time


def make(where, name, number):
    """Files, one after the other."""
    (where / f"{name}-ready").touch()
    while not (where / "begin").exists():
        time.sleep(0.001)
    began = time.monotonic()
    for i in range(number):
        os.close(os.open(where / f"{name}.{i}", os.O_CREAT | os.O_EXCL))
    print(round(1000 * (time.monotonic() - began)))


def order(where):
    """Who made which, by their ids."""
    made = sorted((entry.inode(), entry.name.split(".")[0])
                  for entry in os.scandir(where) if "." in entry.name)
    ids = collections.defaultdict(list)
    for number, name in made:
        ids[name].append(number)
    first = max(mine[0] for mine in ids.values())
    last = min(mine[-1] for mine in ids.values())
    seen = [name for number, name in made if first <= number <= last]
    for name in sorted(ids):
        at = [i for i, other in enumerate(seen) if other == name]
        print(name, len(at), sum(b == a + 1 for a, b in zip(at, at[1:])))


if __name__ == "__main__":
    if sys.argv[1] == "make":
        make(pathlib.Path(sys.argv[2]), sys.argv[3], int(sys.argv[4]))
    else:
        order(pathlib.Path(sys.argv[2]))
