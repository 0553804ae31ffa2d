/* SPDX-License-Identifier: GPL-2.0 */
/* What STREAM and FFT of hpcc ask of MPI, where there is one process. */
#ifndef MPI_H
#define MPI_H

#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef int MPI_Comm, MPI_Op, MPI_Request, MPI_Status;
typedef size_t MPI_Datatype;

#define MPI_COMM_WORLD	0
#define MPI_MIN		0
#define MPI_DOUBLE	sizeof(double)
#define MPI_INT		sizeof(int)

#define MPI_Comm_size(COMM, SIZE)	(*(SIZE) = 1)
#define MPI_Comm_rank(COMM, RANK)	(*(RANK) = 0)
#define MPI_Barrier(COMM)		((void)(COMM))
#define MPI_Abort(COMM, STATUS)		exit(STATUS)
#define MPI_Allreduce(FROM, TO, NR, TYPE, OP, COMM)			\
	memcpy(TO, FROM, (NR) * (TYPE))
#define MPI_Gather(FROM, NR, TYPE, TO, NR_TO, TYPE_TO, ROOT, COMM)	\
	memcpy(TO, FROM, (NR) * (TYPE))

static inline double MPI_Wtime(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec * 1e-9;
}

#endif /* MPI_H */
