// SPDX-License-Identifier: GPL-2.0
/*
 * What one engine must refuse, each time for one reason only: an event or a
 * message with one field that cannot be, a wish that comes at the wrong
 * moment, an answer of the wrong kind.  Called by engine_test.c.
 */
#include "engine_test.h"

static const struct dsm_action *a;

/* Page of node 1, which has it alone or with a copy at node 2. */
static void page_here(u8 protocol, u8 mode, bool shared)
{
	struct dsm_config c = usual;

	c.protocol = protocol;
	c.mode = protocol == DSM_WI ? DSM_MODE_WI : DSM_MODE_MW;
	begin(&c);
	place(0, 1, shared ? 2 : NOBODY, mode);
}

static u64 refused(void)
{
	return dsm_statistics(d)->refused;
}

static bool failed(void)
{
	return did(DSM_ACT_FAIL, NULL) == 1 && out.count == 1;
}

/* An event that spoils one field. */
#define SPOILT(field, value) do {					\
	struct dsm_event ev = { .type = DSM_EV_FAULT };			\
	begin(&usual);							\
	ev.field = (value);						\
	dsm_step(d, &ev, &out);						\
	CHECK(failed() && !dsm_cpu_holds(d, 0));			\
} while (0)

static void events(void)
{
	SPOILT(cpu, 1);
	SPOILT(page, 4);
	SPOILT(node, 4);
	SPOILT(mode, DSM_MODES);
	SPOILT(touch, DSM_EXCLUSIVE + 1);
	SPOILT(word, DSM_PAGE_SIZE / 8);
	SPOILT(type, DSM_EV_AGAIN + 1);
}

/* A message that would be obeyed but for one field. */
#define FORGED(field, value) do {					\
	struct dsm_msg m = { .type = DSM_INV, .src = 2, .ver = 1 };	\
	begin(&usual);							\
	message(m, NULL, 0);						\
	CHECK(sent(DSM_INV_ACK, NULL) == 1 && !refused());		\
	m.field = (value);						\
	message(m, NULL, 0);						\
	CHECK(!out.count && refused() == 1);				\
} while (0)

static void messages(void)
{
	static const u8 body[DSM_BODY_MAX + 1];

	FORGED(type, DSM_MSGS);
	FORGED(src, 4);
	FORGED(src, 1);
	FORGED(node, 4);
	FORGED(page, 4);
	FORGED(mode, DSM_MODES);
	message((struct dsm_msg){ .type = DSM_INV, .src = 2 }, body,
		sizeof(body));
	CHECK(!out.count && refused() == 2);
	die(2);
	message((struct dsm_msg){ .type = DSM_INV, .src = 2 }, NULL, 0);
	CHECK(!out.count && refused() == 3);
}

/* One record that cannot be, behind one that can. */
static void update(u8 protocol, struct dsm_write w, u16 len, bool good)
{
	static struct dsm_write all[DSM_BATCH_MAX + 1];

	page_here(protocol, protocol == DSM_WI ? DSM_MODE_WI : DSM_MODE_MW,
		  true);
	for (int i = 0; i <= DSM_BATCH_MAX; i++)
		all[i] = (struct dsm_write){ .clock = 1 + i, .mask = 1,
					     .word = i };
	all[1] = w;
	message((struct dsm_msg){ .type = DSM_UPD, .src = 2, .tag = 60 },
		all, len);
	CHECK(!did(DSM_ACT_APPLY, NULL) == !good && !refused() == good);
}

static void updates(void)
{
	const u16 two = 2 * sizeof(struct dsm_write);
	struct dsm_write w = { .clock = 60, .mask = 1, .word = 511 };

	update(DSM_WU, w, two, true);
	update(DSM_WU, w, two + 1, false);
	update(DSM_WI, w, two, false);
	update(DSM_WU, w, DSM_BATCH_MAX / 2 * two, true);
	update(DSM_WU, w, (DSM_BATCH_MAX / 2 + 1) * two - two / 2, false);
	w.page = 4;
	update(DSM_WU, w, two, false);
	w.page = 0;
	w.mask = 0;
	update(DSM_WU, w, two, false);
	w.mask = 1;
	w.word = 512;
	update(DSM_WU, w, two, false);
	w.word = 0;
	w.clock = 0;
	update(DSM_WU, w, two, false);
	w.clock = 61;
	update(DSM_WU, w, two, false);
}

static void hint(u8 mode, bool good)
{
	struct dsm_event ev = { .type = DSM_EV_HINT, .mode = mode };

	dsm_step(d, &ev, &out);
	CHECK(failed() == !good);
	CHECK(sent(DSM_MODE, NULL) == good);
}

