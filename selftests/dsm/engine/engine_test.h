/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One engine fed by hand: what engine_test.c and the tests that it calls
 * share.  Each file has an engine of its own.
 */
#ifndef ENGINE_TEST_H
#define ENGINE_TEST_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dsm.h"

/* recover_test.c and so on */
void recover_tests(void);
void member_tests(void);
void scale_tests(void);
void refuse_tests(void);
void line_tests(void);
void bounds_tests(void);
void order_tests(void);
void adapt_tests(void);
void ahead_tests(void);

static struct dsm_actions out;
static struct dsm *d;
static int nodes;

#define CHECK(cond) do {						\
	if (!(cond)) {							\
		printf("%s:%d: %s\n", __func__, __LINE__, #cond);	\
		exit(1);						\
	}								\
} while (0)

static const struct dsm_config usual = {
	.nodes = 4, .self = 1, .cpus = 1, .protocol = DSM_WI,
	.order = DSM_ORDER_TOTAL, .pages = 4, .chunk = 1, .requests = 8,
	.inflight = 4, .batch = 4, .window = 256, .run = 100, .lease = 10,
	.key = { 0x0706050403020100, 0x0f0e0d0c0b0a0908 },
};

static inline void begin(const struct dsm_config *c)
{
	free(d);
	CHECK(dsm_size(c));
	d = malloc(dsm_size(c));
	nodes = c->nodes;
	CHECK(!dsm_init(d, c));
}

/* The usual, but for write-update. */
static inline struct dsm_config updating(void)
{
	struct dsm_config c = usual;

	c.protocol = DSM_WU;
	c.mode = DSM_MODE_MW;
	return c;
}

#define NOBODY DSM_NODES_MAX

/* A page's owner, and one other node, or NOBODY, that has a copy. */
static inline void place(u32 page, u16 owner, u16 other, u8 mode)
{
	struct dsm_set copies;

	set_clear(&copies);
	if (other != NOBODY)
		set_add(&copies, other);
	CHECK(!dsm_place(d, page, owner, &copies, mode));
}

/* Actions of this type in the last step; the last of them in *found. */
static inline int did(enum dsm_action_type type, const struct dsm_action **found)
{
	int count = 0;

	for (u32 i = 0; i < out.count; i++) {
		if (out.act[i].type != type)
			continue;
		count++;
		if (found)
			*found = &out.act[i];
	}
	return count;
}

static inline int sent(enum dsm_msg_type type, const struct dsm_action **found)
{
	int count = 0;

	for (u32 i = 0; i < out.count; i++) {
		if (out.act[i].type != DSM_ACT_SEND ||
		    out.act[i].msg.type != type)
			continue;
		count++;
		if (found)
			*found = &out.act[i];
	}
	return count;
}

/* Pages that the last step says this of; the last of them in *found. */
static inline int fates(enum dsm_msg_type type, struct dsm_fate *found)
{
	u16 size = sizeof(*found) + (type == DSM_TAKE ? 8 : 0);
	int count = 0;

	for (u32 i = 0; i < out.count; i++) {
		const struct dsm_action *a = &out.act[i];

		if (a->type != DSM_ACT_SEND || a->msg.type != type)
			continue;
		CHECK(a->len && !(a->len % size));
		count += a->len / size;
		memcpy(found, out.body + a->body + a->len - size,
		       sizeof(*found));
	}
	return count;
}

static inline void event(enum dsm_event_type type, u32 page, u8 touch)
{
	struct dsm_event ev = { .type = type, .page = page, .touch = touch,
				.mask = 1, .mode = DSM_MODE_MW };

	dsm_step(d, &ev, &out);
}

static inline void message(struct dsm_msg m, const void *body, u16 len)
{
	struct dsm_event ev = { .type = DSM_EV_MSG, .msg = m, .body = body,
				.len = len };

	dsm_step(d, &ev, &out);
}

static inline void die(u16 node)
{
	struct dsm_event ev = { .type = DSM_EV_DOWN, .node = node };

	dsm_step(d, &ev, &out);
}

/* What a node says in a recovery; it has been told that these have died. */
static inline void says(u16 src, enum dsm_msg_type type, u32 dead)
{
	u32 view[DSM_NODES_MAX];

	for (int n = 0; n < nodes; n++)
		view[n] = n < 32 && dead >> n & 1;
	message((struct dsm_msg){ .type = type, .src = src },
		view, type == DSM_FLUSH ? nodes * sizeof(*view) : 0);
}

/* FLUSH with wu-seq: these have died, and how many stores the sender has. */
static inline void flush(u16 src, u32 dead, u64 number)
{
	u32 body[6];

	CHECK(nodes == 4);
	for (int n = 0; n < nodes; n++)
		body[n] = dead >> n & 1;
	memcpy(body + nodes, &number, sizeof(number));
	message((struct dsm_msg){ .type = DSM_FLUSH, .src = src }, body,
		sizeof(body));
}

/* What one says of a page in a recovery: HOLD, TAKE, OWNED, GONE. */
static inline void tells(u16 src, enum dsm_msg_type type, u32 page, u32 owner,
			 u64 ver, u64 holders)
{
	struct {
		struct dsm_fate fate;
		u64 holders;
	} body = { { .page = page, .owner = owner, .ver = ver }, holders };

	message((struct dsm_msg){ .type = type, .src = src }, &body,
		type == DSM_TAKE ? sizeof(body) : sizeof(body.fate));
}

/* Nodes 2 and 3, when node 0 has died and we are node 1. */
static inline void all_say(enum dsm_msg_type type)
{
	says(2, type, 1);
	says(3, type, 1);
}

#endif /* ENGINE_TEST_H */
