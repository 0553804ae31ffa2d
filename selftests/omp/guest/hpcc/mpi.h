/* SPDX-License-Identifier: GPL-2.0 */
/* What STREAM and FFT of hpcc ask of MPI, where there is one process. */
#ifndef MPI_H
#define MPI_H

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MPI_Comm	int
#define MPI_Op		int
#define MPI_Request	int
#define MPI_Status	int
#define MPI_Datatype	size_t

#define MPI_COMM_WORLD	0
#define MPI_MIN		0
#define MPI_DOUBLE	sizeof(double)
#define MPI_INT		sizeof(int)

static inline void MPI_Comm_size(MPI_Comm comm, int *size)
{
	*size = 1;
}

static inline void MPI_Comm_rank(MPI_Comm comm, int *rank)
{
	*rank = 0;
}

static inline void MPI_Barrier(MPI_Comm comm)
{
}

static inline void MPI_Abort(MPI_Comm comm, int status)
{
	exit(status);
}

static inline void MPI_Allreduce(const void *from, void *to, int nr,
				 MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
	memcpy(to, from, nr * type);
}

static inline void MPI_Gather(const void *from, int nr, MPI_Datatype type,
			      void *to, int nr_to, MPI_Datatype type_to,
			      int root, MPI_Comm comm)
{
	memcpy(to, from, nr * type);
}

static inline double MPI_Wtime(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

#endif /* MPI_H */
