// SPDX-License-Identifier: GPL-2.0
/*
 * A library that knows nothing of OpenMP, for state.cc: it keeps a number, and maps
 * its own file before main().
 */
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

static long kept;
static const char *file;

static void __attribute__((constructor)) begin(void)
{
	int fd = open("/proc/self/exe", O_RDONLY);

	file = mmap(0, 4096, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
}

int library_maps(void)
{
	return file[1] == 'E';
}

void library_set(long value)
{
	kept = value;
}

long library_get(void)
{
	return kept;
}