/* A hint must be for a mode that the protocol knows, another, and at rest. */
static void hints(void)
{
	page_here(DSM_WI, DSM_MODE_WI, false);
	hint(DSM_MODE_WI, false);
	hint(DSM_MODE_MW, false);
	hint(DSM_MODE_SW, false);
	page_here(DSM_WU, DSM_MODE_WI, false);
	hint(DSM_MODE_SW, false);
	hint(DSM_MODE_MW, true);
	hint(DSM_MODE_WI, false);	/* not before all have answered */
	page_here(DSM_WUPLUS, DSM_MODE_MW, true);
	hint(DSM_MODE_SW, true);
	page_here(DSM_WUPLUS, DSM_MODE_MW, true);
	hint(DSM_MODE_WI, true);
	page_here(DSM_WUPLUS, DSM_MODE_WI, false);
	event(DSM_EV_FAULT, 0, DSM_EXCLUSIVE);
	hint(DSM_MODE_MW, false);
	event(DSM_EV_RETIRED, 0, 0);
	event(DSM_EV_PIN, 0, 0);
	hint(DSM_MODE_MW, false);
	event(DSM_EV_UNPIN, 0, 0);
	die(2);
	hint(DSM_MODE_MW, false);
}

/* A mode that the protocol does not have is not believed, nor MODE under wi. */
static void foreign_mode(u8 protocol, u8 mode, bool good)
{
	page_here(protocol, 0, true);
	place(3, 3, 1, DSM_MODE_WI);
	message((struct dsm_msg){ .type = DSM_MODE, .src = 3, .page = 3,
				  .mode = mode }, NULL, 0);
	CHECK(sent(DSM_MODE_ACK, NULL) == good && refused() == !good);
	CHECK(dsm_page_mode(d, 3) == (good ? mode : DSM_MODE_WI));
}

static void foreign_modes(void)
{
	struct dsm_set none;

	foreign_mode(DSM_WI, DSM_MODE_WI, false);
	foreign_mode(DSM_WI, DSM_MODE_MW, false);
	foreign_mode(DSM_WU, DSM_MODE_SW, false);
	foreign_mode(DSM_WU, DSM_MODE_MW, true);
	foreign_mode(DSM_WUPLUS, DSM_MODE_SW, true);
	set_clear(&none);
	CHECK(dsm_place(d, 0, 1, &none, DSM_MODE_SW) == 0);
	begin(&usual);
	CHECK(dsm_place(d, 0, 1, &none, DSM_MODE_SW) == -EINVAL);
}

static void evict(bool good)
{
	event(DSM_EV_EVICT, 0, 0);
	CHECK(failed() == !good && sent(DSM_EVICT, NULL) == good);
}

/* Nothing leaves that somebody works with. */
static void evictions(void)
{
	page_here(DSM_WI, DSM_MODE_WI, false);
	event(DSM_EV_FAULT, 0, DSM_EXCLUSIVE);
	evict(false);
	event(DSM_EV_RETIRED, 0, 0);
	event(DSM_EV_PIN, 0, 0);
	evict(false);
	event(DSM_EV_UNPIN, 0, 0);
	evict(true);
	die(2);
	evict(false);
	page_here(DSM_WI, DSM_MODE_WI, true);
	event(DSM_EV_FAULT, 0, DSM_EXCLUSIVE);
	CHECK(sent(DSM_INV, NULL) == 1);
	evict(false);
	begin(&usual);
	event(DSM_EV_FAULT, 2, DSM_READ);
	event(DSM_EV_EVICT, 2, 0);
	CHECK(failed());
}

/* The manager fetches what it does not have, and only from others. */
static void evict_asked(void)
{
	begin(&usual);
	message((struct dsm_msg){ .type = DSM_EVICT, .src = 2, .page = 1 },
		NULL, 0);
	CHECK(!out.count && !refused());
	message((struct dsm_msg){ .type = DSM_EVICT, .src = 2, .page = 0 },
		NULL, 0);
	CHECK(!out.count && refused() == 1);
	place(1, 2, NOBODY, DSM_MODE_WI);
	die(3);
	message((struct dsm_msg){ .type = DSM_EVICT, .src = 2, .page = 1 },
		NULL, 0);
	CHECK(!out.count && dsm_page_state(d, 1) == DSM_I);
	begin(&usual);
	place(1, 2, NOBODY, DSM_MODE_WI);
	message((struct dsm_msg){ .type = DSM_EVICT, .src = 2, .page = 1 },
		NULL, 0);
	CHECK(sent(DSM_GET_O, &a) == 1 && set_has(&a->to, 2));
	/* On its way already. */
	message((struct dsm_msg){ .type = DSM_EVICT, .src = 2, .page = 1 },
		NULL, 0);
	CHECK(!out.count && !refused());
}

