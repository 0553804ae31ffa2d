// SPDX-License-Identifier: GPL-2.0
/*
 * The folder of a launcher's session.  MPI's daemons keep files, which those
 * that are killed leave; so mios-rsh names a folder for them.  The supervisor
 * makes it, and removes it when nobody of the session lives any more; it is the
 * caller by then, so whatever name it is given, it has no rights but his.  No
 * locks.
 */
#include <errno.h>
#include <ftw.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "miosd.h"

#define VARIABLE	"MIOS_SESSION_DIR="
#define GONE_MS		5000	/* for what has been killed to end */
#define REMOVE_SECONDS	30	/* then SIGALRM ends the supervisor */
#define OPEN_FILES	8

/* NULL: none is wanted, or it is not new, and nobody's to remove. */
char *folder_make(const struct spec *spec)
{
	char **var, *path;

	for (var = spec->envp; *var; var++)
		if (!strncmp(*var, VARIABLE, strlen(VARIABLE)))
			break;
	if (!*var)
		return NULL;
	path = strdup(*var + strlen(VARIABLE));
	if (path && *path == '/' && !mkdir(path, 0700))
		return path;
	free(path);
	return NULL;
}

/* The next one may be removed all the same. */
static int drop(const char *path, const struct stat *st, int type,
		struct FTW *at)
{
	remove(path);
	return 0;
}

/* At the end of @t's session, whatever end it is: nobody lives beyond it. */
void folder_remove(const char *path, const struct task *t)
{
	int64_t deadline = mios_now_ms() + GONE_MS;

	if (!path)
		return;
	if (write(t->kill, "1", 1) < 0 && errno != ENODEV)
		fprintf(stderr, "miosd: cgroup.kill: %m\n");
	while (cgroup_populated(t->events) && mios_now_ms() < deadline)
		poll(NULL, 0, 10);
	alarm(REMOVE_SECONDS);
	nftw(path, drop, OPEN_FILES, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
	alarm(0);
}
