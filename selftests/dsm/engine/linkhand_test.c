// SPDX-License-Identifier: GPL-2.0
/*
 * One link by hand, and what its peers might say.  Called by link_test.c.
 */
#include "link_test.h"

static struct dsm_link_out said;

static struct dsm_link *alone(u16 nodes, u16 window, u16 frames)
{
	struct dsm_link_config c = { .nodes = nodes, .frames = frames,
		.window = window, .frame_max = 200, .timeout = 50,
		.delay = 20 };
	struct dsm_link *l = malloc(dsm_link_size(&c));

	expect(l && !dsm_link_init(l, &c), "cannot set up a link");
	return l;
}

/* Header, message and body without a gap, as on the wire, from h on. */
struct whole {
	u32 align;
	struct dsm_frame h;
	struct dsm_msg m;
	u8 body[8];
};

static const struct dsm_frame header = {
	.magic = DSM_FRAME_MAGIC, .version = DSM_FRAME_VERSION,
	.len = sizeof(struct dsm_frame),
};

#define WHOLE	(sizeof(struct whole) - offsetof(struct whole, h))

static_assert(offsetof(struct whole, m) ==
	      offsetof(struct whole, h) + sizeof(struct dsm_frame), "no gap");

static void hear(struct dsm_link *l, u16 from, u32 seq, u32 ack, bool message)
{
	struct whole f = { .h = header };

	f.h.seq = seq;
	f.h.ack = ack;
	f.h.len = message ? WHOLE - sizeof(f.body) : sizeof(f.h);
	dsm_link_receive(l, from, &f.h, f.h.len, 0, &said);
}

static int say(struct dsm_link *l, u16 to, u16 len)
{
	static const u8 body[200];
	struct dsm_msg m = { .type = DSM_INV };

	return dsm_link_send(l, to, &m, body, len, NULL, 0, &said);
}

static void impossible(const struct dsm_link_config *c)
{
	static u64 memory[4096];

	expect(!dsm_link_size(c) &&
	       dsm_link_init((struct dsm_link *)memory, c) == -EINVAL,
	       "a configuration that cannot be is taken");
}

static void configurations(void)
{
	const struct dsm_link_config good = { .nodes = 2, .frames = 8,
		.window = 4, .frame_max = 200 };
	struct dsm_link_config c;

	expect(dsm_link_size(&good), "a good configuration is refused");
#define BAD(field, value) \
	do { c = good; c.field = (value); impossible(&c); } while (0)
	BAD(nodes, 0);
	BAD(nodes, DSM_NODES_MAX + 1);
	BAD(self, 2);
	BAD(frames, 0);
	BAD(frames, 0xffff);
	BAD(window, 0);
	BAD(window, 64);
	BAD(page_bytes, DSM_PAGE_SIZE + 1);
	BAD(frame_max, sizeof(struct dsm_frame) + sizeof(struct dsm_msg) - 1);
	BAD(frame_max, DSM_FRAME_MAX + 1);
	BAD(message_max, DSM_FRAME_MAX + 1);
#undef BAD
}

/* No more under way than the window; an ack lets the next one go at once. */
static void windows(void)
{
	struct dsm_link *l = alone(2, 2, 8);
	u32 sent = 0;

	for (int i = 0; i < 5; i++) {
		expect(!say(l, 1, 0), "no room for five frames");
		sent += said.sends;
	}
	expect(sent == 2, "more under way than the window");
	hear(l, 1, 0, 1, false);
	expect(said.sends == 1, "an ack lets no frame go");
	hear(l, 1, 0, 9, false);
	expect(!dsm_link_idle(l, 1) && dsm_link_free(l) == 4 &&
	       dsm_link_statistics(l)->refused == 1,
	       "what was never sent is acknowledged");
	hear(l, 1, 0, 0, false);
	expect(dsm_link_free(l) == 4 &&
	       dsm_link_statistics(l)->refused == 1, "an old ack counts");
	hear(l, 1, 0, 5, false);
	expect(dsm_link_idle(l, 1) && dsm_link_free(l) == 8,
	       "acknowledged frames stay");
	free(l);
}

/* An old ack takes back nothing. */
static void old_ack(void)
{
	struct dsm_link *l = alone(2, 2, 8);

	expect(!say(l, 1, 0) && !say(l, 1, 0), "no room for two frames");
	hear(l, 1, 0, 1, false);
	hear(l, 1, 0, 0, false);
	expect(!say(l, 1, 0) && said.sends == 1,
	       "an old ack closes the window");
	free(l);
}