static void pins(void)
{
	page_here(DSM_WI, DSM_MODE_WI, true);
	event(DSM_EV_PIN, 0, 0);
	CHECK(failed());
	event(DSM_EV_UNPIN, 0, 0);
	CHECK(failed());
	page_here(DSM_WI, DSM_MODE_WI, false);
	for (int i = 0; i < 0xffff; i++) {
		event(DSM_EV_PIN, 0, 0);
		CHECK(!out.count);
	}
	event(DSM_EV_PIN, 0, 0);
	CHECK(failed());
	for (int i = 0; i < 0xffff; i++)
		event(DSM_EV_UNPIN, 0, 0);
	CHECK(!out.count);
	event(DSM_EV_UNPIN, 0, 0);
	CHECK(failed());
}

static void ack(u8 type, u16 src, u32 ver, enum dsm_state then, u64 bad)
{
	message((struct dsm_msg){ .type = type, .src = src, .ver = ver },
		NULL, 0);
	CHECK(dsm_page_state(d, 0) == then && refused() == bad);
}

/* Only the right kind, of the right number, from one who was asked. */
static void acks(void)
{
	page_here(DSM_WUPLUS, DSM_MODE_WI, true);
	event(DSM_EV_FAULT, 0, DSM_EXCLUSIVE);
	ack(DSM_MODE_ACK, 2, 0, DSM_OI, 1);
	ack(DSM_INV_ACK, 3, 0, DSM_OI, 2);
	ack(DSM_INV_ACK, 2, 1, DSM_OI, 3);
	ack(DSM_INV_ACK, 2, 0, DSM_M, 3);
	ack(DSM_INV_ACK, 2, 0, DSM_M, 4);
	page_here(DSM_WUPLUS, DSM_MODE_WI, false);
	hint(DSM_MODE_MW, true);
	ack(DSM_MODE_ACK, 2, 0, DSM_OC, 0);
	ack(DSM_MODE_ACK, 2, 0, DSM_OC, 1);
	ack(DSM_MODE_ACK, 3, 1, DSM_OC, 2);
	ack(DSM_MODE_ACK, 3, 0, DSM_OC, 2);
	ack(DSM_INV_ACK, 0, 0, DSM_OC, 3);
	ack(DSM_MODE_ACK, 0, 0, DSM_M, 3);
	CHECK(dsm_page_mode(d, 0) == DSM_MODE_MW);
}

/* One INV at a time waits for an instruction; an answer is for who asked. */
static void invalidations(void)
{
	struct dsm_config c = usual;

	c.cpus = 2;
	begin(&c);
	event(DSM_EV_FAULT, 0, DSM_READ);
	CHECK(sent(DSM_GET_S, &a) == 1);
	for (u16 node = 2; node > 0; node--) {
		message((struct dsm_msg){ .type = DSM_DATA_S, .node = node,
					  .tag = a->msg.tag,
					  .flags = DSM_F_DATA }, NULL, 0);
		CHECK(did(DSM_ACT_RETRY, NULL) == (node == 1));
	}
	message((struct dsm_msg){ .type = DSM_INV, .src = 2, .ver = 9 },
		NULL, 0);
	CHECK(!out.count && refused() == 1);
	message((struct dsm_msg){ .type = DSM_INV, .src = 3, .ver = 1 },
		NULL, 0);
	CHECK(!out.count && refused() == 2);
}

/* We own the page by the time: it says nothing of who does. */
static void late_invalidation(void)
{
	struct dsm_event ev = { .type = DSM_EV_FAULT, .cpu = 1,
				.touch = DSM_EXCLUSIVE };

	invalidations();
	dsm_step(d, &ev, &out);
	CHECK(sent(DSM_GET_X, &a) == 1);
	message((struct dsm_msg){ .type = DSM_DATA_X, .node = 1, .ver = 2,
				  .tag = a->msg.tag }, (u64[1]){ 0 }, 8);
	CHECK(dsm_page_state(d, 0) == DSM_M);
	ev.type = DSM_EV_RETIRED;
	dsm_step(d, &ev, &out);
	event(DSM_EV_RETIRED, 0, 0);
	CHECK(sent(DSM_INV_ACK, &a) == 1 && set_has(&a->to, 2));
	message((struct dsm_msg){ .type = DSM_GET_X, .src = 3, .node = 3 },
		NULL, 0);
	CHECK(sent(DSM_DATA_X, &a) == 1 && a->msg.ver == 3);
}

/* A request of ours that we did not make. */
static void own_request(void)
{
	begin(&usual);
	event(DSM_EV_FAULT, 2, DSM_READ);
	CHECK(dsm_page_state(d, 2) == DSM_IS);
	message((struct dsm_msg){ .type = DSM_GET_X, .src = 3, .node = 1,
				  .page = 2, .flags = DSM_F_DIRECTED },
		NULL, 0);
	CHECK(!out.count && refused() == 1);
}

