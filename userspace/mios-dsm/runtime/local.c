// SPDX-License-Identifier: GPL-2.0
/*
 * Frames between processes of one host, over rings in memory that each two of
 * them share, or over the pair of sockets that each two have besides.  The
 * kernel closes a process's sockets when all of its threads have ended, and not
 * before: end of file is a fence, and the peer is dead.  What it had written
 * into its ring by then is read first.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "local.h"
#include "shm_ring.h"

/* A process is one node. */
static struct {
	struct ring_pair *pair[TRANSPORT_NODES];
	int event[TRANSPORT_NODES];	/* wakes that node */
	u32 tail[TRANSPORT_NODES], head[TRANSPORT_NODES];
} rings;

/* Nobody comes back here. */
static const u16 first_life[TRANSPORT_NODES];
static const u8 none_died[TRANSPORT_NODES];

static struct ring *ring_to(const struct transport *t, u16 peer)
{
	return &rings.pair[peer]->ring[t->self < peer];
}

static struct ring *ring_from(const struct transport *t, u16 peer)
{
	return &rings.pair[peer]->ring[t->self > peer];
}

static void socket_send(struct transport *t, u16 to, const void *frame, u32 len)
{
	/* A full socket is a lost frame. */
	if (t->fd[to] >= 0 &&
	    send(t->fd[to], frame, len, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
		return;
}

static int ended(struct transport *t, u32 i)
{
	close(t->fd[i]);
	t->fd[i] = -1;
	return -ECONNRESET;
}

static int socket_receive(struct transport *t, u32 i, u16 *from,
			  const void **frame)
{
	static u8 bytes[DSM_FRAME_MAX];
	ssize_t n = recv(t->fd[i], bytes, sizeof(bytes), MSG_DONTWAIT);

	*from = i;
	*frame = bytes;
	if (n > 0)
		return n;
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	return ended(t, i);
}

static void memory_send(struct transport *t, u16 to, const void *frame, u32 len)
{
	const u64 one = 1;

	if (!rings.pair[to])
		return;
	/* A full ring is a lost frame. */
	if (!ring_put(ring_to(t, to), &rings.tail[to], frame, len))
		return;
	/* A counter that is full wakes as well. */
	if (ring_sleeper(ring_to(t, to)) &&
	    write(rings.event[to], &one, sizeof(one)) < 0)
		return;
}

/* The peer has ended?  It has no business to write into the socket. */
static bool socket_over(struct transport *t, u32 i)
{
	char byte;
	ssize_t n = recv(t->fd[i], &byte, 1, MSG_DONTWAIT);

	t->refused += n > 0;
	return !n || (n < 0 && errno != EAGAIN && errno != EINTR);
}

static int memory_receive(struct transport *t, u32 i, u16 *from,
			  const void **frame)
{
	static u8 bytes[DSM_FRAME_MAX];
	/* Asked before: what it has written is all there then. */
	bool over = t->ready >> i & 1 && socket_over(t, i);
	int n = ring_get(ring_from(t, i), &rings.head[i], bytes, sizeof(bytes));

	*from = i;
	*frame = bytes;
	if (n > 0)
		return n;
	t->refused += n < 0;
	if (!over)
		return 0;
	munmap(rings.pair[i], sizeof(*rings.pair[i]));
	rings.pair[i] = NULL;
	return ended(t, i);
}

static bool memory_doze(struct transport *t, bool on)
{
	bool any = false;

	for (u32 i = 0; i < t->fds; i++) {
		if (!rings.pair[i])
			continue;
		if (on)
			any |= ring_doze(ring_from(t, i), rings.head[i]);
		else
			ring_up(ring_from(t, i));
	}
	return any;
}

/* The window is one for both, so that they can be compared. */
static int memory_open(struct transport *t, const struct connection *to)
{
	for (u32 i = 0; i < t->fds; i++) {
		if (i == t->self)
			continue;
		rings.event[i] = to[i].event;
		rings.pair[i] = ring_open(to[i].rings);
		close(to[i].rings);
		if (!rings.pair[i]) {
			fprintf(stderr, "mios-dsm: the rings are not those of this version\n");
			return -EPROTO;
		}
	}
	t->send = memory_send;
	t->receive = memory_receive;
	t->doze = memory_doze;
	t->event = to[t->self].event;
	return 0;
}

int transport_local(struct transport *t, u16 nodes, u16 self,
		    const struct connection *to)
{
	if (nodes > TRANSPORT_FDS)
		return -EINVAL;
	memset(t, 0, sizeof(*t));
	t->order = DSM_ORDER_FIFO;
	t->frame_max = DSM_FRAME_MAX;
	t->window = 16;		/* fits into a socket's buffer, and a ring */
	t->timeout = 20000000;
	t->fds = nodes;
	t->self = self;
	t->event = -1;
	t->lives = first_life;
	t->lists = none_died;
	t->send = socket_send;
	t->receive = socket_receive;
	for (u16 i = 0; i < nodes; i++)
		t->fd[i] = to[i].socket;
	return to[self].event < 0 ? 0 : memory_open(t, to);
}
