// SPDX-License-Identifier: GPL-2.0
/*
 * Corners of one engine that whole clusters reach rarely or never: what
 * cannot be configured, what is too much for one step, what arrives in an
 * unusual order.  Each test feeds one engine by hand and looks at what it
 * does.  Exit 0 if all is well; prints the first thing that is not.
 */
#include "engine_test.h"

/* A member that spoils the configuration alone. */
#define SPOILT(member, value) do {					\
	struct dsm_config c = usual;					\
	c.member = (value);						\
	CHECK(!dsm_size(&c));						\
	CHECK(dsm_init(d, &c) == -EINVAL);				\
} while (0)

static void configurations(void)
{
	struct dsm_config c = usual;
	struct dsm_set set;

	begin(&usual);
	SPOILT(nodes, 0);
	SPOILT(nodes, DSM_NODES_MAX + 1);
	SPOILT(self, 4);
	SPOILT(cpus, 0);
	SPOILT(cpus, DSM_CPUS_MAX + 1);
	SPOILT(protocol, DSM_PROTOCOLS);
	SPOILT(order, DSM_ORDER_TOTAL + 1);
	SPOILT(mode, DSM_MODES);
	SPOILT(mode, DSM_MODE_MW);
	SPOILT(pages, 0);
	SPOILT(pages, 0xffffffffu);
	SPOILT(chunk, 0);
	SPOILT(requests, 3);
	SPOILT(requests, 0xffff);
	SPOILT(inflight, 0xffff);
	SPOILT(batch, 0);
	SPOILT(batch, DSM_BATCH_MAX + 1);
	SPOILT(probowners, DSM_PROBOWNER_MAX + 1);
	SPOILT(window, 0);
	SPOILT(window, 63);
	SPOILT(window, 1u << 25);
	c.knobs = 1;
	CHECK(dsm_init(d, &c) == -EINVAL);
	c = usual;
	c.requests = 300;
	c.nodes = DSM_NODES_MAX;
	CHECK(dsm_size(&c));
	c.nodes++;
	CHECK(!dsm_size(&c));
	c = usual;
	c.protocol = DSM_WU;
	c.mode = DSM_MODES;
	CHECK(!dsm_size(&c));
	c.mode = DSM_MODE_MW;
	c.window = 4;
	CHECK(!dsm_size(&c));
	c.window = 8;
	CHECK(dsm_size(&c));
	c.order = DSM_ORDER_FIFO;
	CHECK(dsm_init(d, &c) == -EPROTO);
	set_clear(&set);
	CHECK(dsm_place(d, 4, 0, &set, DSM_MODE_WI) == -EINVAL);
	CHECK(dsm_place(d, 0, 4, &set, DSM_MODE_WI) == -EINVAL);
	CHECK(dsm_place(d, 0, 0, &set, DSM_MODES) == -EINVAL);
	set_add(&set, 0);
	CHECK(dsm_place(d, 0, 0, &set, DSM_MODE_WI) == -EINVAL);
	set_add(&set, 1);
	CHECK(!dsm_place(d, 0, 3, &set, DSM_MODE_WI));
	CHECK(dsm_page_state(d, 0) == DSM_S);
}

/* A copy that an INV overtook is fetched again, the fourth to write. */
static void overtaken(void)
{
	const struct dsm_action *a = NULL;
	u32 tag;

	begin(&usual);
	event(DSM_EV_FAULT, 0, DSM_READ);
	for (int i = 0; i < 4; i++) {
		CHECK(sent(DSM_GET_S, &a) == 1 && !sent(DSM_GET_X, NULL));
		tag = a->msg.tag;
		if (!i)
			message((struct dsm_msg){ .type = DSM_INV, .ver = 5,
						  .src = 2 }, NULL, 0);
		message((struct dsm_msg){ .type = DSM_DATA_S, .ver = 1,
					  .tag = tag, .node = 1,
					  .flags = DSM_F_DATA }, NULL, 0);
		CHECK(!did(DSM_ACT_INSTALL, NULL));
	}
	CHECK(sent(DSM_GET_X, NULL) == 1 && !sent(DSM_GET_S, NULL));
	CHECK(dsm_page_state(d, 0) == DSM_IM);
}

