// SPDX-License-Identifier: GPL-2.0
/*
 * What this process has mapped, as the kernel says it.  Handlers of
 * signals may ask, too: nothing is allocated, and no stream is used.
 */
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "inside.h"

/* Of /proc/self/maps, a line at a time. */
struct lines {
	int fd;
	size_t at, have;
	char buffer[2 * PATH_MAX];
};

/* Ended by 0; NULL: that was all. */
static char *next_line(struct lines *l)
{
	char *line, *end;
	ssize_t got;

	for (;;) {
		line = l->buffer + l->at;
		end = memchr(line, '\n', l->have - l->at);
		if (end) {
			*end = '\0';
			l->at = end + 1 - l->buffer;
			return line;
		}
		l->have -= l->at;
		memmove(l->buffer, line, l->have);
		l->at = 0;
		got = syscall(SYS_read, l->fd, l->buffer + l->have,
			      sizeof(l->buffer) - l->have);
		if (got <= 0)
			return NULL;
		l->have += got;
	}
}

/* start-end rights offset device inode  name */
static bool parse(const char *line, struct mapping *m)
{
	const char *name = strpbrk(line, "/[");
	char *at;

	m->start = strtoul(line, &at, 16);
	if (*at != '-')
		return false;
	m->end = strtoul(at + 1, &at, 16);
	if (strlen(at) < sizeof(m->rights))
		return false;
	memcpy(m->rights, at + 1, sizeof(m->rights) - 1);
	m->rights[sizeof(m->rights) - 1] = '\0';
	m->name[0] = '\0';
	strncat(m->name, name ? name : "", sizeof(m->name) - 1);
	return true;
}

/* From below, until @fn says that it has enough; returns that. */
bool proc_maps_each(struct mapping *m, bool (*fn)(struct mapping *m, void *data),
		    void *data)
{
	struct lines lines;
	bool enough = false;
	char *line;

	lines.at = 0;
	lines.have = 0;
	lines.fd = syscall(SYS_open, "/proc/self/maps", O_RDONLY | O_CLOEXEC);
	if (lines.fd < 0)
		return false;
	while (!enough && (line = next_line(&lines)))
		enough = parse(line, m) && fn(m, data);
	syscall(SYS_close, lines.fd);
	return enough;
}

static bool holds(struct mapping *m, void *at)
{
	return (unsigned long)at >= m->start && (unsigned long)at < m->end;
}

bool proc_maps_find(unsigned long at, struct mapping *m)
{
	return proc_maps_each(m, holds, (void *)at);
}