/* Frames too early, twice, too late and outside of the window. */
static void out_of_order(void)
{
	struct dsm_link *l = alone(2, 4, 8);

	hear(l, 1, 1, 0, true);
	expect(!said.messages && said.sends == 1 && dsm_link_free(l) == 7,
	       "an early frame is not kept, or not acknowledged at once");
	hear(l, 1, 1, 0, true);
	expect(!said.messages && dsm_link_free(l) == 7 &&
	       dsm_link_statistics(l)->twice == 1, "kept twice");
	hear(l, 1, 0, 0, true);
	expect(said.messages == 2, "the gap is filled, but nothing follows");
	hear(l, 1, 0, 0, true);
	expect(!said.messages && said.sends == 1 && dsm_link_free(l) == 8,
	       "delivered twice, or not acknowledged again");
	hear(l, 1, 6, 0, true);
	expect(!said.messages && dsm_link_free(l) == 8,
	       "kept from outside of the window");
	hear(l, 1, 4, 0, true);
	hear(l, 1, 3, 0, true);
	hear(l, 1, 2, 0, true);
	expect(said.messages == 3, "an early frame before another is lost");
	free(l);
}

static void no_room(void)
{
	struct dsm_link *l = alone(2, 4, 8);

	expect(say(l, 1, 200) == -EINVAL && dsm_link_free(l) == 8,
	       "a frame that is too long costs room");
	expect(say(l, 2, 0) == -EINVAL, "sent to a node that is none");
	expect(say(l, 0, 0) == -EINVAL, "sent to itself");
	for (int i = 0; i < 8; i++)
		expect(!say(l, 1, 0), "no room for eight frames");
	expect(say(l, 1, 0) == -ENOSPC &&
	       dsm_link_statistics(l)->refused == 4, "a ninth frame");
	free(l);
}

/* A silent peer has its share of the pool, and half of it, and no more. */
static void silent_peer(void)
{
	struct dsm_link *l = alone(4, 32, 240);
	int sent = 0, early = 0;

	while (!say(l, 3, 0))
		sent++;
	expect(sent == 160 && !dsm_link_room(l, 3), "not 120 and 40 frames");
	for (int i = 0; i < 40; i++)
		expect(!say(l, 1, 0), "no room for a peer that answers");
	expect(say(l, 1, 0) == -ENOSPC && dsm_link_room(l, 2) == 40,
	       "another peer's share is used");
	hear(l, 1, 0, 40, false);
	expect(dsm_link_room(l, 1) == 40 && !say(l, 1, 0),
	       "a share does not come back");
	/* What comes early is held as well. */
	for (int i = 1; i < 32; i++)
		hear(l, 3, i, 0, true);
	early = dsm_link_statistics(l)->early;
	expect(!early && dsm_link_free(l) == 79, "kept beyond the share");
	dsm_link_reset(l, 3, 0);
	expect(dsm_link_room(l, 3) == 160 && dsm_link_room(l, 2) == 160 &&
	       dsm_link_free(l) == 239, "the pool is not whole again");
	free(l);
}

/* More to send than one call can ask for: the next tick has the rest. */
static void many_peers(void)
{
	struct dsm_link *l = alone(70, 4, 128);

	for (u16 n = 1; n < 70; n++)
		hear(l, n, 0, 0, true);
	dsm_link_tick(l, 20, &said);
	expect(said.sends == 64, "64 acks at once");
	dsm_link_tick(l, 20, &said);
	expect(said.sends == 5, "5 more acks");
	for (u16 n = 1; n < 70; n++)
		expect(!say(l, n, 0), "no room for a frame to each");
	dsm_link_tick(l, 50, &said);
	expect(said.sends == 64, "64 frames at once");
	dsm_link_tick(l, 50, &said);
	expect(said.sends == 5, "5 more frames");
	free(l);
}

/* A peer born again: what was kept for it is room again. */
static void reset(void)
{
	struct dsm_link *l = alone(2, 4, 8);

	expect(!say(l, 1, 0) && !say(l, 1, 0), "no room for two frames");
	hear(l, 1, 2, 0, true);
	hear(l, 1, 3, 0, true);
	expect(dsm_link_free(l) == 4, "two sent and two early frames");
	dsm_link_reset(l, 1, 0);
	expect(dsm_link_free(l) == 8 && dsm_link_idle(l, 1),
	       "a forgotten peer's frames stay");
	free(l);
}

