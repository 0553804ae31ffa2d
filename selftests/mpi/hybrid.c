// SPDX-License-Identifier: GPL-2.0
/*
 * A stencil whose rows are parted among the ranks of MPI, and within a rank among the
 * members of its team: prints where the members are, and a sum that does not depend on
 * how many there are of either.
 *	hybrid ROWS [member]	member: the last member of each team calls MPI, too
 */
#include <mpi.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STEPS	20
#define NAME	65

static int n, rank, size, rows;

static double *field(int count)
{
	double *p = calloc((size_t)count * n, sizeof(*p));

	if (!p) {
		fprintf(stderr, "no memory for %d rows\n", count);
		exit(1);
	}
	return p;
}

static void show_members(void)
{
	char (*names)[NAME] = calloc(omp_get_max_threads(), NAME);
	int i, members = omp_get_max_threads();

#pragma omp parallel
	gethostname(names[omp_get_thread_num()], NAME - 1);
	printf("rank %d:", rank);
	for (i = 0; i < members; i++)
		printf(" %s", names[i]);
	printf("\n");
	fflush(stdout);
	free(names);
}

/* The rows above and below are other ranks'. */
static void exchange(double *a)
{
	int up = (rank + size - 1) % size, down = (rank + 1) % size;

	MPI_Sendrecv(a + n, n, MPI_DOUBLE, up, 1, a + (size_t)(rows + 1) * n, n,
		     MPI_DOUBLE, down, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Sendrecv(a + (size_t)rows * n, n, MPI_DOUBLE, down, 2, a, n,
		     MPI_DOUBLE, up, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void step(const double *a, double *b)
{
	int i, j;

#pragma omp parallel for private(j)
	for (i = 1; i <= rows; i++) {
		const double *row = a + (size_t)i * n;

		for (j = 0; j < n; j++)
			b[(size_t)i * n + j] = (4 * row[j] + row[j - n] +
						row[j + n] + row[(j + 1) % n] +
						row[(j + n - 1) % n]) / 8;
	}
}

/* Always in the order of rows, so that rounding is the same. */
static void show_sum(const double *a)
{
	double *own = calloc(rows, sizeof(*own)), *all = calloc(n, sizeof(*all));
	double sum = 0;
	int i, j;

#pragma omp parallel for private(j)
	for (i = 1; i <= rows; i++)
		for (j = 0; j < n; j++)
			own[i - 1] += a[(size_t)i * n + j] *
				      (1 + (rank * rows + i) % 3);
	MPI_Gather(own, rows, MPI_DOUBLE, all, rows, MPI_DOUBLE, 0,
		   MPI_COMM_WORLD);
	for (i = 0; i < rows * size; i++)
		sum += all[i];
	if (!rank)
		printf("sum %.6f\n", sum);
	free(own);
	free(all);
}

/* All of it, from rank to rank until it is home: long messages. */
static void send_round(const double *a)
{
	double *field = calloc((size_t)rows * n, sizeof(*field));
	int i;

	memcpy(field, a + n, (size_t)rows * n * sizeof(*field));
	for (i = 0; i < size; i++)
		MPI_Sendrecv_replace(field, rows * n, MPI_DOUBLE, (rank + 1) % size, 3,
				     (rank + size - 1) % size, 3, MPI_COMM_WORLD,
				     MPI_STATUS_IGNORE);
	printf("rank %d's field is %s\n", rank,
	       memcmp(field, a + n, (size_t)rows * n * sizeof(*field)) ?
	       "spoilt" : "back");
	free(field);
}

static void call_from_member(void)
{
	int one = 1, sum = 0;

#pragma omp parallel
	if (omp_get_thread_num() == omp_get_num_threads() - 1)
		MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	if (!rank)
		printf("a member has counted %d\n", sum);
}

int main(int argc, char **argv)
{
	double *a, *b, *other;
	int i, j, got;

	MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &got);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	n = argc > 1 ? atoi(argv[1]) : 256;
	rows = n / size;
	a = field(rows + 2);
	b = field(rows + 2);
	show_members();
#pragma omp parallel for private(j)
	for (i = 1; i <= rows; i++)
		for (j = 0; j < n; j++)
			a[(size_t)i * n + j] = (rank * rows + i) * 7 % 13 + j % 5;
	for (i = 0; i < STEPS; i++) {
		exchange(a);
		step(a, b);
		other = a;
		a = b;
		b = other;
	}
	show_sum(a);
	send_round(a);
	if (argc > 2)
		call_from_member();
	free(a);
	free(b);
	MPI_Finalize();
	return 0;
}
