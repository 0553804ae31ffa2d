// SPDX-License-Identifier: GPL-2.0
/*
 * Maps a window file at one address in all processes.  On miosfs a file has its
 * own address, the same in every instance; elsewhere, as in a test on one
 * kernel, all take the same one.  Called by the runtimes of OpenMP and of
 * coarrays.
 */
#include <sys/mman.h>

#include "inside.h"

#define WINDOW_LOW	0x400000000000ul	/* miosfs's files are above */
#define WINDOW_HIGH	0x500000000000ul

static void *map_at(int fd, size_t size, unsigned long at)
{
	return kernel_mmap((void *)at, size, PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_NORESERVE |
			   (at ? MAP_FIXED_NOREPLACE : 0), fd, 0);
}

void *window_map(int fd, size_t size)
{
	void *p = map_at(fd, size, 0);

	if (p != MAP_FAILED && ((unsigned long)p < WINDOW_LOW ||
				(unsigned long)p >= WINDOW_HIGH)) {
		syscall(SYS_munmap, p, size);
		p = map_at(fd, size, WINDOW_LOW);
	}
	return p;
}
