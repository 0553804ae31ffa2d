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
	if (n->causal) {
		ev.body = (const u8 *)ev.body + causal_bytes(n->nodes);
		ev.len -= causal_bytes(n->nodes);
	}
	/* Who wants a page that a thread holds need not wait if it has moved. */
	threads_release(n);
	n->incoming = page;
	node_step(n, &ev);
}

/*
 * A message that the link has handed up.  Its answers may need room that only
 * acknowledgements make, so those are taken whatever waits here.  A farewell
 * counts at once: its sender may be away before its turn comes.
 */
static void keep(struct node *n, u16 from, const void *frame, u32 len)
{
	const struct dsm_frame *h = frame;
	const struct dsm_msg *m = frame + sizeof(*h);
	struct causal_held *b;

	if (len >= sizeof(*h) + sizeof(*m) && m->type == NODE_BYE) {
		set_add(&n->bye, from);
		return;
	}
	if (n->causal) {
		/* The stamp is in the body. */
		if (len < sizeof(*h) || h->body < causal_bytes(n->nodes) ||
		    causal_keep(n->causal, from, frame, len) < 0)
			n->transport.refused++;
		return;
	}
	b = malloc(sizeof(*b) + len);
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

/* What the engine is to be told next. */
static struct causal_held *next(struct node *n)
{
	struct causal_held *b = n->backlog;

	if (n->causal)
		return causal_next(n->causal);
	if (!b)
		return NULL;
	n->backlog = b->next;
	if (!n->backlog)
		n->backlog_end = &n->backlog;
	return b;
}

/* Tells the engine what has arrived. */
void peers_deliver(struct node *n)
{
	struct causal_held *b;

	while (node_has_room(n) && (b = next(n))) {
		message(n, b->from, b->frame, b->len);
		free(b);
		if (evict_wanted(n))
			evict_some(n);
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
	if (n->causal)
		causal_bury(n->causal, peer);
	node_step(n, &ev);
}

bool peers_receive(struct node *n)
{
	struct dsm_link_out out;
	const void *frame;
	bool any = false;
	u16 from;
	int len;

	for (u32 i = 0; i < n->transport.fds; i++) {
		while (n->transport.fd[i] >= 0) {
			len = n->transport.receive(&n->transport, i, &from,
						   &frame);
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
