// SPDX-License-Identifier: GPL-2.0
/*
 * The example program sor with MPI: each rank has its rows and the edge rows of its
 * neighbours, which it gets after every half step.  Rank 0 gathers the grid, says
 * whether it is right, and how long it took from the first half step on.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../../userspace/mios-dsm/programs/sor.h"

static int rank, ranks;

static int begin_of(int n, int r)
{
	return 1 + (long)n * r / ranks;
}

/* Our first and last row to the neighbours, theirs to us. */
static void edges(double *g, int n, int from, int to)
{
	int before = rank ? rank - 1 : MPI_PROC_NULL;
	int behind = rank + 1 < ranks ? rank + 1 : MPI_PROC_NULL;

	MPI_Sendrecv(g + from * n, n, MPI_DOUBLE, before, 0, g + to * n, n,
		     MPI_DOUBLE, behind, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Sendrecv(g + (to - 1) * n, n, MPI_DOUBLE, behind, 0,
		     g + (from - 1) * n, n, MPI_DOUBLE, before, 0,
		     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void gather(double *g, int size, int n)
{
	int from = begin_of(size, rank), to = begin_of(size, rank + 1);

	for (int r = 1; r < ranks && !rank; r++)
		MPI_Recv(g + begin_of(size, r) * n,
			 (begin_of(size, r + 1) - begin_of(size, r)) * n,
			 MPI_DOUBLE, r, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	if (rank)
		MPI_Send(g + from * n, (to - from) * n, MPI_DOUBLE, 0, 1,
			 MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
	int size = argc > 1 ? atoi(argv[1]) : SOR_SIZE, n = size + 2, bad = 0;
	double *g = calloc(n * n, sizeof(*g)), *own = calloc(n * n, sizeof(*g));
	double since;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	sor_begin(g, n);
	MPI_Barrier(MPI_COMM_WORLD);
	since = MPI_Wtime();
	for (int s = 0; s < 2 * SOR_STEPS; s++) {
		sor_half(g, n, begin_of(size, rank), begin_of(size, rank + 1),
			 s % 2);
		edges(g, n, begin_of(size, rank), begin_of(size, rank + 1));
	}
	gather(g, size, n);
	since = MPI_Wtime() - since;
	if (!rank) {
		sor_alone(own, n);
		bad = memcmp(g, own, sizeof(*g) * n * n);
		printf("sor: %s, %.3f ms\n", bad ? "WRONG" : "right",
		       since * 1e3);
	}
	free(g);
	free(own);
	MPI_Finalize();
	return bad ? 1 : 0;
}
