// SPDX-License-Identifier: GPL-2.0
/*
 * What comes from the peers: frames through the link, messages for the engine,
 * farewells, deaths.  On the service thread.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "node.h"

/*
 * A message that the link has handed up.  Its answers may need room that only
 * acknowledgements make, so those are taken whatever waits here.
 */
struct backlog {
	struct backlog *next;
	u16 from;
	u32 len;
	u8 frame[];
};

/* So much that one step of the engine can send all that it may. */
bool node_has_room(const struct node *n)
{
	for (u16 i = 0; i < n->nodes; i++)
		if (i != n->self && !set_has(&n->gone, i) &&
		    dsm_link_room(n->link, i) <
		    DSM_ACTIONS_MAX * n->pieces)
			return false;
	return true;
}

static void message(struct node *n, u16 from, const void *frame, u32 len)
{
	struct dsm_event ev;
	const void *page;

	if (!dsm_frame_parse(frame, len, from, DSM_PAGE_SIZE, &ev, &page)) {
		n->transport.refused++;
		return;
	}
	/* Who wants a page that a thread holds need not wait if it has moved. */
	threads_release(n);
	n->incoming = page;
	node_step(n, &ev);
}

/* A farewell counts at once: its sender may be away before its turn comes. */
static void keep(struct node *n, u16 from, const void *frame, u32 len)
{
	struct backlog *b = malloc(sizeof(*b) + len);
	const struct dsm_msg *m = frame + sizeof(struct dsm_frame);

	if (len >= sizeof(struct dsm_frame) + sizeof(*m) &&
	    m->type == NODE_BYE) {
		set_add(&n->bye, from);
		free(b);
		return;
	}
	if (!b)
		node_give_up("a message cannot be kept", -ENOMEM);
	b->next = NULL;
	b->from = from;
	b->len = len;
	memcpy(b->frame, frame, len);
	*n->backlog_end = b;
	n->backlog_end = &b->next;
}

/* What the link hands up lies in its memory, which answers use as well. */
void peers_take(struct node *n, struct dsm_link_out *out)
{
	bool more;

	do {
		more = out->more;
		node_transmit(n, out);
		for (u32 i = 0; i < out->messages; i++)
			keep(n, out->message[i].from, out->message[i].frame,
			     out->message[i].len);
		if (more)
			dsm_link_tick(n->link, n->now, out);
	} while (more);
}

/* Tells the engine what has arrived. */
void peers_deliver(struct node *n)
{
	struct backlog *b;

	while (n->backlog && node_has_room(n)) {
		b = n->backlog;
		n->backlog = b->next;
		if (!n->backlog)
			n->backlog_end = &n->backlog;
		message(n, b->from, b->frame, b->len);
		free(b);
	}
}

void peers_gone(struct node *n, u16 peer)
{
	struct dsm_event ev = { .type = DSM_EV_DOWN, .node = peer };

	if (set_has(&n->gone, peer))
		return;
	set_add(&n->gone, peer);
	dsm_link_reset(n->link, peer, 0);
	if (set_has(&n->bye, peer))
		return;
	atomic_fetch_add(&n->dead, 1);
	dprintf(STDERR_FILENO, "mios-dsm: node %u: node %u has died\n", n->self, peer);
	node_step(n, &ev);
}

bool peers_receive(struct node *n)
{
	static u8 frame[DSM_FRAME_MAX];
	struct dsm_link_out out;
	bool any = false;
	u16 from;
	int len;

	for (u32 i = 0; i < n->transport.fds; i++) {
		while (n->transport.fd[i] >= 0) {
			len = n->transport.receive(&n->transport, i, &from,
						   frame, sizeof(frame));
			if (!len)
				break;
			any = true;
			if (len < 0) {
				peers_gone(n, from);
				break;
			}
			dsm_link_receive(n->link, from, frame, len, n->now,
					 &out);
			peers_take(n, &out);
			peers_deliver(n);
		}
	}
	return any;
}

bool peers_idle(const struct node *n)
{
	for (u16 i = 0; i < n->nodes; i++)
		if (i != n->self && !set_has(&n->gone, i) &&
		    !dsm_link_idle(n->link, i))
			return false;
	return true;
}
