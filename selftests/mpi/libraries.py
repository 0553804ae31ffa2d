#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Messages of MPICH, or puts and gets of OpenSHMEM, through the C interface of
whichever is there, and whether what comes is what was sent.

usage: libraries.py mpich|shmem
"""
import ctypes
import sys

SIZES = (8, 4096, 65536, 1 << 20)
TURNS = 5
WORLD, BYTE, IGNORE = 0x44000000, 0x4c00010d, 1     # MPICH's mpi.h


def filled(rank, turn, size):
    """What rank sends in this turn."""
    return bytes((i * 7 + turn * 16 + rank) & 255 for i in range(256)) \
        * (size // 256) + bytes([turn * 16 + rank]) * (size % 256)


def number(call, *words):
    """What an MPI call stores."""
    result = ctypes.c_int()
    call(*words, ctypes.byref(result))
    return result.value


def mpich():
    """(rank, ranks, how much was wrong): there and back between two."""
    lib = ctypes.CDLL("libmpich.so.12", ctypes.RTLD_GLOBAL)
    lib.MPI_Init(None, None)
    rank = number(lib.MPI_Comm_rank, WORLD)
    ranks = number(lib.MPI_Comm_size, WORLD)
    wrong = 0
    for size in SIZES:
        for turn in range(TURNS):
            got = ctypes.create_string_buffer(size)
            if rank == 0:
                lib.MPI_Send(filled(0, turn, size), size, BYTE, 1, turn, WORLD)
            lib.MPI_Recv(got, size, BYTE, 1 - rank, turn, WORLD,
                         ctypes.c_void_p(IGNORE))
            if rank == 1:
                lib.MPI_Send(filled(1, turn, size), size, BYTE, 0, turn, WORLD)
            wrong += got.raw != filled(1 - rank, turn, size)
    lib.MPI_Finalize()
    return rank, ranks, wrong


def shmem():
    """The same: each puts to the right, and gets it back from there."""
    lib = ctypes.CDLL("liboshmem.so.40", ctypes.RTLD_GLOBAL)
    lib.shmem_malloc.restype = ctypes.c_void_p
    lib.shmem_malloc.argtypes = [ctypes.c_size_t]
    lib.shmem_putmem.argtypes = lib.shmem_getmem.argtypes = [
        ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    lib.shmem_init()
    rank, ranks = lib.shmem_my_pe(), lib.shmem_n_pes()
    right, left = (rank + 1) % ranks, (rank - 1) % ranks
    heap = lib.shmem_malloc(max(SIZES))
    wrong = 0
    for size in SIZES:
        for turn in range(TURNS):
            lib.shmem_putmem(heap, filled(rank, turn, size), size, right)
            lib.shmem_barrier_all()
            wrong += ctypes.string_at(heap, size) != filled(left, turn, size)
            got = ctypes.create_string_buffer(size)
            lib.shmem_getmem(got, heap, size, right)
            wrong += got.raw != filled(rank, turn, size)
            lib.shmem_barrier_all()
    lib.shmem_finalize()
    return rank, ranks, wrong


def main():
    """Which one, and what it has said."""
    rank, ranks, wrong = {"mpich": mpich, "shmem": shmem}[sys.argv[1]]()
    print(f"rank {rank} of {ranks}: {f'{wrong} wrong' if wrong else 'right'}",
          flush=True)
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
