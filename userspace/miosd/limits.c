// SPDX-License-Identifier: GPL-2.0
/*
 * What the caller's control groups (version 2) allow it, read from this
 * kernel's files along the caller's path: each group that has a limit is
 * told to the other instance, from the outermost to the innermost, with the
 * number by which this kernel knows it.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "miosd.h"

/* Returns 0, too, where the file is not: that controller is off there. */
static int read_words(int dir, const char *name, char *buf, size_t size)
{
	ssize_t n;
	int fd;

	buf[0] = '\0';
	fd = openat(dir, name, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? 0 : -errno;
	n = read(fd, buf, size - 1);
	close(fd);
	if (n < 0)
		return -errno;
	buf[n] = '\0';
	return 0;
}

static uint64_t number(const char *text)
{
	char *end;
	uint64_t value = strtoull(text, &end, 10);

	return end == text ? MIOS_NO_LIMIT : value;	/* "max", "" */
}

static int read_number(int dir, const char *name, uint64_t *value)
{
	char buf[64];
	int err = read_words(dir, name, buf, sizeof(buf));

	*value = number(buf);
	return err;
}

/* "quota period", in microseconds. */
static int read_cpu(int dir, struct mios_limits *l)
{
	char buf[64], *space;
	int err = read_words(dir, "cpu.max", buf, sizeof(buf));

	l->cpu_quota = number(buf);
	space = strchr(buf, ' ');
	l->cpu_period = space ? number(space + 1) : MIOS_NO_LIMIT;
	return err;
}

static int read_group(int dir, struct mios_limits *l)
{
	struct stat st;
	int err;

	if (fstat(dir, &st))
		return -errno;
	l->group = st.st_ino;
	err = read_number(dir, "memory.max", &l->memory_max);
	if (!err)
		err = read_number(dir, "memory.high", &l->memory_high);
	if (!err)
		err = read_number(dir, "pids.max", &l->pids_max);
	return err ? err : read_cpu(dir, l);
}

static bool limited(const struct mios_limits *l)
{
	return l->memory_max != MIOS_NO_LIMIT ||
	       l->memory_high != MIOS_NO_LIMIT ||
	       l->pids_max != MIOS_NO_LIMIT || l->cpu_quota != MIOS_NO_LIMIT;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static void tighten(struct mios_limits *to, const struct mios_limits *by)
{
	to->memory_max = least(to->memory_max, by->memory_max);
	to->memory_high = least(to->memory_high, by->memory_high);
	to->pids_max = least(to->pids_max, by->pids_max);
	if (by->cpu_quota == MIOS_NO_LIMIT)
		return;
	if (to->cpu_quota == MIOS_NO_LIMIT ||
	    (double)by->cpu_quota * to->cpu_period <
	    (double)to->cpu_quota * by->cpu_period) {
		to->cpu_quota = by->cpu_quota;
		to->cpu_period = by->cpu_period;
	}
}

/*
 * More groups than there is room for are one: the innermost, which a user
 * may make as many of as it likes, give way first.
 */
static void add(struct mios_limits *list, uint32_t *nr,
		const struct mios_limits *l)
{
	if (!limited(l))
		return;
	if (*nr == MIOS_MAX_LIMITS)
		tighten(&list[MIOS_MAX_LIMITS - 1], l);
	else
		list[(*nr)++] = *l;
}

/* From @root down @path, which this consumes. */
int limits_walk(const char *root, char *path, struct mios_limits *list,
		uint32_t *nr)
{
	struct mios_limits l;
	char *name, *rest;
	int dir, next, err;

	*nr = 0;
	dir = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return -errno;
	err = read_group(dir, &l);
	for (name = strtok_r(path, "/", &rest); name && !err;
	     name = strtok_r(NULL, "/", &rest)) {
		add(list, nr, &l);
		next = strcmp(name, "..") ?
		       openat(dir, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC) :
		       -1;	/* it is outside of what we can see */
		if (next < 0) {
			err = -ENOENT;
			break;
		}
		close(dir);
		dir = next;
		err = read_group(dir, &l);
	}
	if (!err)
		add(list, nr, &l);
	close(dir);
	return err;
}
