// SPDX-License-Identifier: GPL-2.0
/*
 * On instance 0: walks the root once for the files with capabilities, then
 * keeps the list by what inotify tells about the folders that have programs or
 * are there for them, as few as there are.  setcap(8) is an event of the file's folder.
 */
#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "libmios/libmios.h"
#include "rootd.h"

#define EVENTS	(IN_ATTRIB | IN_MOVE | IN_CREATE | IN_DELETE | \
		 IN_CLOSE_WRITE | IN_ONLYDIR)
#define QUIET_MS	500	/* an upgrade makes one list, not a hundred */
#define AGAIN_MS	60000	/* after a list could not be written */
#define WALK_FDS	32

static struct {
	int fd;
	struct list list;
	char **dirs;		/* by watch descriptor */
	int nr_dirs;
	bool dirty;		/* the list is not what is on disk */
	bool walk;		/* events were lost */
} w;

/* The same folder has the same descriptor each time. */
static void watch_dir(const char *dir)
{
	int wd = inotify_add_watch(w.fd, dir, EVENTS);
	char **grown;

	if (wd < 0)
		return;
	if (wd >= w.nr_dirs) {
		grown = realloc(w.dirs, (wd + 1) * sizeof(*grown));
		if (!grown)
			return;
		memset(grown + w.nr_dirs, 0,
		       (wd + 1 - w.nr_dirs) * sizeof(*grown));
		w.dirs = grown;
		w.nr_dirs = wd + 1;
	}
	if (!w.dirs[wd])
		w.dirs[wd] = strdup(dir);
}

static void note(const char *path)
{
	int changed = list_update(&w.list, path);

	if (changed)
		w.dirty = true;
	if (changed < 0)
		w.walk = true;
}

/* Also while it is empty, as /usr/local/bin is at first. */
static bool is_for_programs(const char *name)
{
	return !strcmp(name, "bin") || !strcmp(name, "sbin");
}

static int visit(const char *path, const struct stat *st, int type,
		 struct FTW *ftw)
{
	static char last[PATH_MAX];
	char dir[PATH_MAX];

	if (type == FTW_D && is_for_programs(path + ftw->base))
		watch_dir(path);
	if (type != FTW_F || !(st->st_mode & 0111))
		return 0;
	note(path);
	snprintf(dir, sizeof(dir), "%.*s", ftw->base > 1 ? ftw->base - 1 : 1,
		 path);
	if (strcmp(dir, last))
		watch_dir(strcpy(last, dir));
	return 0;
}

/* What the others see: the file system of the root, nothing mounted in it. */
static void walk_root(void)
{
	w.walk = false;
	w.dirty = true;
	nftw("/", visit, WALK_FDS, FTW_PHYS | FTW_MOUNT);
}

static void take_event(const struct inotify_event *e)
{
	const char *dir = e->wd >= 0 && e->wd < w.nr_dirs ? w.dirs[e->wd] : NULL;
	char path[PATH_MAX];

	if (e->mask & IN_Q_OVERFLOW)
		w.walk = true;
	if (!dir)
		return;
	if (e->mask & IN_IGNORED) {	/* the folder is gone */
		free(w.dirs[e->wd]);
		w.dirs[e->wd] = NULL;
		return;
	}
	if (hold_dir(dir))
		hold_files();
	if (!e->len || snprintf(path, sizeof(path), "%s/%s", dir[1] ? dir : "",
				e->name) >= (int)sizeof(path))
		return;
	if (!(e->mask & IN_ISDIR)) {
		note(path);
	} else if (e->mask & (IN_CREATE | IN_MOVED_TO)) {
		watch_dir(path);	/* programs may come later */
		nftw(path, visit, WALK_FDS, FTW_PHYS | FTW_MOUNT);
	}
}

static void take_events(void)
{
	char buf[16384] __attribute__((aligned(__alignof__(struct inotify_event))));
	const struct inotify_event *e;
	ssize_t n, at;

	n = read(w.fd, buf, sizeof(buf));
	for (at = 0; at < n; at += sizeof(*e) + e->len) {
		e = (const struct inotify_event *)(buf + at);
		take_event(e);
	}
}

static int write_changed(void)
{
	static bool told;
	int err = list_write(&w.list);

	if (err && !told)
		mios_error("mios-rootd", "cannot write " LIST ": %s",
			   strerror(-err));
	told = err;
	w.dirty = err;
	return err;
}

/* Does not return, unless there is no inotify. */
int watch_root(void)
{
	struct pollfd p = { .events = POLLIN };
	int timeout;

	w.fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	if (w.fd < 0)
		return -errno;
	/* Later an event there would have been missed. */
	watch_dir("/etc");
	hold_files();
	p.fd = w.fd;
	w.walk = true;
	for (;;) {
		if (w.walk)
			walk_root();
		timeout = w.dirty ? QUIET_MS : -1;
		if (w.dirty && !poll(&p, 1, QUIET_MS))
			timeout = write_changed() ? AGAIN_MS : -1;
		if (poll(&p, 1, timeout) > 0)
			take_events();
	}
}
