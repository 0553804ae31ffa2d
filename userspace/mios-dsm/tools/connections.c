// SPDX-License-Identifier: GPL-2.0
/* See connections.h.  Called by cmd_run.c. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../runtime/shm_ring.h"
#include "connections.h"

void ways_clear(struct ways *w)
{
	for (u16 i = 0; i < TRANSPORT_NODES; i++)
		for (u16 j = 0; j < TRANSPORT_NODES; j++)
			w->way[i][j] = (struct local_way){ -1, -1, -1 };
}

/* Between two nodes: a pair of sockets, and rings. */
static int pair_make(struct local_way *there, struct local_way *back,
		     bool memory)
{
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return -errno;
	there->socket = pair[0];
	back->socket = pair[1];
	if (!memory)
		return 0;
	there->rings = back->rings = ring_make();
	return there->rings < 0 ? there->rings : 0;
}

int ways_make(struct ways *w, u16 nodes, bool memory)
{
	int err = 0, event;

	for (u16 i = 0; i < nodes && !err; i++) {
		event = memory ? eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK) : -1;
		if (memory && event < 0)
			return -errno;
		for (u16 j = 0; j < nodes; j++)
			w->way[j][i].event = event;
		for (u16 j = 0; j < i && !err; j++)
			err = pair_make(&w->way[i][j], &w->way[j][i], memory);
	}
	return err;
}

static void keep(int fd)
{
	if (fd >= 0)
		fcntl(fd, F_SETFD, 0);
}

int ways_keep(const struct ways *w, u16 nodes, u16 self, char *text, size_t room)
{
	int n = 0;

	for (u16 i = 0; i < nodes; i++) {
		const struct local_way *way = &w->way[self][i];

		keep(way->socket);
		keep(way->rings);
		keep(way->event);
		n += snprintf(text + n, room - n, ":%d:%d:%d", way->socket,
			      way->rings, way->event);
	}
	return n;
}

void ways_close(struct ways *w, u16 nodes)
{
	for (u16 i = 0; i < nodes; i++) {
		if (w->way[i][i].event >= 0)
			close(w->way[i][i].event);
		for (u16 j = 0; j < nodes; j++) {
			if (w->way[i][j].socket >= 0)
				close(w->way[i][j].socket);
			if (j < i && w->way[i][j].rings >= 0)
				close(w->way[i][j].rings);
		}
	}
	ways_clear(w);
}