/* What a recovery says counts during that recovery only. */
static void recoveries(void)
{
	begin(&usual);
	place(3, 3, 1, DSM_MODE_WI);
	tells(3, DSM_TAKE, 3, 1, 0, 2);
	CHECK(refused() == 1 && dsm_page_state(d, 3) == DSM_S);
	/* Only a FLUSH may be early. */
	says(2, DSM_HOLD_END, 1);
	CHECK(refused() == 2);
	die(0);
	event(DSM_EV_AGAIN, 0, 0);
	/* One that does not say who has died, or of another death, is none. */
	message((struct dsm_msg){ .type = DSM_FLUSH, .src = 2 }, NULL, 0);
	CHECK(refused() == 3);
	says(2, DSM_FLUSH, 8);
	says(3, DSM_FLUSH, 1);
	CHECK(!sent(DSM_HOLD_END, NULL));
	tells(2, DSM_TAKE, 2, 1, 0, 2);
	tells(3, DSM_MSGS, 3, 1, 0, 2);
	CHECK(refused() == 5 && dsm_page_state(d, 3) == DSM_S);
	says(2, DSM_FLUSH, 1);
	tells(2, DSM_TAKE, 3, 1, 0, 2);
	CHECK(refused() == 6 && dsm_page_state(d, 3) == DSM_S);
	/* Nobody reports to us who are not the page's manager. */
	tells(3, DSM_HOLD, 2, 3, 0, 0);
	/* Nobody owns a page that is to be owned. */
	tells(3, DSM_OWNED, 3, DSM_NOBODY, 0, 0);
	CHECK(refused() == 8 && dsm_page_state(d, 3) == DSM_S);
	/* An owner hears of others' ownership in vain. */
	tells(1, DSM_OWNED, 1, 3, 0, 0);
	CHECK(refused() == 9 && dsm_page_state(d, 1) == DSM_M);
}

static u32 tag_of(u32 page)
{
	const struct dsm_action *a = NULL;

	event(DSM_EV_FAULT, page, DSM_READ);
	CHECK(sent(DSM_GET_S, &a) == 1);
	event(DSM_EV_RETIRED, 0, 0);
	return a->msg.tag;
}

/*
 * One tag does not tell the next: they are SipHash of 1, 2 and so on under
 * the caller's key, and another key has others.
 */
static void tags(void)
{
	struct dsm_config c = usual;

	begin(&c);
	CHECK(tag_of(0) == 0x85e6d1f6 && tag_of(2) == 0xfa30eb6d);
	c.key[1]++;
	begin(&c);
	CHECK(tag_of(0) != 0x85e6d1f6);
	c.key[0] = 0;
	begin(&c);
	CHECK(tag_of(0) != 1);
	c.key[1] = 0;
	begin(&c);
	CHECK(tag_of(0) == 1 && tag_of(2) == 1);
}

/* Bytes of a page that are awaited but for one field of their message. */
#define UNAWAITED(field, value) do {					\
	struct dsm_msg m = answer;					\
	m.field = (value);						\
	CHECK(!dsm_page_awaits(d, &m));					\
} while (0)

static void awaited(void)
{
	struct dsm_msg answer = { .type = DSM_DATA_S, .node = 1, .page = 2,
				  .flags = DSM_F_DATA };

	begin(&usual);
	CHECK(!dsm_page_awaits(d, &answer));
	answer.tag = tag_of(2);
	CHECK(dsm_page_awaits(d, &answer));
	UNAWAITED(type, DSM_DATA_O);
	UNAWAITED(type, DSM_INV);
	UNAWAITED(type, DSM_MSGS);
	UNAWAITED(flags, 0);
	UNAWAITED(node, 0);
	UNAWAITED(tag, answer.tag + 1);
	UNAWAITED(page, 3);
	UNAWAITED(page, 4);
	message(answer, NULL, 0);
	CHECK(did(DSM_ACT_INSTALL, NULL) == 1 && !dsm_page_awaits(d, &answer));
	/* What is here must stay as it is. */
	event(DSM_EV_FAULT, 2, DSM_EXCLUSIVE);
	CHECK(sent(DSM_GET_X, &a) == 1);
	answer.type = DSM_DATA_X;
	answer.tag = a->msg.tag;
	CHECK(!dsm_page_awaits(d, &answer));
	message((struct dsm_msg){ .type = DSM_INV, .src = 2, .page = 2,
				  .ver = 1 }, NULL, 0);
	CHECK(dsm_page_awaits(d, &answer));
}

void refuse_tests(void)
{
	tags();
	events();
	messages();
	updates();
	hints();
	foreign_modes();
	evictions();
	evict_asked();
	pins();
	acks();
	late_invalidation();
	own_request();
	recoveries();
	awaited();
	free(d);
}
