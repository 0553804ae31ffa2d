// SPDX-License-Identifier: GPL-2.0
/*
 * What two ranks of an MPI job tell each other, by the C interface of whichever
 * Open MPI is there: none is needed to build it.  Rank 0 prints "NAME MEDIAN MIN", in
 * ticks of the time stamp counter; under QEMU's -icount a tick is an instruction
 * of either rank.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <x86intrin.h>

#include "ticks.h"

#define SAMPLES	201
#define WARM	20
#define LARGE	65536

static void *library;

static void *need(const char *name)
{
	void *address = dlsym(library, name);

	if (address)
		return address;
	fprintf(stderr, "ranks: %s\n", dlerror());
	exit(1);
}

/* Handles are addresses of the library's objects. */
static void *world, *bytes, *doubles, *sum;
static void *window;
static int rank;
static char *there;
static char data[LARGE], got[LARGE];

static int (*sends)(const void *, int, void *, int, int, void *);
static int (*receives)(void *, int, void *, int, int, void *, void *);
static int (*reduces)(const void *, void *, int, void *, void *, void *);
static int (*barrier)(void *);
static int (*puts_there)(const void *, int, void *, int, long, int, void *, void *);
static int (*gets)(void *, int, void *, int, long, int, void *, void *);
static int (*flush)(int, void *);

/* There and back. */
static void ping(int size)
{
	if (!rank)
		sends(data, size, bytes, 1, 0, world);
	receives(got, size, bytes, !rank, 0, world, NULL);
	if (rank)
		sends(data, size, bytes, 0, 0, world);
}

static void ping_small(void)
{
	ping(8);
}

static void ping_large(void)
{
	ping(LARGE);
}

static void reduce(void)
{
	double mine = rank, all;

	reduces(&mine, &all, 1, doubles, sum, world);
}

static void put(void)
{
	if (rank)
		return;
	puts_there(data, 8, bytes, 1, 0, 8, bytes, window);
	flush(1, window);
}

static void get(void)
{
	if (rank)
		return;
	gets(got, 8, bytes, 1, 0, 8, bytes, window);
	flush(1, window);
}

static const struct {
	const char *name;
	void (*run)(void);
} operations[] = {
	{ "ping-8", ping_small },
	{ "ping-64k", ping_large },
	{ "allreduce", reduce },
	{ "put", put },
	{ "get", get },
};

static void measure(const char *name, void (*run)(void))
{
	static uint64_t ticks[SAMPLES];
	int i;

	for (i = -WARM; i < SAMPLES; i++) {
		uint64_t start = __rdtsc();

		run();
		if (i >= 0)
			ticks[i] = __rdtsc() - start;
	}
	barrier(world);
	if (!rank)
		ticks_print(name, ticks, SAMPLES);
}

static void begin(int *argc, char ***argv)
{
	library = dlopen("libmpi.so.40", RTLD_NOW | RTLD_GLOBAL);
	world = need("ompi_mpi_comm_world");
	bytes = need("ompi_mpi_byte");
	doubles = need("ompi_mpi_double");
	sum = need("ompi_mpi_op_sum");
	sends = need("MPI_Send");
	receives = need("MPI_Recv");
	reduces = need("MPI_Allreduce");
	barrier = need("MPI_Barrier");
	puts_there = need("MPI_Put");
	gets = need("MPI_Get");
	flush = need("MPI_Win_flush");
	((int (*)(int *, char ***))need("MPI_Init"))(argc, argv);
	((int (*)(void *, int *))need("MPI_Comm_rank"))(world, &rank);
	((int (*)(long, int, void *, void *, void *, void *))
	 need("MPI_Win_allocate"))(LARGE, 1, need("ompi_mpi_info_null"), world,
				   &there, &window);
	((int (*)(int, void *))need("MPI_Win_lock_all"))(0, window);
}

int main(int argc, char **argv)
{
	size_t i;

	begin(&argc, &argv);
	for (i = 0; i < sizeof(operations) / sizeof(*operations); i++)
		measure(operations[i].name, operations[i].run);
	((int (*)(void *))need("MPI_Win_unlock_all"))(window);
	((int (*)(void *))need("MPI_Win_free"))(&window);
	return ((int (*)(void))need("MPI_Finalize"))();
}