/* No instruction touches one more: those before belong to another. */
static void too_many_pages(void)
{
	struct dsm_config c = usual;

	c.protocol = DSM_WU;
	c.pages = DSM_TOUCH_MAX + 1;
	begin(&c);
	for (u32 p = 0; p < c.pages; p++) {
		place(p, 1, NOBODY, DSM_MODE_WI);
		event(DSM_EV_FAULT, p, DSM_EXCLUSIVE);
		CHECK(did(DSM_ACT_RETRY, NULL) == 1);
	}
	CHECK(dsm_cpu_holds(d, 0));
	event(DSM_EV_HINT, DSM_TOUCH_MAX, 0);
	CHECK(did(DSM_ACT_FAIL, NULL));
	event(DSM_EV_HINT, 0, 0);
	CHECK(sent(DSM_MODE, NULL) == 1);
}

/* One instruction ends that held as many as it may, and each is wanted. */
static void all_let_go(void)
{
	struct dsm_config c = usual;
	int served = 0, steps = 0;

	c.pages = DSM_TOUCH_MAX;
	c.requests = DSM_TOUCH_MAX * c.nodes;
	begin(&c);
	for (u32 p = 0; p < c.pages; p++) {
		place(p, 1, NOBODY, DSM_MODE_WI);
		event(DSM_EV_FAULT, p, DSM_EXCLUSIVE);
		for (u16 n = 2; n < 4; n++)
			message((struct dsm_msg){ .type = DSM_GET_S, .src = n,
						  .node = n, .page = p }, NULL,
				0);
		CHECK(!sent(DSM_DATA_S, NULL));
	}
	event(DSM_EV_RETIRED, 0, 0);
	for (;;) {
		CHECK(!out.full && steps++ < 100);
		for (u32 i = 0; i < out.count; i++)
			if (out.act[i].type == DSM_ACT_SEND)
				served += set_has(&out.act[i].to, 2) +
					  set_has(&out.act[i].to, 3);
		if (!did(DSM_ACT_AGAIN, NULL))
			break;
		event(DSM_EV_AGAIN, 0, 0);
	}
	CHECK(served == 2 * DSM_TOUCH_MAX);
}

/*
 * More requests wait for a page than one step can answer, because of the
 * answers' number or of their bodies.
 */
static void long_queue(u8 protocol, u16 len)
{
	const struct dsm_action *a = NULL;
	struct dsm_config c = usual;
	struct dsm_set served;
	int steps = 0;

	c.nodes = 256;
	c.self = 0;
	c.requests = 300;
	c.protocol = protocol;
	c.window = 512;
	begin(&c);
	event(DSM_EV_PIN, 0, 0);
	for (u32 n = 1; n < 256; n++) {
		message((struct dsm_msg){ .type = DSM_GET_S, .src = n,
					  .node = n }, NULL, 0);
		CHECK(!out.count);
	}
	set_clear(&served);
	event(DSM_EV_UNPIN, 0, 0);
	do {
		CHECK(!out.full);
		for (u32 i = 0; i < out.count; i++)
			if (out.act[i].type == DSM_ACT_SEND) {
				CHECK(out.act[i].len == len);
				set_or(&served, &out.act[i].to);
			}
		if (!did(DSM_ACT_AGAIN, NULL))
			break;
		/* One more comes while the others still wait. */
		if (!steps++)
			message((struct dsm_msg){ .type = DSM_GET_S, .src = 9,
						  .node = 9, .tag = 77 },
				NULL, 0);
		event(DSM_EV_AGAIN, 0, 0);
	} while (steps < 100);
	CHECK(steps && sent(DSM_DATA_S, &a) && a->msg.tag == 77);
	for (u32 n = 1; n < 256; n++)
		CHECK(set_has(&served, n));
}

/* Who announces its clock sends the writes that wait, once. */
static void announcement(void)
{
	struct dsm_write w = { .page = 2, .clock = 40, .mask = 1 };
	const struct dsm_action *a = NULL;
	struct dsm_config c = updating();

	begin(&c);
	event(DSM_EV_FAULT, 0, DSM_WRITE);
	CHECK(did(DSM_ACT_DONE, NULL) == 1 && dsm_pending(d));
	message((struct dsm_msg){ .type = DSM_UPD, .src = 2, .tag = 40 },
		&w, sizeof(w));
	CHECK(sent(DSM_UPD, &a) == 1 && a->len == sizeof(w));
	CHECK(!dsm_pending(d));
	event(DSM_EV_TX_IDLE, 0, 0);
	CHECK(!out.count);
}

/*
 * Two updates of a word pass a page on its way here, which holds the newer
 * one only: the older one stays hidden, that of another word does not.
 */
