// SPDX-License-Identifier: GPL-2.0
/*
 * Keeps the program that process 1 runs in memory.  Where that is systemd its file
 * is instance 0's, which may die first, and a process 1 that misses a page of its
 * program ends the kernel.  What is locked here is in the page cache, so process 1
 * finds it there.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rootd.h"

#define MAPS	"/proc/1/maps"
#define PROGRAM	"/proc/1/exe"

static struct stat pinned;	/* which program that was */

static int pin_file(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), err = 0;
	struct stat st;
	void *at;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st))
		err = -errno;
	if (!err && st.st_size) {
		at = mmap(NULL, st.st_size, PROT_READ, MAP_SHARED, fd, 0);
		if (at == MAP_FAILED || mlock(at, st.st_size))
			err = -errno;	/* it ends with us */
	}
	close(fd);
	return err;
}

/* All files that it has mapped, once each: their lines are together. */
int pin_first_process(void)
{
	char line[4352], path[4096], last[4096] = "";
	FILE *maps = fopen(MAPS, "re");
	int err = 0, ret;

	if (!maps)
		return -errno;
	if (stat(PROGRAM, &pinned))
		err = -errno;
	while (fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%*s %*s %*s %*s %*s %4095[^\n]", path) != 1 ||
		    path[0] != '/' || !strcmp(path, last))
			continue;
		memcpy(last, path, sizeof(last));
		ret = pin_file(path);
		if (ret)
			err = ret;
	}
	fclose(maps);
	return err;
}

/* After an upgrade it runs another, by systemctl daemon-reexec. */
bool first_process_replaced(void)
{
	struct stat now;

	return !stat(PROGRAM, &now) && pinned.st_ino &&
	       (now.st_ino != pinned.st_ino || now.st_dev != pinned.st_dev);
}
