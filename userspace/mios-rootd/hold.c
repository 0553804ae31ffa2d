// SPDX-License-Identifier: GPL-2.0
/*
 * The files of accounts, which shadow's programs open without waiting
 * (O_NONBLOCK).  While an instance has a delegation of one, such an open fails:
 * "groupadd: cannot open /etc/group".  The server gives none of a file that
 * somebody here has open for writing.  So we have, and write nothing.
 *
 * Opening recalls the delegations that there are, and waits for them.
 */
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libmios/libmios.h"
#include "rootd.h"

static struct {
	const char *path;
	int fd;
} held[] = {
	{ "/etc/passwd", -1 },
	{ "/etc/shadow", -1 },
	{ "/etc/group", -1 },
	{ "/etc/gshadow", -1 },
	{ "/etc/subuid", -1 },
	{ "/etc/subgid", -1 },
};

static bool is_held(const char *path, int fd)
{
	struct stat now, ours;

	return fd >= 0 && !stat(path, &now) && !fstat(fd, &ours) &&
	       now.st_dev == ours.st_dev && now.st_ino == ours.st_ino;
}

/* Those programs replace them by renaming: the new ones, then. */
void hold_files(void)
{
	size_t i;

	for (i = 0; i < sizeof(held) / sizeof(held[0]); i++) {
		if (is_held(held[i].path, held[i].fd))
			continue;
		if (held[i].fd >= 0)
			close(held[i].fd);
		held[i].fd = open(held[i].path, O_WRONLY | O_NOCTTY | O_CLOEXEC);
	}
}

/* Are they there? */
bool hold_dir(const char *dir)
{
	return !strcmp(dir, "/etc");
}
