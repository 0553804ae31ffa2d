// SPDX-License-Identifier: GPL-2.0
/*
 * A program as TreadMarks has it: process 0 allocates and distributes a pointer,
 * all relax their rows of a grid between barriers, and add up under a lock.
 */
#include <stdio.h>
#include <stdlib.h>

#include <Tmk.h>

#define M	64
#define N	96
#define STEPS	10

static float (*grid)[N];
static float scratch[M][N];
static struct shared {
	double sum;
	int turn[16];
} *shared;
static int scale;

static void relax(int begin, int end)
{
	for (int i = begin; i < end; i++)
		for (int j = 1; j < N - 1; j++)
			scratch[i][j] = (grid[i - 1][j] + grid[i + 1][j] +
					 grid[i][j - 1] + grid[i][j + 1]) / 4;
}

static void copy(int begin, int end)
{
	for (int i = begin; i < end; i++)
		for (int j = 1; j < N - 1; j++)
			grid[i][j] = scratch[i][j];
}

int main(int argc, char **argv)
{
	int length, begin, end;
	double part = 0;

	Tmk_startup(argc, argv);
	if (Tmk_proc_id == 0) {
		grid = (float (*)[N])Tmk_malloc(M * N * sizeof(float));
		shared = (struct shared *)Tmk_malloc(sizeof(*shared));
		if (!grid || !shared)
			exit(1);
		for (int j = 0; j < N; j++)
			grid[0][j] = 100;
		scale = 3;
		Tmk_distribute((char *)&grid, sizeof(grid));
		Tmk_distribute((char *)&shared, sizeof(shared));
		Tmk_distribute((char *)&scale, sizeof(scale));
	}
	Tmk_barrier(0);
	length = (M - 2) / Tmk_nprocs;
	begin = 1 + length * Tmk_proc_id;
	end = Tmk_proc_id + 1 == Tmk_nprocs ? M - 1 : begin + length;
	for (int s = 0; s < STEPS; s++) {
		relax(begin, end);
		Tmk_barrier(1);
		copy(begin, end);
		Tmk_barrier(2);
	}
	for (int i = begin; i < end; i++)
		for (int j = 0; j < N; j++)
			part += scale * grid[i][j];
	Tmk_lock_acquire(5);
	shared->sum += part;
	Tmk_lock_release(5);
	Tmk_barrier(3);
	if (Tmk_proc_id == 0)
		printf("sum %.3f\n", shared->sum);
	Tmk_exit(0);
}