static void stumps(void)
{
	static const u8 frame[sizeof(struct dsm_frame)];
	struct dsm_link *l = alone(2, 4, 8);

	dsm_link_receive(l, 0, &header, sizeof(header), 0, &said);
	dsm_link_receive(l, 2, &header, sizeof(header), 0, &said);
	expect(dsm_link_statistics(l)->refused == 2,
	       "a frame from ourselves or from nobody is taken");
	dsm_link_receive(l, 1, frame, 4, 0, &said);
	expect(!said.messages && !said.sends &&
	       dsm_link_statistics(l)->refused == 3,
	       "a frame without a whole header is taken");
	free(l);
}

/* A good header but for one field. */
static void header_spoilt(void)
{
	struct dsm_link *l = alone(2, 4, 8);
	static u32 wide[64];
	struct dsm_frame h;
	u64 refused = 0;

#define SPOILT(field, value) do {					\
		h = header;						\
		h.field = (value);					\
		dsm_link_receive(l, 1, &h, sizeof(h), 0, &said);	\
		expect(dsm_link_statistics(l)->refused == ++refused,	\
		       "taken: " #field " = " #value);			\
	} while (0)
	SPOILT(magic, 0);
	SPOILT(version, 0);
	SPOILT(version, 2);
	SPOILT(flags, 4);
	SPOILT(len, sizeof(h) - 1);
	SPOILT(len, sizeof(h) + 1);
	SPOILT(from, 1);
	SPOILT(to, 1);
#undef SPOILT
	/* As long as it says, and longer than any that we send. */
	memcpy(wide, &header, sizeof(header));
	((struct dsm_frame *)wide)->len = 201;
	dsm_link_receive(l, 1, wide, 201, 0, &said);
	expect(dsm_link_statistics(l)->refused == ++refused, "too long");
	h = header;
	dsm_link_receive(l, 1, &h, sizeof(h), 0, &said);
	expect(dsm_link_statistics(l)->refused == refused, "not taken");
	free(l);
}

/* What Ethernet adds is no message, and nothing to acknowledge. */
static void padding(void)
{
	struct dsm_link *l = alone(2, 4, 8);
	u8 frame[PAD] = { 0 };

	memcpy(frame, &header, sizeof(header));
	dsm_link_receive(l, 1, frame, sizeof(frame), 0, &said);
	dsm_link_tick(l, 1000, &said);
	expect(!said.sends && !said.messages, "a padded ack is answered");
	free(l);
}

/* A link whose frames hold 24 bytes, and what a peer's pieces make of it. */
static struct dsm_link *narrow(u16 nodes, u16 frames)
{
	struct dsm_link_config c = { .nodes = nodes, .frames = frames, .window = 8,
		.frame_max = 44, .message_max = 120, .timeout = 50,
		.delay = 20 };
	struct dsm_link *l = malloc(dsm_link_size(&c));

	expect(l && !dsm_link_init(l, &c), "cannot set up a link");
	return l;
}

static u32 piece_of(struct dsm_link *l, u16 from, u32 seq, u8 flags)
{
	struct whole f = { .h = header };

	f.h.seq = seq;
	f.h.flags = flags;
	f.h.len = WHOLE - sizeof(f.body);
	dsm_link_receive(l, from, &f.h, f.h.len, 0, &said);
	return said.messages;
}

static u32 piece(struct dsm_link *l, u32 seq, u8 flags)
{
	return piece_of(l, 1, seq, flags);
}

static void pieces_sent(void)
{
	struct dsm_link *l = narrow(2, 16);

	expect(!say(l, 1, 76) && said.sends == 5 &&
	       dsm_link_free(l) == 11, "not five pieces");
	expect(say(l, 1, 77) == -EINVAL, "more than the buffer holds");
	expect(!say(l, 1, 76) && !say(l, 1, 76) &&
	       say(l, 1, 76) == -ENOSPC && dsm_link_free(l) == 1,
	       "half a message is sent");
	expect(!say(l, 1, 0), "no room for what fits");
	free(l);
}

static const u8 more = DSM_FRAME_MORE, rest = DSM_FRAME_REST;

/* Two messages in pieces, all of them early but the first. */
static void pieces(void)
{
	struct dsm_link *l = narrow(2, 16);

	piece(l, 1, rest);
	piece(l, 2, more);
	piece(l, 3, rest);
	expect(piece(l, 0, more) == 1 && said.more &&
	       said.message[0].len == sizeof(header) + 48,
	       "not the first of two messages");
	/* Others are kept while the second one waits. */
	expect(piece(l, 5, 0) == 1 && !said.more &&
	       dsm_link_statistics(l)->early == 4, "not the second message");
	expect(piece(l, 4, 0) == 2 && dsm_link_free(l) == 16,
	       "not all that was kept");
	free(l);
	l = narrow(2, 16);
	piece(l, 1, rest);
	piece(l, 2, more);
	piece(l, 3, rest);
	piece(l, 0, more);
	/* It is here already. */
	expect(piece(l, 2, more) == 1 && !said.more &&
	       dsm_link_statistics(l)->twice == 1 && dsm_link_free(l) == 16,
	       "taken twice");
	free(l);
}

