#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Ranks on several instances are one node to MPI, and what they tell each other
goes through memory: mios0 of none of them carries it.

The last line says how much was told, and how much mios0 carried meanwhile.
"""
import pathlib
import sys
from mpi4py import MPI

LARGE, SMALL, ROUNDS = 1 << 20, 64, 1
# One in so many: Open MPI's daemons, NFS and clocks have a word now and then.
SILENCE = 100
COUNTERS = pathlib.Path("/sys/class/net/mios0/statistics")


def carried():
    """Bytes that mios0 has carried on this instance."""
    return sum(int((COUNTERS / way).read_text())
               for way in ("rx_bytes", "tx_bytes"))


def around(world, size):
    """Each rank's bytes go once around; they come back as they were."""
    right = (world.rank + 1) % world.size
    left = (world.rank - 1) % world.size
    data = mine = bytes([world.rank + 1]) * size
    for _ in range(world.size):
        got = bytearray(size)
        world.Sendrecv(data, right, recvbuf=got, source=left)
        data = bytes(got)
    return data == mine


def windows(world, node):
    """Put and Fetch_and_op in one, loads and stores in the other."""
    right = (world.rank + 1) % world.size
    left = (world.rank - 1) % world.size
    window = MPI.Win.Allocate(16, comm=world)
    window.Fence()
    window.Put(bytes([world.rank] * 8), right)
    window.Fence()
    said = bytes(window.tomemory())[:8] == bytes([left] * 8)
    window.Free()
    window = MPI.Win.Allocate_shared(8, comm=node)
    window.Fence()
    window.tomemory()[0] = world.rank + 1
    window.Fence()
    there, _ = window.Shared_query((node.rank + 1) % node.size)
    said &= there[0] == right + 1
    window.Free()
    return said


def main():
    """Nothing, or what is wrong."""
    world = MPI.COMM_WORLD
    names = set(world.allgather(MPI.Get_processor_name()))
    node = world.Split_type(MPI.COMM_TYPE_SHARED)
    around(world, SMALL)
    if node.size != world.size:
        return f"{node.size} ranks of {world.size} share memory with {world.rank}"
    world.Barrier()
    before = carried()
    said = all([around(world, size) for size in [SMALL, LARGE] * ROUNDS])
    said &= windows(world, node)
    said &= world.allreduce(world.rank) == sum(range(world.size))
    over = world.allreduce(carried() - before)
    if not said:
        return "what has come is not what was sent"
    told = world.size ** 2 * (SMALL + LARGE) * ROUNDS
    if over > told / SILENCE:
        return f"mios0 carried {over >> 10} KiB of {told >> 10}"
    if world.rank == 0:
        print(f"{world.size} ranks on {len(names)} instances: {told >> 20} MiB "
              f"through memory, {over >> 10} KiB over mios0")
    return 0


if __name__ == "__main__":
    sys.exit(main())
