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

void connections_clear(struct connections *c)
{
	for (u16 i = 0; i < TRANSPORT_NODES; i++)
		for (u16 j = 0; j < TRANSPORT_NODES; j++)
			c->to[i][j] = (struct connection){ -1, -1, -1 };
}

/* Between two nodes: a pair of sockets, and rings. */
static int pair_make(struct connection *there, struct connection *back,
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

int connections_make(struct connections *c, u16 nodes, bool memory)
{
	int err = 0, event;

	for (u16 i = 0; i < nodes && !err; i++) {
		event = memory ? eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK) : -1;
		if (memory && event < 0)
			return -errno;
		for (u16 j = 0; j < nodes; j++)
			c->to[j][i].event = event;
		for (u16 j = 0; j < i && !err; j++)
			err = pair_make(&c->to[i][j], &c->to[j][i], memory);
	}
	return err;
}

static void keep(int fd)
{
	if (fd >= 0)
		fcntl(fd, F_SETFD, 0);
}

int connections_keep(const struct connections *c, u16 nodes, u16 self,
		     char *text, size_t room)
{
	int n = 0;

	for (u16 i = 0; i < nodes; i++) {
		const struct connection *to = &c->to[self][i];

		keep(to->socket);
		keep(to->rings);
		keep(to->event);
		n += snprintf(text + n, room - n, ":%d:%d:%d", to->socket,
			      to->rings, to->event);
	}
	return n;
}

void connections_close(struct connections *c, u16 nodes)
{
	for (u16 i = 0; i < nodes; i++) {
		if (c->to[i][i].event >= 0)
			close(c->to[i][i].event);
		for (u16 j = 0; j < nodes; j++) {
			if (c->to[i][j].socket >= 0)
				close(c->to[i][j].socket);
			if (j < i && c->to[i][j].rings >= 0)
				close(c->to[i][j].rings);
		}
	}
	connections_clear(c);
}