static void hidden_in_flight(void)
{
	struct dsm_write old[2] = { { .clock = 5, .mask = 1 },
				    { .clock = 6, .mask = 1, .word = 1 } };
	struct dsm_write new = { .clock = 9, .mask = 1 };
	const struct dsm_action *a = NULL;
	struct dsm_config c = updating();
	u32 counts[4] = { 0, 0, 0, 1 };
	u32 tag;

	begin(&c);
	event(DSM_EV_FAULT, 0, DSM_READ);
	CHECK(sent(DSM_GET_S, &a) == 1);
	tag = a->msg.tag;
	message((struct dsm_msg){ .type = DSM_UPD, .src = 2, .tag = 6 },
		old, sizeof(old));
	message((struct dsm_msg){ .type = DSM_UPD, .src = 3, .tag = 9 },
		&new, sizeof(new));
	message((struct dsm_msg){ .type = DSM_DATA_S, .node = 1, .tag = tag,
				  .mode = DSM_MODE_MW, .flags = DSM_F_DATA },
		counts, sizeof(counts));
	CHECK(did(DSM_ACT_INSTALL, NULL) == 1);
	CHECK(did(DSM_ACT_APPLY, &a) == 1 && a->word == 1);
}

/* A write so old that the merge buffer has used its successor's slot again. */
static void old_write(void)
{
	struct dsm_write w = { .mask = 1 };
	struct dsm_config c = updating();

	begin(&c);
	place(0, 3, 1, DSM_MODE_MW);
	for (int i = 0; i < 3; i++) {
		w.clock = i == 0 ? 40 : i == 1 ? 40 + 256 / 4 : 39;
		message((struct dsm_msg){ .type = DSM_UPD, .src = 2 + i / 2,
					  .tag = w.clock }, &w, sizeof(w));
		CHECK(did(DSM_ACT_APPLY, NULL) == (i < 2));
	}
}

/* Writes of strangers share a chain of the buffer, and hide nothing. */
static void stranger(u32 page, u16 word)
{
	struct dsm_write new = { .clock = 3, .mask = 1 };
	struct dsm_write old = { .clock = 2, .mask = 1, .page = page,
				 .word = word };
	struct dsm_config c = updating();

	c.window = 8;
	c.pages = 64;
	begin(&c);
	place(0, 0, 1, DSM_MODE_MW);
	place(page, 0, 1, DSM_MODE_MW);
	message((struct dsm_msg){ .type = DSM_UPD, .src = 2, .tag = 3 },
		&new, sizeof(new));
	CHECK(did(DSM_ACT_APPLY, NULL) == 1);
	message((struct dsm_msg){ .type = DSM_UPD, .src = 3, .tag = 3 },
		&old, sizeof(old));
	CHECK(did(DSM_ACT_APPLY, NULL) == 1);
}

/* A write finds all newer ones of its word, whatever came between. */
static void long_chain(void)
{
	struct dsm_write w[] = { { .clock = 5, .mask = 1 },
				 { .clock = 8, .mask = 2 },
				 { .clock = 3, .mask = 1 } };
	struct dsm_config c = updating();

	begin(&c);
	place(0, 0, 1, DSM_MODE_MW);
	for (int i = 0; i < 3; i++) {
		message((struct dsm_msg){ .type = DSM_UPD, .src = 2 + i / 2,
					  .tag = w[i].clock }, &w[i],
			sizeof(*w));
		CHECK(did(DSM_ACT_APPLY, NULL) == (i < 2));
	}
}

/* A batch leaves when it is full, though the wire is busy. */
static void full_batch(void)
{
	const struct dsm_action *a = NULL;
	struct dsm_config c = updating();

	begin(&c);
	for (int i = 0; i < 4; i++) {
		CHECK(!sent(DSM_UPD, NULL));
		event(DSM_EV_FAULT, 0, DSM_WRITE);
	}
	CHECK(sent(DSM_UPD, &a) == 1 && !dsm_pending(d));
	CHECK(a->len == 4 * sizeof(struct dsm_write));
}

