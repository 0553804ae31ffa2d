// SPDX-License-Identifier: GPL-2.0
/*
 * One cgroup (version 2) per session, below miosd's own: what the session
 * started stays in it whatever it forks or daemonizes, and one write to
 * cgroup.kill ends it all.
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

#define PREFIX	"mios-session-"

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

static int find_own(char *buf, size_t size)
{
	char line[256];
	FILE *f;
	int err = -ENOENT;

	f = fopen("/proc/self/cgroup", "re");
	if (!f)
		return -errno;
	while (fgets(line, sizeof(line), f)) {
		if (!strncmp(line, "0::", 3)) {
			line[strcspn(line, "\n")] = '\0';
			snprintf(buf, size, "%s", line + 3);
			err = 0;
			break;
		}
	}
	fclose(f);
	return err;
}

static int remove_path(const char *path)
{
	char file[CGROUP_PATH + 16];
	int fd;

	snprintf(file, sizeof(file), "%s/cgroup.kill", path);
	fd = open(file, O_WRONLY | O_CLOEXEC);
	if (fd >= 0) {
		if (write(fd, "1", 1) < 0)
			fprintf(stderr, "miosd: %s: %m\n", file);
		close(fd);
	}
	if (rmdir(path) && errno != ENOENT)
		return -errno;
	return 0;
}

/* What an earlier miosd left: its callers have lost their connections. */
static void remove_stale(void)
{
	char path[CGROUP_PATH + 256];
	struct dirent *e;
	DIR *d;

	d = opendir(base);
	if (!d)
		return;
	while ((e = readdir(d))) {
		if (strncmp(e->d_name, PREFIX, strlen(PREFIX)))
			continue;
		snprintf(path, sizeof(path), "%s/%s", base, e->d_name);
		remove_path(path);
	}
	closedir(d);
}

int cgroup_setup(void)
{
	char mount[256], own[256];
	int err;

	err = find_mount(mount, sizeof(mount));
	if (!err)
		err = find_own(own, sizeof(own));
	if (err)
		return err;
	if (!strcmp(own, "/"))
		own[0] = '\0';
	snprintf(base, sizeof(base), "%s%s", mount, own);
	remove_stale();
	return 0;
}

static void session_path(const struct slot *s, char *buf, size_t size)
{
	snprintf(buf, size, "%s/" PREFIX "%d-%u", base, s->peer, s->serial);
}

/* Returns the folder, opened. */
int cgroup_create(const struct slot *s)
{
	char path[CGROUP_PATH + 64];
	int fd;

	session_path(s, path, sizeof(path));
	if (mkdir(path, 0755) && (errno != EEXIST || rmdir(path) ||
				  mkdir(path, 0755)))
		return -errno;
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

int cgroup_open(const struct slot *s, const char *file, int flags)
{
	char path[CGROUP_PATH + 128];
	int fd;

	session_path(s, path, sizeof(path));
	strcat(path, "/");
	strncat(path, file, 32);
	fd = open(path, flags | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* Kill what is in it and remove it; -EBUSY: try again in a moment. */
int cgroup_remove(const struct slot *s)
{
	char path[CGROUP_PATH + 64];

	session_path(s, path, sizeof(path));
	return remove_path(path);
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

static uint64_t rss_of(long pid)
{
	char path[64], buf[128];
	unsigned long pages = 0;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%ld/statm", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	n = read(fd, buf, sizeof(buf) - 1);
	close(fd);
	if (n <= 0)
		return 0;
	buf[n] = '\0';
	sscanf(buf, "%*u %lu", &pages);
	return (uint64_t)pages * sysconf(_SC_PAGESIZE);
}

void cgroup_usage(const struct slot *s, struct mios_task *t)
{
	char line[128];
	long pid;
	FILE *f;
	int fd;

	fd = cgroup_open(s, "cpu.stat", O_RDONLY);
	f = fd < 0 ? NULL : fdopen(fd, "r");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "usage_usec %" SCNu64, &t->cpu_usec) == 1)
			break;
	if (f)
		fclose(f);
	fd = cgroup_open(s, "cgroup.procs", O_RDONLY);
	f = fd < 0 ? NULL : fdopen(fd, "r");
	while (f && fgets(line, sizeof(line), f)) {
		pid = strtol(line, NULL, 10);
		t->processes++;
		t->rss += rss_of(pid);
	}
	if (f)
		fclose(f);
}
