// SPDX-License-Identifier: GPL-2.0
/*
 * The example program sort with MPI: ranks count their keys, learn from each other
 * where those go, and send them there.  Rank 0 gathers what is sorted, says
 * whether it is right, and how long it took.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../../userspace/mios-dsm/programs/sort.h"

#define RANKS	64

static int rank, ranks;

static int begin_of(int n, int r)
{
	return (long)n * r / ranks;
}

/* Where the first of our keys of each value goes, here in order and at last. */
static void places(int from, int to, int *here, int *place)
{
	int own[SORT_RANGE] = { 0 }, all[SORT_RANGE];
	int before[SORT_RANGE] = { 0 }, mine = 0, sum = 0;

	for (int i = from; i < to; i++)
		own[sort_key(i)]++;
	MPI_Exscan(own, before, SORT_RANGE, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	if (!rank)
		memset(before, 0, sizeof(before));
	MPI_Allreduce(own, all, SORT_RANGE, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	for (int k = 0; k < SORT_RANGE; k++) {
		here[k] = mine;
		mine += own[k];
		place[k] = sum + before[k];
		sum += all[k];
	}
}

/* Sends pairs of a place and a key to whose places they are; ours. */
static int *exchange(int size, const int *pair, int n, int *got)
{
	int count[RANKS] = { 0 }, from[RANKS], at[RANKS], begin[RANKS];
	int to = 0, *in;

	for (int i = 0; i < n; i++) {
		while (begin_of(size, to + 1) <= pair[2 * i])
			to++;
		count[to] += 2;
	}
	MPI_Alltoall(count, 1, MPI_INT, from, 1, MPI_INT, MPI_COMM_WORLD);
	for (int r = 0, a = 0, b = 0; r < ranks; r++) {
		at[r] = a;
		begin[r] = b;
		a += count[r];
		b += from[r];
		*got = b / 2;
	}
	in = malloc(sizeof(*in) * (2 * *got + 1));
	MPI_Alltoallv(pair, count, at, MPI_INT, in, from, begin, MPI_INT,
		      MPI_COMM_WORLD);
	return in;
}

/* All of it at rank 0: in order, and with the same sum? */
static int bad_at_all(int size, const int *out, int n)
{
	int *all = malloc(sizeof(*all) * size), count[RANKS], at[RANKS];
	long sum = 0;
	int bad = 0;

	for (int r = 0; r < ranks; r++) {
		at[r] = begin_of(size, r);
		count[r] = begin_of(size, r + 1) - at[r];
	}
	MPI_Gatherv(out, n, MPI_INT, all, count, at, MPI_INT, 0,
		    MPI_COMM_WORLD);
	for (int i = 0; i < size && !rank; i++) {
		bad |= i && all[i] < all[i - 1];
		sum += all[i] - sort_key(i);
	}
	free(all);
	return bad || sum;
}

int main(int argc, char **argv)
{
	int size = argc > 1 ? atoi(argv[1]) : SORT_SIZE, got = 0, bad;
	int here[SORT_RANGE], place[SORT_RANGE], *pair, *in, *out, from, n;
	double since;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	if (ranks > RANKS)
		MPI_Abort(MPI_COMM_WORLD, 2);
	from = begin_of(size, rank);
	n = begin_of(size, rank + 1) - from;
	pair = malloc(2 * sizeof(*pair) * (n + 1));
	out = malloc(sizeof(*out) * (n + 1));
	MPI_Barrier(MPI_COMM_WORLD);
	since = MPI_Wtime();
	places(from, from + n, here, place);
	for (int i = from; i < from + n; i++) {
		int key = sort_key(i), at = here[key]++;

		pair[2 * at] = place[key]++;
		pair[2 * at + 1] = key;
	}
	in = exchange(size, pair, n, &got);
	if (got != n)
		MPI_Abort(MPI_COMM_WORLD, 1);
	for (int i = 0; i < got; i++)
		out[in[2 * i] - from] = in[2 * i + 1];
	since = MPI_Wtime() - since;
	bad = bad_at_all(size, out, n);
	if (!rank)
		printf("sort: %s, %.3f ms\n", bad ? "WRONG" : "right",
		       since * 1e3);
	free(in);
	free(out);
	free(pair);
	MPI_Finalize();
	return bad ? 1 : 0;
}