/* Pieces that do not fit are dropped, the next message is whole. */
static void pieces_amiss(void)
{
	struct dsm_link *l = narrow(2, 16);

	expect(!piece(l, 0, rest) && !piece(l, 1, more) &&
	       !piece(l, 2, more | rest) && !piece(l, 3, more | rest) &&
	       !piece(l, 4, more | rest) && !piece(l, 5, rest) &&
	       dsm_link_statistics(l)->refused == 2, "too long a message");
	expect(!piece(l, 6, more) && piece(l, 7, 0) == 1 &&
	       said.message[0].len == sizeof(header) + 24 &&
	       !piece(l, 8, rest), "half a message is there");
	expect(!piece(l, 9, more) && !piece(l, 10, more) &&
	       piece(l, 11, rest) == 1 &&
	       said.message[0].len == sizeof(header) + 48,
	       "half a message goes on in another");
	free(l);
}

/* More messages wait than one call hands up. */
static void many_wait(void)
{
	struct dsm_link *l = narrow(70, 300);

	for (u16 n = 1; n < 70; n++) {
		piece_of(l, n, 1, rest);
		piece_of(l, n, 2, more);
		piece_of(l, n, 3, rest);
		expect(piece_of(l, n, 0, more) == 1 && said.more,
		       "nothing waits");
	}
	dsm_link_tick(l, 0, &said);
	expect(said.messages == 64 && said.more, "64 messages at once");
	dsm_link_tick(l, 0, &said);
	expect(said.messages == 5 && !said.more, "5 more messages");
	free(l);
}

/* Frames as they are: out of order, doubled, in order and once. */
static void apart(void)
{
	struct dsm_link_config c = { .nodes = 2, .frames = 8, .window = 8,
		.frame_max = 44, .message_max = 120, .apart = true };
	struct dsm_link *l = malloc(dsm_link_size(&c));
	struct dsm_link_config joined = c;

	joined.apart = false;
	expect(dsm_link_size(&c) + 2 * 120 == dsm_link_size(&joined),
	       "a buffer that nobody uses");
	expect(l && !dsm_link_init(l, &c), "cannot set up a link");
	expect(!piece(l, 2, rest) && !piece(l, 1, more | rest) &&
	       !piece(l, 1, more | rest), "a frame before its turn");
	expect(piece(l, 0, more) == 3 && !said.more, "not all three frames");
	for (u32 i = 0; i < 3; i++)
		expect(said.message[i].len == sizeof(header) + 24 &&
		       ((const struct dsm_frame *)said.message[i].frame)->seq ==
		       i, "not the frames as they came");
	expect(!piece(l, 1, more | rest), "a frame again");
	free(l);
}

static void malformed(void)
{
	struct whole f = { .h.body = 8, .m.type = DSM_INV, .m.src = 1 };
	/* Of its own size, so that the sanitizer sees who reads on. */
	void *stump = calloc(1, sizeof(f.h) + 1);
	struct dsm_event ev;
	const void *page;

	expect(dsm_frame_parse(&f.h, WHOLE, 1, 0, &ev, &page),
	       "a good frame is refused");
	expect(!dsm_frame_parse(&f.h, WHOLE - 9, 1, 0, &ev, &page) &&
	       !dsm_frame_parse(stump, sizeof(f.h) + 1, 1, 0, &ev, &page),
	       "a frame shorter than a message is taken");
	expect(!dsm_frame_parse(&f.h, WHOLE, 0, 0, &ev, &page),
	       "a frame in another node's name is taken");
	f.h.body = 9;
	expect(!dsm_frame_parse(&f.h, WHOLE, 1, 0, &ev, &page),
	       "a body longer than its frame is taken");
	f.h.body = 7;
	expect(!dsm_frame_parse(&f.h, WHOLE, 1, 0, &ev, &page),
	       "a byte behind the body is taken");
	free(stump);
}

void link_by_hand(void)
{
	configurations();
	windows();
	old_ack();
	out_of_order();
	no_room();
	reset();
	stumps();
	header_spoilt();
	padding();
	pieces_sent();
	pieces();
	pieces_amiss();
	many_wait();
	apart();
	malformed();
	many_peers();
	silent_peer();
}
