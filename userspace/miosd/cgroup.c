// SPDX-License-Identifier: GPL-2.0
/*
 * One cgroup (version 2) per session, below miosd's own: what the session
 * started stays in it whatever it forks or daemonizes, and one write to
 * cgroup.kill ends it all.  Around it is a cgroup for each of the caller's
 * own that has limits, with the same: sessions from one group share them.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "miosd.h"

#define SESSION		"mios-session-"
#define LIMITS		"mios-limits-"
#define DAEMON		"mios-daemon"
#define CONTROL		"cgroup.subtree_control"
#define SESSION_PATH	(CGROUP_PATH + (MIOS_MAX_LIMITS + 1) * 64)
#define GROUP_TRIES	20

static char mount[256];		/* where version 2 is */
/*
 * The same, open: a path from "/" leads nowhere any more when instance 0, and
 * with it the root, has died.  All paths below are relative to it.
 */
static int top = -1;
static char base[CGROUP_PATH];	/* folder that holds the sessions */

/* Where cgroup2 is mounted: systemd's /sys/fs/cgroup, or its hybrid place. */
static int find_mount(char *buf, size_t size)
{
	char line[1024], where[256], type[64];
	FILE *f;
	int err = -ENOENT;

	f = fopen("/proc/self/mounts", "re");
	if (!f)
		return -errno;
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%*s %255s %63s", where, type) == 2 &&
		    !strcmp(type, "cgroup2")) {
			snprintf(buf, size, "%s", where);
			err = 0;
			break;
		}
	}
	fclose(f);
	return err;
}

/* The cgroup of a process whose folder in /proc is @proc. */
int cgroup_of(int proc, char *buf, size_t size)
{
	char line[4352];
	FILE *f;
	int fd, err = -ENOENT;

	fd = openat(proc, "cgroup", O_RDONLY | O_CLOEXEC);
	f = fd < 0 ? NULL : fdopen(fd, "r");
	if (!f)
		return -errno;
	while (fgets(line, sizeof(line), f)) {
		if (!strncmp(line, "0::", 3)) {
			line[strcspn(line, "\n")] = '\0';
			err = (size_t)snprintf(buf, size, "%s", line + 3) <
			      size ? 0 : -ENAMETOOLONG;
			break;
		}
	}
	fclose(f);
	return err;
}

/* NULL: there is none, or it was not there when miosd started. */
const char *cgroup_mount(void)
{
	return mount[0] ? mount : NULL;
}