/* Updates pass a page on its way here: more than are kept, it comes again. */
static void many_in_flight(int count, bool again)
{
	struct dsm_write w = { .mask = 1 };
	const struct dsm_action *a = NULL;
	struct dsm_config c = updating();
	u32 counts[4] = { 0 };
	u32 tag;

	c.inflight = 64;
	begin(&c);
	event(DSM_EV_FAULT, 0, DSM_READ);
	CHECK(sent(DSM_GET_S, &a) == 1);
	tag = a->msg.tag;
	for (w.word = 0; w.word < count; w.word++) {
		w.clock = 1 + w.word;
		message((struct dsm_msg){ .type = DSM_UPD, .src = 2,
					  .tag = w.clock }, &w, sizeof(w));
	}
	message((struct dsm_msg){ .type = DSM_DATA_S, .node = 1, .tag = tag,
				  .mode = DSM_MODE_MW, .flags = DSM_F_DATA },
		counts, sizeof(counts));
	CHECK(did(DSM_ACT_INSTALL, NULL) == !again);
	CHECK(did(DSM_ACT_APPLY, NULL) == (again ? 0 : count));
	CHECK(sent(DSM_GET_S, NULL) == again);
}

/* No room to send: the writer waits until there is. */
static void full_queue(enum dsm_event_type then, u8 mode, u8 touch)
{
	struct dsm_event ev = { .type = DSM_EV_FAULT, .touch = touch,
				.mask = 1, .tx_full = true };
	struct dsm_config c = usual;

	c.protocol = DSM_WUPLUS;
	c.mode = DSM_MODE_MW;
	begin(&c);
	place(0, 1, 2, mode);
	dsm_step(d, &ev, &out);
	CHECK(!out.count && dsm_cpu_waits(d, 0));
	event(then, 0, 0);
	CHECK(did(DSM_ACT_RETRY, NULL) == 1);
}

/*
 * Who reads and then stores loses the copy while the store waits for room: with
 * many writers the store alone could go on, and what is read is fetched again.
 */
static void copy_lost(void)
{
	struct dsm_event ev = { .type = DSM_EV_FAULT, .touch = DSM_WRITE,
				.mask = 1, .tx_full = true };
	struct dsm_config c = updating();

	begin(&c);
	place(0, 0, 1, DSM_MODE_MW);
	dsm_step(d, &ev, &out);
	CHECK(!out.count && dsm_cpu_waits(d, 0));
	message((struct dsm_msg){ .type = DSM_INV, .ver = 5, .src = 0 },
		NULL, 0);
	CHECK(dsm_page_access(d, 0) == DSM_NONE);
	CHECK(did(DSM_ACT_RETRY, NULL) == 1);
	event(DSM_EV_FAULT, 0, DSM_READ);
	CHECK(!did(DSM_ACT_RETRY, NULL) && sent(DSM_GET_S, NULL) == 1);
}

/* An owner that wants to evict is asked while an instruction runs. */
static void evicted_later(void)
{

	begin(&usual);
	place(0, 1, NOBODY, DSM_MODE_WI);
	event(DSM_EV_EVICT, 0, 0);
	CHECK(sent(DSM_EVICT, NULL) == 1);
	event(DSM_EV_FAULT, 0, DSM_EXCLUSIVE);
	message((struct dsm_msg){ .type = DSM_GET_O, .ver = 1,
				  .flags = DSM_F_DIRECTED }, NULL, 0);
	CHECK(!out.count);
	event(DSM_EV_RETIRED, 0, 0);
	CHECK(sent(DSM_DATA_O, NULL) == 1 && did(DSM_ACT_EVICTED, NULL) == 1);
	CHECK(dsm_page_state(d, 0) == DSM_I);
}

int main(void)
{
	configurations();
	overtaken();
	too_many_pages();
	all_let_go();
	long_queue(DSM_WI, 0);
	long_queue(DSM_WU, 4 * DSM_NODES_MAX);
	announcement();
	hidden_in_flight();
	old_write();
	for (u16 i = 1; i < 64; i++) {
		stranger(i, 0);
		stranger(0, i);
	}
	long_chain();
	full_batch();
	many_in_flight(24, false);
	many_in_flight(25, true);
	full_queue(DSM_EV_TX_IDLE, DSM_MODE_MW, DSM_WRITE);
	full_queue(DSM_EV_TICK, DSM_MODE_MW, DSM_WRITE);
	copy_lost();
	full_queue(DSM_EV_TICK, DSM_MODE_SW, DSM_WRITE);
	full_queue(DSM_EV_TICK, DSM_MODE_SW, DSM_ATOMIC);
	evicted_later();
	free(d);
	recover_tests();
	member_tests();
	scale_tests();
	line_tests();
	refuse_tests();
	bounds_tests();
	order_tests();
	adapt_tests();
	ahead_tests();
	return 0;
}
