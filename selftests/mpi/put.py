#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Each rank puts 8 bytes into its neighbour's window, and gets them back, so many
times; whether they are right.

usage: put.py allocated|brought TURNS
The window's memory is MPI's, or the program's own.
"""
import sys
from mpi4py import MPI


def word(rank, turn):
    """What rank puts in this turn."""
    return bytes([(rank * 64 + turn) & 255] * 8)


def main():
    """Says how many were wrong."""
    world = MPI.COMM_WORLD
    right = (world.rank + 1) % world.size
    left = (world.rank - 1) % world.size
    if sys.argv[1] == "allocated":
        window = MPI.Win.Allocate(4096, comm=world)
    else:
        window = MPI.Win.Create(bytearray(4096), comm=world)
    window.Lock_all()
    wrong = 0
    for turn in range(int(sys.argv[2])):
        window.Put(word(world.rank, turn), right)
        window.Flush(right)
        world.Barrier()
        window.Sync()
        wrong += bytes(window.tomemory())[:8] != word(left, turn)
        got = bytearray(8)
        window.Get(got, right)
        window.Flush(right)
        wrong += bytes(got) != word(world.rank, turn)
        world.Barrier()
    window.Unlock_all()
    window.Free()
    print(f"rank {world.rank}: {f'{wrong} wrong' if wrong else 'right'}", flush=True)
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