static int write_file(const char *path, const char *name, const char *text)
{
	char file[SESSION_PATH + 32];
	int fd, err = 0;

	snprintf(file, sizeof(file), "%s/%s", path, name);
	fd = openat(top, file, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (write(fd, text, strlen(text)) < 0)
		err = -errno;
	close(fd);
	return err;
}

static int remove_path(const char *path)
{
	int err = write_file(path, "cgroup.kill", "1");

	if (err && err != -ENOENT)
		fprintf(stderr, "miosd: cannot kill what is in %s: %s\n", path,
			strerror(-err));
	if (unlinkat(top, path, AT_REMOVEDIR) && errno != ENOENT)
		return -errno;
	return 0;
}

static void remove_stale_below(const char *path);

static void remove_stale(const char *path, const char *name)
{
	char below[SESSION_PATH];

	if (strncmp(name, SESSION, strlen(SESSION)) &&
	    strncmp(name, LIMITS, strlen(LIMITS)))
		return;
	if ((size_t)snprintf(below, sizeof(below), "%s/%s", path, name) >=
	    sizeof(below))
		return;
	remove_stale_below(below);
	remove_path(below);
}

/* What an earlier miosd left: its callers have lost their connections. */
static void remove_stale_below(const char *path)
{
	struct dirent *e;
	int fd = openat(top, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);

	if (!d)
		return;
	while ((e = readdir(d)))
		remove_stale(path, e->d_name);
	closedir(d);
}

/*
 * A cgroup whose children have controllers may hold no processes itself,
 * unless it is the root: make room for those of limited callers.
 */
static int step_aside(void)
{
	char path[CGROUP_PATH + 32];

	snprintf(path, sizeof(path), "%s/" DAEMON, base);
	if (mkdirat(top, path, 0755) && errno != EEXIST)
		return -errno;
	return write_file(path, "cgroup.procs", "0");
}

int cgroup_setup(void)
{
	char own[CGROUP_PATH - sizeof(mount)];
	int proc, err;

	err = find_mount(mount, sizeof(mount));
	if (err)
		return err;
	proc = open("/proc/self", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	err = proc < 0 ? -errno : cgroup_of(proc, own, sizeof(own));
	close(proc);
	if (err)
		return err;
	top = open(mount, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (top < 0)
		return -errno;
	snprintf(base, sizeof(base), ".%s", strcmp(own, "/") ? own : "");
	remove_stale_below(base);
	return strcmp(own, "/") ? step_aside() : 0;
}

/* The folder of the outermost @depth groups that a session is below. */
static size_t group_path(const struct slot *s, unsigned int depth, char *buf,
			 size_t size)
{
	size_t len = snprintf(buf, size, "%s", base);
	unsigned int i;

	for (i = 0; i < depth; i++)
		len += snprintf(buf + len, size - len, "/" LIMITS "%d-%u-%"
				PRIu64, s->peer, s->incarnation, s->groups[i]);
	return len;
}

static void session_path(const struct slot *s, char *buf, size_t size)
{
	size_t len = group_path(s, s->nr_groups, buf, size);

	snprintf(buf + len, size - len, "/" SESSION "%d-%u", s->peer,
		 s->serial);
}

/* "max" is what a group says anyway, where it has the file. */
static int write_limit(const char *path, const char *name, uint64_t value,
		       const char *more)
{
	char text[64] = "max";
	int err;

	if (value != MIOS_NO_LIMIT)
		snprintf(text, sizeof(text), "%" PRIu64 "%s", value, more);
	err = write_file(path, name, text);
	return err == -ENOENT && value == MIOS_NO_LIMIT ? 0 : err;
}

static int enable(const char *parent, const struct mios_limits *l)
{
	bool memory = l->memory_max != MIOS_NO_LIMIT ||
		      l->memory_high != MIOS_NO_LIMIT;
	int err = 0;

	if (memory)
		err = write_file(parent, CONTROL, "+memory");
	if (!err && l->pids_max != MIOS_NO_LIMIT)
		err = write_file(parent, CONTROL, "+pids");
	if (!err && l->cpu_quota != MIOS_NO_LIMIT)
		err = write_file(parent, CONTROL, "+cpu");
	return err;
}

/* One that is there already gets what its like has at home by now. */
static int make_group(const char *path, const struct mios_limits *l)
{
	char period[32];
	int err = 0;

	if (mkdirat(top, path, 0755) && errno != EEXIST)
		err = -errno;
	if (!err)
		err = write_limit(path, "memory.max", l->memory_max, "");
	if (!err)
		err = write_limit(path, "memory.high", l->memory_high, "");
	if (!err)
		err = write_limit(path, "pids.max", l->pids_max, "");
	snprintf(period, sizeof(period), " %" PRIu64, l->cpu_period);
	return err ? err : write_limit(path, "cpu.max", l->cpu_quota, period);
}

static int make_groups(const struct slot *s, const struct caller *c)
{
	char path[SESSION_PATH];
	unsigned int i, below;
	int err = 0;

	for (i = 0; i < s->nr_groups && !err; i++) {
		/* a controller reaches a group through all above it */
		group_path(s, i, path, sizeof(path));
		for (below = i; below < s->nr_groups && !err; below++)
			err = enable(path, &c->limits[below]);
		group_path(s, i + 1, path, sizeof(path));
		if (!err)
			err = make_group(path, &c->limits[i]);
	}
	return err;
}

static int make_session(const struct slot *s)
{
	char path[SESSION_PATH];
	int fd;

	session_path(s, path, sizeof(path));
	if (mkdirat(top, path, 0755) &&
	    (errno != EEXIST || unlinkat(top, path, AT_REMOVEDIR) ||
	     mkdirat(top, path, 0755)))
		return -errno;
	fd = openat(top, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/*
 * Returns the folder, opened.  The main process removes a group when it
 * becomes empty, even if we are about to use it: then again from the start.
 */
int cgroup_create(struct slot *s, const struct caller *c, const char **step)
{
	unsigned int i;
	int ret, tries = 0;

	s->nr_groups = c->hello.nr_limits;
	for (i = 0; i < s->nr_groups; i++)
		s->groups[i] = c->limits[i].group;
	do {
		*step = "keep the limits of your control group there";
		ret = make_groups(s, c);
		if (ret)
			continue;
		*step = "make its cgroup (is cgroup v2 mounted there?)";
		ret = make_session(s);
	} while ((ret == -ENOENT || ret == -ENODEV) && s->nr_groups &&
		 ++tries < GROUP_TRIES);
	return ret;
}

int cgroup_open(const struct slot *s, const char *file, int flags)
{
	char path[SESSION_PATH];
	size_t len;
	int fd;

	session_path(s, path, sizeof(path));
	len = strlen(path);
	snprintf(path + len, sizeof(path) - len, "/%s", file);
	fd = openat(top, path, flags | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/*
 * Kill what is in it and remove it, with the groups around it that are empty
 * then; -EBUSY: try again in a moment.
 */
int cgroup_remove(const struct slot *s)
{
	char path[SESSION_PATH];
	unsigned int depth = s->nr_groups;
	int err;

	session_path(s, path, sizeof(path));
	err = remove_path(path);
	for (; !err && depth; depth--) {
		group_path(s, depth, path, sizeof(path));
		if (unlinkat(top, path, AT_REMOVEDIR))
			break;
	}
	return err;
}

bool cgroup_populated(int events_fd)
{
	char buf[256];
	ssize_t n;

	n = pread(events_fd, buf, sizeof(buf) - 1, 0);
	if (n <= 0)
		return false;	/* removed */
	buf[n] = '\0';
	return strstr(buf, "populated 1");
}
