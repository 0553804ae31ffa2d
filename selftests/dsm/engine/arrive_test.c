// SPDX-License-Identifier: GPL-2.0
/*
 * A page from its owner's engine and link, through frames of 1,500 bytes, a jumbo
 * one or one for all, into another node's window: frames out of order, doubled,
 * cut, of two messages at a time, of a page that is not waited for any more.
 * Run by dsm/64-pages, with sanitizers, and with rules taken out.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../../userspace/mios-dsm/runtime/dsm_node.h"

#define PAGES	4
#define PAGE	1		/* node 1's at first */
#define FRAMES	16
#define HEADERS	(sizeof(struct dsm_frame) + sizeof(struct dsm_msg))

#define CHECK(c) do { \
	if (!(c)) { \
		fprintf(stderr, "%s:%d: %s\n", __func__, __LINE__, #c); \
		_exit(1); \
	} \
} while (0)

struct wire {
	u32 len[FRAMES], count;
	u8 frame[FRAMES][DSM_FRAME_MAX];
};

static struct node reader, owner;
static struct wire wire;
static u8 bytes[DSM_PAGE_SIZE];
static u32 frame_max;

/* What dsm_node.c has beside it. */
void node_give_up(const char *what, int err)
{
	fprintf(stderr, "%s: %d\n", what, err);
	_exit(1);
}

static void node_begin(struct node *n, u16 self)
{
	struct dsm_config c = { .nodes = 2, .self = self, .cpus = 1,
		.order = DSM_ORDER_FIFO, .pages = PAGES, .chunk = 1,
		.requests = 4, .inflight = 4, .batch = 4, .window = 256,
		.run = 100, .lease = 10, .key = { 1, self } };
	struct dsm_link_config l = { .nodes = 2, .self = self, .frames = 64,
		.window = 16, .frame_max = frame_max,
		.message_max = DSM_FRAME_MAX, .apart = true,
		.page_bytes = DSM_PAGE_SIZE, .timeout = 1000 };

	free(n->dsm);
	free(n->link);
	free(n->window.alias);
	free(n->window.held);
	for (u16 i = 0; i < 2; i++)
		arrive_forget(n, i);
	memset(n, 0, sizeof(*n));
	n->nodes = 2;
	n->self = self;
	n->dsm = malloc(dsm_size(&c));
	n->link = malloc(dsm_link_size(&l));
	n->window.pages = PAGES;
	n->window.alias = calloc(PAGES, DSM_PAGE_SIZE);
	n->window.held = calloc(PAGES, sizeof(bool));
	CHECK(!dsm_init(n->dsm, &c) && !dsm_link_init(n->link, &l));
}

/* The message that the step sends, whatever else it does. */
static const struct dsm_action *step(struct node *n, struct dsm_event *ev,
				     struct dsm_actions *out)
{
	dsm_step(n->dsm, ev, out);
	for (u32 i = 0; i < out->count; i++)
		if (out->act[i].type == DSM_ACT_SEND)
			return &out->act[i];
	return NULL;
}

/* The reader asks; what its owner answers is on the wire. */
static struct dsm_msg asked(u8 fill)
{
	static struct dsm_actions out;
	struct dsm_event ev = { .type = DSM_EV_FAULT, .page = PAGE,
				.touch = DSM_READ };
	static struct dsm_link_out sends;
	const struct dsm_action *a = step(&reader, &ev, &out);
	struct dsm_event got = { .type = DSM_EV_MSG };

	CHECK(a && a->msg.type == DSM_GET_S);
	got.msg = a->msg;
	got.body = out.body + a->body;
	got.len = a->len;
	a = step(&owner, &got, &out);
	CHECK(a && a->msg.type == DSM_DATA_S);
	for (u32 i = 0; i < DSM_PAGE_SIZE; i++)
		bytes[i] = i * 7 + i / 256 + fill;
	CHECK(!dsm_link_send(owner.link, 0, &a->msg, out.body + a->body,
			     a->len, bytes, 0, &sends));
	CHECK(sends.sends <= FRAMES);
	wire.count = sends.sends;
	for (u32 i = 0; i < sends.sends; i++) {
		wire.len[i] = sends.send[i].len;
		memcpy(wire.frame[i], sends.send[i].frame, wire.len[i]);
	}
	return a->msg;
}

