// SPDX-License-Identifier: GPL-2.0
/*
 * Frames between processes of one host: a pair of sockets for each two nodes.
 * The kernel closes a process's sockets when all of its threads have ended,
 * and not before: end of file is a fence, and the peer is dead.
 */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "transport.h"

static void local_send(struct transport *t, u16 to, const void *frame, u32 len)
{
	/* A full socket is a lost frame. */
	if (t->fd[to] >= 0 &&
	    send(t->fd[to], frame, len, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
		return;
}

static int local_receive(struct transport *t, u32 i, u16 *from, void *frame,
			 u32 room)
{
	ssize_t n = recv(t->fd[i], frame, room, MSG_DONTWAIT);

	*from = i;
	if (n > 0)
		return n;
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	close(t->fd[i]);
	t->fd[i] = -1;
	return -ECONNRESET;
}

int transport_local(struct transport *t, u16 nodes, u16 self, const int *fd)
{
	if (nodes > TRANSPORT_FDS)
		return -EINVAL;
	memset(t, 0, sizeof(*t));
	t->order = DSM_ORDER_FIFO;
	t->frame_max = DSM_FRAME_MAX;
	t->window = 16;		/* fits into a socket's buffer */
	t->timeout = 20000000;
	t->fds = nodes;
	t->self = self;
	memcpy(t->fd, fd, nodes * sizeof(*fd));
	t->send = local_send;
	t->receive = local_receive;
	return 0;
}
