// SPDX-License-Identifier: GPL-2.0
/*
 * mios-rank: Open MPI's daemons start each rank by it (orte_fork_agent).  Where
 * /dev/shm is one for all instances, and the job has ranks on others too, they
 * are made one node by libmios-mpi.so (peers.c; node.c, for UCX, of which MPICH's
 * ranks are started by it, too).
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statfs.h>
#include <unistd.h>

#define SHM		"/dev/shm"
#define MIOS_MAGIC	0x534f494d	/* miosfs in statfs(2): "MIOS" */
#define LIBRARY		"/usr/lib/mios/mpi/libmios-mpi.so"

static bool is_ring(void)
{
	struct statfs fs;

	return !statfs(SHM, &fs) && fs.f_type == MIOS_MAGIC;
}

/* Are all ranks on this instance? */
static bool is_alone(void)
{
	const char *all = getenv("OMPI_COMM_WORLD_SIZE");
	const char *here = getenv("OMPI_COMM_WORLD_LOCAL_SIZE");

	return all && here && !strcmp(all, here);
}

static void preload(void)
{
	const char *others = getenv("LD_PRELOAD");
	char *all;

	if (!others || !*others)
		setenv("LD_PRELOAD", LIBRARY, 1);
	else if (asprintf(&all, LIBRARY ":%s", others) >= 0)
		setenv("LD_PRELOAD", all, 1);
}

/*
 * UCX finds the segments of a process on another instance by their names alone, and
 * takes no answer of its files of /proc for that (node.c).
 */
static void settings(void)
{
	setenv("UCX_POSIX_USE_PROC_LINK", "n", 0);
}

int main(int argc, char **argv)
{
	if (argc < 2) {
		fputs("usage: mios-rank COMMAND [WORD]...\n"
		      "For mpirun, which starts ranks by it, and before programs of MPICH or UCX.\n",
		      stderr);
		return 2;
	}
	if (is_ring() && !is_alone()) {
		preload();
		settings();
	}
	execvp(argv[1], argv + 1);
	fprintf(stderr, "mios-rank: %s: %s\n", argv[1], strerror(errno));
	return errno == ENOENT ? 127 : 126;
}