/* Frame i reaches the link; the message that is complete by then, or NULL. */
static struct causal_held *comes(u32 i)
{
	static struct dsm_link_out out;
	struct causal_held *b, *done = NULL;

	dsm_link_receive(reader.link, 1, wire.frame[i], wire.len[i], 0, &out);
	for (u32 k = 0; k < out.messages; k++) {
		b = arrive(&reader, 1, out.message[k].frame,
			   out.message[k].len);
		CHECK(!b || !done);
		done = b ? b : done;
	}
	return done;
}

static bool page_is(u8 fill)
{
	for (u32 i = 0; i < DSM_PAGE_SIZE; i++)
		if (window_bytes(&reader.window, PAGE)[i] !=
		    (u8)(i * 7 + i / 256 + fill))
			return false;
	return true;
}

/* The engine takes it, and the page can be seen. */
static void taken(struct causal_held *b, u8 fill)
{
	static struct dsm_actions out;
	struct dsm_event ev;
	const void *page;

	CHECK(b && b->placed && !b->spoilt && b->len < DSM_PAGE_SIZE);
	CHECK(dsm_frame_parse(b->frame, b->len + DSM_PAGE_SIZE, b->from,
			      DSM_PAGE_SIZE, &ev, &page));
	free(b);
	dsm_step(reader.dsm, &ev, &out);
	CHECK(dsm_page_access(reader.dsm, PAGE) == DSM_RO && page_is(fill));
}

static void both_begin(void)
{
	node_begin(&reader, 0);
	node_begin(&owner, 1);
}

static void in_order(void)
{
	struct causal_held *b = NULL;

	both_begin();
	asked(1);
	CHECK(wire.count == (DSM_PAGE_SIZE + 100) / frame_max + 1);
	for (u32 i = 0; i < wire.count; i++) {
		CHECK(!b && !dsm_page_access(reader.dsm, PAGE));
		b = comes(i);
	}
	taken(b, 1);
}

/* The last one first, each of them twice. */
static void out_of_order(void)
{
	struct causal_held *b = NULL;

	both_begin();
	asked(2);
	for (u32 i = wire.count; i-- > 0; ) {
		CHECK(!b);
		b = comes(i);
		CHECK(!comes(i));
	}
	taken(b, 2);
	CHECK(!reader.transport.refused);
}

/* One that is cut is no frame; sent again whole it ends the message. */
static void cut(void)
{
	struct causal_held *b;
	u32 len;

	both_begin();
	asked(3);
	len = wire.len[wire.count - 1]--;
	for (u32 i = 0; i < wire.count; i++)
		CHECK(!comes(i));
	CHECK(dsm_link_statistics(reader.link)->refused == 1);
	wire.len[wire.count - 1] = len;
	b = comes(wire.count - 1);
	taken(b, 3);
}

/* Somebody else has answered meanwhile: what is here stays as it is. */
static void too_late(void)
{
	static struct dsm_actions out;
	struct dsm_event ev = { .type = DSM_EV_MSG };
	struct causal_held *b;

	both_begin();
	ev.msg = asked(4);
	for (u32 i = 0; i + 1 < wire.count; i++)
		CHECK(!comes(i));
	memset(window_bytes(&reader.window, PAGE), 0x55, DSM_PAGE_SIZE);
	dsm_step(reader.dsm, &ev, &out);
	CHECK(dsm_page_access(reader.dsm, PAGE) == DSM_RO);
	b = comes(wire.count - 1);
	CHECK(b && b->spoilt == (wire.count > 1));
	free(b);
	for (u32 i = 0; i < DSM_PAGE_SIZE; i++)
		CHECK(window_bytes(&reader.window, PAGE)[i] == 0x55);
}

