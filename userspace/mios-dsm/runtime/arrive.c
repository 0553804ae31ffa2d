// SPDX-License-Identifier: GPL-2.0
/*
 * Messages put together from the frames that bring them.  The bytes of a page go
 * from the frame to where they will be seen, if the engine waits for them: once
 * they are all here it only lets them be seen.  What is in front of them, and
 * pages that nobody waits for, go into memory of the message's own.
 *
 * Nobody sees a page that is waited for, nor is anything kept there.  Who knows the
 * tag of the request can give us the page, whatever it has, so it may write there
 * as well; but no longer than that: the engine is asked before each frame.  A
 * tag that is not waited for any more never will be, so what is left of the
 * message has no place then, and the engine would refuse it: it is spoilt.
 *
 * Called by peers.c, with frames in the order in which they were sent.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dsm_node.h"

#define HEADERS		(sizeof(struct dsm_frame) + sizeof(struct dsm_msg))

void arrive_forget(struct node *n, u16 from)
{
	free(n->arrival[from].held);
	n->arrival[from].held = NULL;
}

static struct dsm_msg message_of(const u8 *frame)
{
	struct dsm_msg m;

	memcpy(&m, frame + sizeof(struct dsm_frame), sizeof(m));
	return m;
}

/* The page is not to be seen before all of it is here, but for a test. */
static bool waited_for(const struct node *n, const struct dsm_msg *m)
{
	return dsm_page_awaits(n->dsm, m) && !(n->window.knobs & WINDOW_EARLY);
}

/* The first frame of a message tells how long that is. */
static bool begins(struct node *n, u16 from, const u8 *frame, u32 len)
{
	struct arrival *a = &n->arrival[from];
	struct dsm_frame h;
	struct dsm_msg m;
	bool placed;
	u32 head;

	arrive_forget(n, from);
	if (len < HEADERS)
		return false;
	memcpy(&h, frame, sizeof(h));
	m = message_of(frame);
	head = HEADERS + h.body;
	a->have = 0;
	a->all = head + (m.flags & DSM_F_DATA ? DSM_PAGE_SIZE : 0);
	if (a->all > DSM_FRAME_MAX)
		return false;
	placed = a->all > head && m.src == from && waited_for(n, &m);
	a->held = malloc(sizeof(*a->held) + (placed ? head : a->all));
	if (!a->held)
		node_give_up("a message cannot be kept", -ENOMEM);
	a->held->next = NULL;
	a->held->from = from;
	a->held->len = placed ? head : a->all;
	a->held->placed = placed;
	a->held->spoilt = false;
	return true;
}

/* What lies behind that which is here. */
static void put(struct node *n, struct arrival *a, const u8 *bytes, u32 len)
{
	struct causal_held *b = a->held;
	u32 room = a->have < b->len ? b->len - a->have : 0;
	u32 first = len < room ? len : room;
	struct dsm_msg m;

	memcpy(b->frame + a->have, bytes, first);
	a->have += len;
	if (first == len)
		return;
	m = message_of(b->frame);
	b->spoilt |= !waited_for(n, &m);
	if (!b->spoilt)
		memcpy(window_bytes(&n->window, m.page) + a->have -
		       (len - first) - b->len, bytes + first, len - first);
}

/* The message that this frame completes, the caller's to free; or NULL. */
struct causal_held *arrive(struct node *n, u16 from, const void *frame, u32 len)
{
	struct arrival *a = &n->arrival[from];
	struct causal_held *done;
	const u8 *bytes = frame;
	struct dsm_frame h;
	bool good;

	memcpy(&h, frame, sizeof(h));
	if (h.flags & DSM_FRAME_REST) {
		bytes += sizeof(h);
		len -= sizeof(h);
		good = a->held;
	} else {
		good = begins(n, from, bytes, len);
	}
	/* Its last frame is where it ends, and no other. */
	if (!good || len > a->all - a->have ||
	    (len == a->all - a->have) == !!(h.flags & DSM_FRAME_MORE)) {
		n->transport.refused++;
		arrive_forget(n, from);
		return NULL;
	}
	put(n, a, bytes, len);
	if (a->have < a->all)
		return NULL;
	done = a->held;
	a->held = NULL;
	return done;
}
