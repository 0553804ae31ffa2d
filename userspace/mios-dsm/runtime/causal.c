// SPDX-License-Identifier: GPL-2.0
/*
 * Causal delivery on top of the link layer, for protocols with updates on a
 * network that keeps no total order.  What the link hands up is held back
 * until all that its sender had sent, or seen sent, to the same receiver
 * before has been delivered.  Used between link and engine, by simnet.c and
 * by the native backend.
 *
 * know[i][j] is how many messages i has sent to j as far as this node knows.
 * A message carries its sender's know as a stamp, itself counted; whoever
 * gets it takes over what is larger.  A cast counts all its copies before
 * the first leaves: who acts upon one must not overtake the others.
 *
 * Why that is causal: let a, from i to j, come before b, from k to j.  Then k
 * is i and sent a first, or a chain of messages leads from i, after a, to k,
 * before b, and each link of it handed on a know that counts a.  So b's stamp
 * counts a, j waits until it has been given that many from i, and those of i
 * reach j in the order in which they were sent: the link sees to that.
 *
 * Why nothing is held for ever: all that a message waits for was sent before
 * it and arrives some day, so the first of those that are held can go.  What a
 * dead node sent may never arrive; who has been told of the death does not
 * wait for it.  Its engine would refuse such a message.
 *
 * know[i][i] is how often i was born again: nobody sends to itself.  What i has
 * sent and was sent is counted anew in each of its lives.  So a stamp of who
 * has not heard of a birth says nothing of that node; and one of who has heard
 * of more than we waits until we are told as well.
 */
#include <stdlib.h>
#include <string.h>

#include "causal.h"

#define HEADERS		(sizeof(struct dsm_frame) + sizeof(struct dsm_msg))

static_assert(CAUSAL_STAMP_MAX <= DSM_PAGE_SIZE,
	      "fits a frame, as a page does");

struct causal {
	u32 nodes, self;
	bool loose;
	struct dsm_set dead;
	struct causal_held *held;	/* in the order of arrival */
	u32 *know, *got;
	u32 count[];
};

struct causal *causal_new(u32 nodes, u32 self, bool loose)
{
	struct causal *c = calloc(1, sizeof(*c) +
				  nodes * (nodes + 1) * sizeof(u32));

	if (!c)
		return NULL;
	c->nodes = nodes;
	c->self = self;
	c->loose = loose;
	c->know = c->count;
	c->got = c->count + nodes * nodes;
	return c;
}

void causal_free(struct causal *c)
{
	struct causal_held *h;

	while (c && (h = c->held)) {
		c->held = h->next;
		free(h);
	}
	free(c);
}

u32 causal_stamp(struct causal *c, const struct dsm_set *to, u8 *stamp)
{
	u32 j;

	set_for_each(j, to)
		c->know[c->self * c->nodes + j]++;
	memcpy(stamp, c->know, causal_bytes(c->nodes));
	return causal_bytes(c->nodes);
}

static u32 stamp_at(const struct causal_held *h, u32 i)
{
	u32 count;

	memcpy(&count, h->frame + HEADERS + i * sizeof(count), sizeof(count));
	return count;
}

/* Of how many births of i has the sender heard more than we? */
static int births(const struct causal *c, const struct causal_held *h, u32 i)
{
	u32 at = i * (c->nodes + 1);

	return (int)(stamp_at(h, at) - c->know[at]);
}

static bool ready(const struct causal *c, const struct causal_held *h)
{
	for (u32 i = 0; i < c->nodes && !c->loose; i++) {
		u32 before = stamp_at(h, i * c->nodes + c->self) -
			(i == h->from);
		int more = births(c, h, i);

		if (more > 0)
			return false;
		if (i != c->self && !more && !set_has(&c->dead, i) &&
		    (int)(c->got[i] - before) < 0)
			return false;
	}
	return true;
}

/* Takes over what its sender knew, of lives that we mean as well. */
static void learn(struct causal *c, const struct causal_held *h)
{
	for (u32 i = 0; i < c->nodes; i++)
		for (u32 j = 0; j < c->nodes; j++) {
			u32 at = i * c->nodes + j, count = stamp_at(h, at);

			if (i != j && !births(c, h, i) && !births(c, h, j) &&
			    (int)(count - c->know[at]) > 0)
				c->know[at] = count;
		}
}

int causal_add(struct causal *c, struct causal_held *h)
{
	struct causal_held **at = &c->held;

	if (h->len < HEADERS + causal_bytes(c->nodes))
		return -1;
	h->next = NULL;
	while (*at)
		at = &(*at)->next;
	*at = h;
	return !ready(c, h);
}

int causal_keep(struct causal *c, u16 from, const void *frame, u32 len)
{
	struct causal_held *h = calloc(1, sizeof(*h) + len);
	int wait;

	if (!h)
		return -1;
	h->from = from;
	h->len = len;
	memcpy(h->frame, frame, len);
	wait = causal_add(c, h);
	if (wait < 0)
		free(h);
	return wait;
}

struct causal_held *causal_next(struct causal *c)
{
	struct causal_held **at = &c->held, *h;

	while (*at && !ready(c, *at))
		at = &(*at)->next;
	h = *at;
	if (!h)
		return NULL;
	*at = h->next;
	c->got[h->from]++;
	learn(c, h);
	return h;
}

void causal_bury(struct causal *c, u32 node)
{
	set_add(&c->dead, node);
}

void causal_birth(struct causal *c, u32 node, u32 times)
{
	struct causal_held **at = &c->held, *h;

	if (c->know[node * (c->nodes + 1)] == times)
		return;
	while ((h = *at)) {
		if (h->from == node) {
			*at = h->next;
			free(h);
		} else {
			at = &h->next;
		}
	}
	for (u32 i = 0; i < c->nodes; i++)
		c->know[node * c->nodes + i] = c->know[i * c->nodes + node] = 0;
	c->know[node * (c->nodes + 1)] = times;
	c->got[node] = 0;
	set_del(&c->dead, node);
}
