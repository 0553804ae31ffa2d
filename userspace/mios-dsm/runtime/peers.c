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

#include "dsm_node.h"

/* Of one descriptor, before threads of ours have their turn. */
#define FRAMES		64

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

static void message(struct node *n, const struct causal_held *b)
{
	u32 len = b->len + (b->placed ? DSM_PAGE_SIZE : 0);
	struct dsm_event ev;
	const void *page;

	if (b->spoilt || !dsm_frame_parse(b->frame, len, b->from,
					  DSM_PAGE_SIZE, &ev, &page)) {
		n->transport.refused++;
		return;
	}
	if (b->placed)
		page = window_bytes(&n->window, ev.msg.page);
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
 * A frame that the link has handed up.  The answers to the message that it ends
 * may need room that only acknowledgements make, so those are taken whatever
 * waits here.  A farewell counts at once: its sender may be away before its turn
 * comes.
 */
static void keep(struct node *n, u16 from, const void *frame, u32 len)
{
	struct causal_held *b = arrive(n, from, frame, len);
	struct dsm_frame h;
	struct dsm_msg m;

	if (!b)
		return;
	memcpy(&h, b->frame, sizeof(h));
	memcpy(&m, b->frame + sizeof(h), sizeof(m));
	if (m.type == NODE_BYE) {
		set_add(&n->bye, from);
		free(b);
		return;
	}
	if (m.type == NODE_TALK && !n->causal) {
		talk_take(n, b, h.body);
		free(b);
		return;
	}
	if (n->causal) {
		/* The stamp is in the body. */
		if (h.body < causal_bytes(n->nodes) ||
		    causal_add(n->causal, b) < 0) {
			n->transport.refused++;
			free(b);
		}
		return;
	}
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
		message(n, b);
		free(b);
		if (evict_wanted(n))
			evict_some(n);
	}
}

/* The engine is told in which life a node is, or was. */
static void tell(struct node *n, u16 node, u8 type)
{
	struct dsm_event ev = {
		.type = type, .node = node,
		.life = n->transport.lists[node] / 2,
	};

	if (n->causal)
		causal_birth(n->causal, node, ev.life);
	if (n->causal && type == DSM_EV_DOWN)
		causal_bury(n->causal, node);
	node_step(n, &ev);
}

static void died(struct node *n, u16 peer)
{
	set_add(&n->gone, peer);
	set_add(&n->told, peer);
	atomic_fetch_add(&n->dead, 1);
	dprintf(STDERR_FILENO, "mios-dsm: node %u: node %u has died\n", n->self, peer);
	tell(n, peer, DSM_EV_DOWN);
	if (n->heard)
		n->heard(peer, NULL, 0, n->heard_arg);
}

void peers_gone(struct node *n, u16 peer)
{
	if (set_has(&n->gone, peer))
		return;
	dsm_link_reset(n->link, peer, 0);
	arrive_forget(n, peer);
	/* It has ended, and needs nothing; so do we if all have. */
	if (set_has(&n->bye, peer))
		set_add(&n->gone, peer);
	else
		died(n, peer);
}

/* What its earlier self has said and the engine has not heard yet. */
static void forget(struct node *n, u16 peer)
{
	struct causal_held **at = &n->backlog, *b;

	while ((b = *at)) {
		if (b->from == peer) {
			*at = b->next;
			free(b);
		} else {
			at = &b->next;
		}
	}
	n->backlog_end = at;
}

/*
 * A node was born again, perhaps before we heard of its end.  It lacks what
 * those had who have ended in order, too.
 */
static void peers_back(struct node *n, u16 peer)
{
	u16 node;

	set_for_each(node, &n->gone)
		if (node != peer && !set_has(&n->told, node)) {
			set_add(&n->told, node);
			tell(n, node, DSM_EV_DOWN);
		}
	if (!set_has(&n->told, peer))
		atomic_fetch_add(&n->dead, 1);
	set_del(&n->gone, peer);
	set_del(&n->told, peer);
	set_del(&n->bye, peer);
	n->said_bye = false;
	forget(n, peer);
	arrive_forget(n, peer);
	dsm_link_reset(n->link, peer, n->transport.lives[peer]);
	dprintf(STDERR_FILENO, "mios-dsm: node %u: node %u has come back\n",
		n->self, peer);
	if (!(n->window.knobs & WINDOW_UNBORN))
		tell(n, peer, DSM_EV_UP);
}

/* Who had died, or come back, before we began; and that we have ourselves. */
void peers_begin(struct node *n)
{
	const u8 *list = n->transport.lists;

	for (u16 i = 0; i < n->nodes; i++) {
		if (i == n->self || !list[i])
			continue;
		if (list[i] & 1) {
			dsm_link_reset(n->link, i, 0);
			died(n, i);
		} else {
			tell(n, i, DSM_EV_UP);
		}
	}
	if (!list[n->self])
		return;
	atomic_fetch_add(&n->dead, 1);
	tell(n, n->self, DSM_EV_UP);
}

bool peers_receive(struct node *n)
{
	struct dsm_link_out out;
	const void *frame;
	bool any = false;
	u16 from;
	int len;

	for (u32 i = 0; i < n->transport.fds; i++) {
		for (u32 k = 0; k < FRAMES && n->transport.fd[i] >= 0; k++) {
			len = n->transport.receive(&n->transport, i, &from,
						   &frame);
			if (!len)
				break;
			any = true;
			if (len == -EISCONN) {
				peers_back(n, from);
				continue;
			}
			if (len < 0) {
				peers_gone(n, from);
				continue;
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
