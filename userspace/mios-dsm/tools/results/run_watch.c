// SPDX-License-Identifier: GPL-2.0
/*
 * Finds mios-dsm run by the memory that it shares with its nodes: a file without
 * a name, which its owner and root may open in /proc.  Called by cmd_top.c.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../../libmios/cli.h"
#include "run_watch.h"

/* A descriptor of the process that is the counts, or -1. */
static int counts_of(pid_t pid)
{
	char path[64], name[64];
	struct dirent *e;
	int fd = -1;
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	d = opendir(path);
	while (d && fd < 0 && (e = readdir(d))) {
		ssize_t n = readlinkat(dirfd(d), e->d_name, name,
				       sizeof(name) - 1);

		name[n > 0 ? n : 0] = '\0';
		if (!strcmp(name, "/memfd:" STATS_NAME " (deleted)"))
			fd = openat(dirfd(d), e->d_name, O_RDONLY | O_CLOEXEC);
	}
	if (d)
		closedir(d);
	return fd;
}

static bool same(int a, int b)
{
	struct stat x, y;

	return !fstat(a, &x) && !fstat(b, &y) && x.st_ino == y.st_ino;
}

/*
 * Its nodes close theirs when they start; before, or if they never do, they have
 * the same counts as mios-dsm run, which is older.  Its descriptor, or -1 after
 * cli_error().
 */
static int search(pid_t *pid)
{
	struct dirent *e;
	int found = -1, fd;
	DIR *d = opendir("/proc");

	while (d && (e = readdir(d))) {
		pid_t one = atoi(e->d_name);

		/* We have it ourselves as soon as it is found. */
		fd = one > 0 && one != getpid() ? counts_of(one) : -1;
		if (fd < 0)
			continue;
		if (found < 0) {
			found = fd;
			*pid = one;
			continue;
		}
		if (same(found, fd)) {
			close(fd);
			continue;
		}
		close(fd);
		close(found);
		closedir(d);
		cli_error("top: several runs: give the process of one, %d or %d",
			  *pid, one);
		return -1;
	}
	if (d)
		closedir(d);
	if (found < 0)
		cli_error("top: no mios-dsm run that we may look at");
	return found;
}

static bool head_good(const struct stats_head *h, uint64_t size)
{
	return h->magic == STATS_MAGIC && h->version == STATS_VERSION &&
		h->nodes <= STATS_NODES && h->first < h->end &&
		h->end <= h->nodes && h->pages <= DSM_LIFE_MAX &&
		stats_size(h->nodes, h->pages) <= size;
}

int watch_open(struct watch *w, pid_t pid)
{
	struct stat s;
	int fd;

	w->pid = pid;
	fd = pid ? counts_of(pid) : search(&w->pid);
	if (fd < 0 && pid)
		cli_error("top: process %d is no mios-dsm run that we may look at",
			  pid);
	if (fd < 0)
		return 2;
	if (pread(fd, &w->head, sizeof(w->head), 0) != sizeof(w->head) ||
	    fstat(fd, &s) || !head_good(&w->head, s.st_size)) {
		close(fd);
		return cli_error("top: process %d is of another version",
				 w->pid);
	}
	w->at = mmap(NULL, s.st_size, PROT_READ, MAP_SHARED | MAP_NORESERVE,
		     fd, 0);
	close(fd);
	return w->at == MAP_FAILED ? cli_error("top: %s", strerror(errno)) : 0;
}

bool watch_lives(const struct watch *w)
{
	return !kill(w->pid, 0) || errno == EPERM;
}
