// SPDX-License-Identifier: GPL-2.0
/*
 * A file with capabilities, and its line in the list:
 *
 *	CAPS INODE SIZE MTIME.NS CTIME.NS PATH
 *
 * CAPS in hexadecimal digits; the path may hold anything but the end of a line.
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/xattr.h>

#include "rootd.h"

/*
 * Only what root alone can write to: on an instance it becomes a copy, and
 * within one tick of the clock a file's contents may change without a trace.
 */
static bool is_roots(const struct stat *st)
{
	return S_ISREG(st->st_mode) && !st->st_uid &&
	       !(st->st_mode & 0022);
}

/*
 * Nor may anybody else give the name to another file, or put a symbolic link in
 * its way: an instance mounts something there.
 */
bool capable_place(const char *path)
{
	char dir[PATH_MAX];
	struct stat st;
	char *end;

	if (*path != '/' || strlen(path) >= sizeof(dir))
		return false;
	strcpy(dir, path);
	while ((end = strrchr(dir, '/'))) {
		end[end == dir] = '\0';		/* "/" itself stays */
		if (lstat(dir, &st) || !S_ISDIR(st.st_mode) || st.st_uid ||
		    st.st_mode & 0002 || (st.st_mode & 0020 && st.st_gid))
			return false;
		*end = '\0';
	}
	return true;
}

static bool same_time(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec == b->tv_sec && a->tv_nsec == b->tv_nsec;
}

/* Has the file at @path capabilities that are to be had everywhere? */
bool capable_read(struct capable *c, const char *path)
{
	struct stat st;
	ssize_t len;

	if (strchr(path, '\n') || lstat(path, &st) || !is_roots(&st))
		return false;
	len = lgetxattr(path, CAPABILITY, c->caps, sizeof(c->caps));
	if (len <= 0 || !capable_place(path))
		return false;
	c->len = len;
	c->ino = st.st_ino;
	c->size = st.st_size;
	c->mtime = st.st_mtim;
	c->ctime = st.st_ctim;
	return true;
}

/* Is @st still the file that was listed? */
bool capable_is(const struct capable *c, const struct stat *st)
{
	return is_roots(st) && st->st_ino == c->ino && st->st_size == c->size &&
	       same_time(&st->st_mtim, &c->mtime) &&
	       same_time(&st->st_ctim, &c->ctime);
}

void capable_write(const struct capable *c, FILE *to)
{
	size_t i;

	for (i = 0; i < c->len; i++)
		fprintf(to, "%02x", c->caps[i]);
	fprintf(to, " %" PRIu64 " %" PRId64 " %" PRId64 ".%09ld %" PRId64
		".%09ld %s\n", c->ino, c->size, (int64_t)c->mtime.tv_sec,
		c->mtime.tv_nsec, (int64_t)c->ctime.tv_sec, c->ctime.tv_nsec,
		c->path);
}

static int parse_caps(struct capable *c, const char *digits)
{
	unsigned int byte;
	int used;

	for (c->len = 0; *digits; digits += 2) {
		if (c->len == CAPABILITY_LEN ||
		    sscanf(digits, "%2x%n", &byte, &used) != 1 || used != 2)
			return -EINVAL;
		c->caps[c->len++] = byte;
	}
	return c->len ? 0 : -EINVAL;
}

/* @c->path becomes a part of @line. */
int capable_parse(struct capable *c, char *line)
{
	char caps[2 * CAPABILITY_LEN + 1];
	int64_t mtime, ctime;
	int used = 0;

	line[strcspn(line, "\n")] = '\0';
	if (sscanf(line, "%48s %" SCNu64 " %" SCNd64 " %" SCNd64 ".%9ld %"
		   SCNd64 ".%9ld %n", caps, &c->ino, &c->size, &mtime,
		   &c->mtime.tv_nsec, &ctime, &c->ctime.tv_nsec, &used) != 7 ||
	    !used || line[used] != '/')
		return -EINVAL;
	c->mtime.tv_sec = mtime;
	c->ctime.tv_sec = ctime;
	c->path = line + used;
	return parse_caps(c, caps);
}