/* A page that nobody asked for, or of another tag, stays where it came. */
static void unasked(u32 tag)
{
	struct causal_held *b = NULL;
	struct dsm_msg m;
	u32 at = sizeof(struct dsm_frame) + offsetof(struct dsm_msg, tag);

	both_begin();
	asked(5);
	wire.frame[0][at] ^= tag;
	for (u32 i = 0; i < wire.count; i++)
		b = comes(i);
	CHECK(b && b->placed == !tag);
	if (!b->placed) {
		memcpy(&m, b->frame + sizeof(struct dsm_frame), sizeof(m));
		CHECK(m.page == PAGE && b->len > DSM_PAGE_SIZE);
		CHECK(!memcmp(b->frame + b->len - DSM_PAGE_SIZE, bytes,
			      DSM_PAGE_SIZE));
		CHECK(!page_is(5));
	}
	free(b);
}

/* What does not fit together is refused, and what comes next is whole. */
static void amiss(void)
{
	struct dsm_frame *h = (void *)wire.frame[0];
	struct causal_held *b = NULL;

	both_begin();
	asked(6);
	/* It ends where it has only begun, or goes on where it ends. */
	h->flags ^= DSM_FRAME_MORE;
	for (u32 i = 0; i < wire.count; i++)
		CHECK(!comes(i));
	CHECK(reader.transport.refused == wire.count);
	both_begin();
	asked(7);
	/* Shorter than any message. */
	h->len = wire.len[0] = HEADERS - 1;
	CHECK(!comes(0) && reader.transport.refused == 1);
	both_begin();
	asked(8);
	h->body = DSM_BODY_MAX + 1;
	CHECK(!comes(0) && reader.transport.refused == 1);
	both_begin();
	asked(9);
	/* More than it says that there is. */
	h->flags |= DSM_FRAME_MORE;
	wire.frame[0][sizeof(*h) + offsetof(struct dsm_msg, flags)] = 0;
	CHECK(!comes(0) && reader.transport.refused == 1);
	both_begin();
	asked(10);
	/* A piece of one, then another one. */
	if (wire.count > 1) {
		CHECK(!comes(0));
		h->seq++;
		for (u32 i = 1; i < wire.count; i++)
			((struct dsm_frame *)wire.frame[i])->seq++;
		CHECK(!comes(0) && reader.arrival[1].held);
	}
	for (u32 i = wire.count > 1; i < wire.count; i++)
		b = comes(i);
	taken(b, 10);
}

/* Many nodes and short frames: a step finds room for all that it may send. */
static void room(u16 nodes, u32 mtu)
{
	u16 pieces = node_pieces(mtu);
	struct dsm_link_config c = { .nodes = nodes, .window = 48,
		.frames = node_frames(nodes, pieces), .frame_max = mtu,
		.message_max = DSM_FRAME_MAX, .apart = true,
		.page_bytes = DSM_PAGE_SIZE };
	struct dsm_link *l = malloc(dsm_link_size(&c));

	CHECK(!dsm_link_init(l, &c));
	for (u16 i = 1; i < nodes; i++)
		CHECK(dsm_link_room(l, i) >= DSM_ACTIONS_MAX * pieces);
	free(l);
}

int main(void)
{
	const u32 mtu[] = { 1500, 1400, 576, 9000 };

	for (u32 i = 0; i < sizeof(mtu) / sizeof(*mtu); i++) {
		frame_max = mtu[i] < DSM_FRAME_MAX ? mtu[i] : DSM_FRAME_MAX;
		in_order();
		out_of_order();
		cut();
		too_late();
		unasked(0);
		unasked(1);
		amiss();
	}
	room(2, 1500);
	room(13, 576);		/* 66,560 frames */
	room(16, 700);		/* 65,536 */
	return 0;
}
