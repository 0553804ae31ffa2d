// SPDX-License-Identifier: GPL-2.0
/*
 * Sequenced write-update by hand: places and who may give them, logs that are
 * full, and pages that know more or less than we.  Run by engine_test.c.
 */
#include "engine_test.h"

#define LOG	16

static void ordered(u16 self, u32 log)
{
	struct dsm_config c = usual;

	c.protocol = DSM_WUSEQ;
	c.mode = DSM_MODE_MW;
	c.window = log;
	c.self = self;
	begin(&c);
	place(0, 2, 1, DSM_MODE_MW);
}

static void sequenced(u16 self)
{
	ordered(self, LOG);
}

static u64 refused(void)
{
	return dsm_statistics(d)->refused;
}

/* Stores with places from ver on, all to words of page 0. */
static void places_by(u16 src, u64 ver, u16 count)
{
	struct dsm_write w[DSM_BATCH_MAX];

	for (int i = 0; i < count; i++)
		w[i] = (struct dsm_write){ .clock = ver + i, .node = 3,
					   .mask = 1, .word = (ver + i) % 512,
					   .low = ver + i };
	message((struct dsm_msg){ .type = DSM_UPD, .src = src, .ver = ver,
				  .flags = DSM_F_ORDER }, w,
		count * sizeof(*w));
}

/* A store of ours waits for its place; only its own lets the CPU go on. */
static void waits_for_its_place(void)
{
	struct dsm_write w = { .clock = 1, .node = 1, .mask = 1 };
	const struct dsm_action *a;

	sequenced(1);
	event(DSM_EV_FAULT, 0, DSM_WRITE);
	CHECK(sent(DSM_UPD, &a) == 1 && set_has(&a->to, 0));
	CHECK(a->len == sizeof(w) && !did(DSM_ACT_DONE, NULL));
	CHECK(!did(DSM_ACT_APPLY, NULL));
	event(DSM_EV_FAULT, 0, DSM_READ);
	CHECK(did(DSM_ACT_FAIL, NULL) == 1);
	places_by(0, 1, 1);
	CHECK(did(DSM_ACT_APPLY, NULL) == 1 && !did(DSM_ACT_DONE, NULL));
	message((struct dsm_msg){ .type = DSM_UPD, .ver = 2,
				  .flags = DSM_F_ORDER }, &w, sizeof(w));
	CHECK(did(DSM_ACT_APPLY, NULL) == 1 && did(DSM_ACT_DONE, NULL) == 1);
	CHECK(!refused());
}

/* Each place once, none left out, and by the head alone. */
static void one_order(void)
{
	sequenced(1);
	places_by(0, 1, 3);
	CHECK(did(DSM_ACT_APPLY, NULL) == 3);
	places_by(0, 2, 3);
	CHECK(did(DSM_ACT_APPLY, NULL) == 1 && !refused());
	places_by(0, 6, 1);
	CHECK(!did(DSM_ACT_APPLY, NULL) && refused() == 1);
	places_by(2, 5, 1);
	CHECK(!did(DSM_ACT_APPLY, NULL) && refused() == 2);
}

/* What no honest node asks the head for. */
static void head_refuses(void)
{
	struct dsm_write w = { .clock = 1, .node = 2, .mask = 1 };
	struct dsm_msg m = { .type = DSM_UPD, .src = 2 };

	sequenced(0);
	message(m, &w, sizeof(w));
	CHECK(sent(DSM_UPD, NULL) == 1 && !refused());
	message(m, &w, sizeof(w) - 1);
	CHECK(refused() == 1);
	w.node = 3;
	message(m, &w, sizeof(w));
	CHECK(refused() == 2);
	w.node = 2;
	w.page = 4;
	message(m, &w, sizeof(w));
	CHECK(refused() == 3);
	m.ver = 2;
	message(m, NULL, 0);
	CHECK(refused() == 4);
	sequenced(1);
	w.page = 0;
	message(m, &w, sizeof(w));
	CHECK(refused() == 1 && !sent(DSM_UPD, NULL));
}

/* Nobody says how far it has got: the head gives no place that its log lacks. */
static void log_full(void)
{
	struct dsm_write w = { .node = 2, .mask = 1 };
	struct dsm_msg m = { .type = DSM_UPD, .src = 2 };
	const struct dsm_action *a;
	int given = 0;

	sequenced(0);
	do {
		w.clock++;
		message(m, &w, sizeof(w));
		CHECK(sent(DSM_UPD, &a) == 1);
		given += !a->msg.hops;
	} while (!a->msg.hops && given < 2 * LOG);
	CHECK(given == LOG - 1 && a->msg.ver == w.clock && !a->len);
	CHECK(!refused());
	/* Its own stores wait earlier. */
	event(DSM_EV_FAULT, 0, DSM_WRITE);
	CHECK(!did(DSM_ACT_DONE, NULL));
	m.ver = given;
	message(m, NULL, 0);
	CHECK(!did(DSM_ACT_DONE, NULL));
	for (m.src = 1; m.src < 4; m.src += 2)
		message(m, NULL, 0);
	CHECK(did(DSM_ACT_RETRY, NULL) == 1);
}

/* A store that was refused faults again; so does one when the head dies. */
static void again(bool death)
{
	sequenced(1);
	event(DSM_EV_FAULT, 0, DSM_WRITE);
	if (!death) {
		message((struct dsm_msg){ .type = DSM_UPD, .ver = 1, .hops = 1,
					  .flags = DSM_F_ORDER }, NULL, 0);
		CHECK(did(DSM_ACT_RETRY, NULL) == 1);
	} else {
		die(0);
		CHECK(!did(DSM_ACT_RETRY, NULL));
	}
}

/* A page that does not know a store which we have performed gets it. */
static void behind(u32 count, int applied)
{
	u32 body = count;
	const struct dsm_action *a;
	u32 tag;

	sequenced(3);
	event(DSM_EV_FAULT, 0, DSM_READ);
	CHECK(sent(DSM_GET_S, &a) == 1);
	tag = a->msg.tag;
	places_by(0, 1, 2);
	CHECK(!did(DSM_ACT_APPLY, NULL));
	message((struct dsm_msg){ .type = DSM_DATA_S, .src = 2, .node = 3,
				  .flags = DSM_F_DATA, .mode = DSM_MODE_MW,
				  .tag = tag }, &body, sizeof(body));
	CHECK(did(DSM_ACT_APPLY, NULL) == applied);
	/* One that knows more does not come but in a recovery. */
	CHECK(did(DSM_ACT_INSTALL, NULL) == (count <= 2));
}

/* Whoever wants the page alone gets it in one step, without a copy as well. */
static void moves_at_once(void)
{
	const struct dsm_action *a;

	sequenced(1);
	place(1, 1, NOBODY, DSM_MODE_MW);
	message((struct dsm_msg){ .type = DSM_GET_X, .src = 2, .node = 2,
				  .page = 1, .mode = DSM_MODE_MW }, NULL, 0);
	CHECK(sent(DSM_DATA_X, &a) == 1 && a->msg.flags & DSM_F_DATA);
	CHECK(!sent(DSM_DATA_S, NULL) && dsm_page_state(d, 1) == DSM_I);
}

static void down(u16 node)
{
	die(node);
	event(DSM_EV_AGAIN, 0, 0);
}

/* Node 0, the head, has died; self has performed so many stores. */
static void headless(u16 self, u16 number)
{
	sequenced(self);
	places_by(0, 1, number);
	down(0);
}

/* Who has got furthest, and of several the first, sends what others lack. */
static void levels(void)
{
	const struct dsm_action *a;

	headless(1, 5);
	flush(2, 1, 3);
	CHECK(!sent(DSM_UPD, NULL) && !sent(DSM_HOLD_END, NULL));
	flush(3, 1, 5);
	CHECK(sent(DSM_UPD, &a) == 1 && a->msg.ver == 4);
	CHECK(a->len == 2 * sizeof(struct dsm_write) && a->to.word[0] == 12);
	CHECK(sent(DSM_HOLD_END, NULL) == 1);
	/* Another one is the first. */
	headless(2, 5);
	flush(3, 1, 3);
	flush(1, 1, 5);
	CHECK(!sent(DSM_UPD, NULL) && sent(DSM_HOLD_END, NULL) == 1);
	headless(2, 5);
	flush(3, 1, 3);
	flush(1, 1, 4);
	CHECK(sent(DSM_UPD, &a) == 1 && a->msg.ver == 4);
	/* Nobody lacks anything; one that was born again has no copies. */
	headless(1, 5);
	flush(2, 1, 5);
	flush(3, 1, ~0ULL);
	CHECK(!sent(DSM_UPD, NULL) && sent(DSM_HOLD_END, NULL) == 1);
	CHECK(!refused());
}

/* Who lacks stores counts no pages before it has them, from anybody. */
static void catches_up(void)
{
	headless(1, 3);
	flush(2, 1, 5);
	flush(3, 1, 5);
	CHECK(!sent(DSM_HOLD_END, NULL) && !sent(DSM_UPD, NULL));
	places_by(2, 4, 1);
	CHECK(!sent(DSM_HOLD_END, NULL) && !refused());
	places_by(3, 4, 2);
	CHECK(sent(DSM_HOLD_END, NULL) == 1 && !refused());
}

/* Nobody tells a head in a recovery how far it has got, however far that is. */
static void says_nothing_meanwhile(void)
{
	sequenced(1);
	down(3);
	places_by(0, 1, 4);
	CHECK(!sent(DSM_UPD, NULL) && !refused());
	sequenced(1);
	places_by(0, 1, 4);
	CHECK(sent(DSM_UPD, NULL) == 1);
}

/* What a node sends before it has heard of a death it sends again after it. */
static void head_in_a_recovery(void)
{
	struct dsm_write w = { .clock = 1, .node = 2, .mask = 1 };
	struct dsm_msg m = { .type = DSM_UPD, .src = 2 };

	sequenced(0);
	down(3);
	message(m, &w, sizeof(w));
	CHECK(!sent(DSM_UPD, NULL) && !refused());
	flush(2, 8, 0);
	message(m, &w, sizeof(w));
	CHECK(sent(DSM_UPD, NULL) == 1 && !refused());
}

/* The last one left waits for nobody, for however many stores. */
static void last_one(void)
{
	sequenced(0);
	place(1, 0, 2, DSM_MODE_MW);
	down(1);
	down(2);
	down(3);
	for (int i = 0; i < 2 * LOG; i++) {
		event(DSM_EV_FAULT, 1, DSM_WRITE);
		CHECK(did(DSM_ACT_DONE, NULL) == 1 ||
		      dsm_page_state(d, 1) == DSM_M);
	}
}

/* A store that waits for a head that dies faults again after the recovery. */
static void head_dies(void)
{
	int again = 0;

	sequenced(1);
	place(1, 1, 2, DSM_MODE_MW);
	event(DSM_EV_FAULT, 1, DSM_WRITE);
	CHECK(sent(DSM_UPD, NULL) == 1);
	down(2);
	down(3);
	die(0);
	for (int i = 0; i < 4; i++) {
		again += did(DSM_ACT_RETRY, NULL);
		event(DSM_EV_AGAIN, 0, 0);
	}
	CHECK(again == 1);
}

/* Of two CPUs that wait the one whose store was refused. */
static void the_one_refused(void)
{
	struct dsm_config c = usual;
	struct dsm_event ev = { .type = DSM_EV_FAULT, .touch = DSM_WRITE,
				.mask = 1 };
	const struct dsm_action *a;

	c.protocol = DSM_WUSEQ;
	c.mode = DSM_MODE_MW;
	c.window = LOG;
	c.cpus = 3;
	begin(&c);
	place(0, 2, 1, DSM_MODE_MW);
	dsm_step(d, &ev, &out);
	ev.cpu = 1;
	dsm_step(d, &ev, &out);
	CHECK(sent(DSM_UPD, NULL) == 1);
	message((struct dsm_msg){ .type = DSM_UPD, .ver = 2, .hops = 1,
				  .flags = DSM_F_ORDER }, NULL, 0);
	CHECK(did(DSM_ACT_RETRY, &a) == 1 && a->cpu == 1 && !refused());
	/* A number that no CPU waits for, such as those had that never stored. */
	message((struct dsm_msg){ .type = DSM_UPD, .hops = 1,
				  .flags = DSM_F_ORDER }, NULL, 0);
	CHECK(!did(DSM_ACT_RETRY, NULL));
}

/* One record is not what it must be: nothing of it is performed. */
static void bad_record(struct dsm_write w, u16 len)
{
	static struct dsm_write all[DSM_BATCH_MAX + 1];

	all[0] = w;
	sequenced(1);
	message((struct dsm_msg){ .type = DSM_UPD, .ver = 1,
				  .flags = DSM_F_ORDER }, all, len);
	CHECK(!did(DSM_ACT_APPLY, NULL) && refused() == 1);
}

static void bad_records(void)
{
	const struct dsm_write good = { .mask = 1, .node = 2, .clock = 1 };
	struct dsm_write w = good;

	bad_record(good, sizeof(good) + 1);
	bad_record(good, (DSM_BATCH_MAX + 1) * sizeof(good));
	w.page = 4;
	bad_record(w, sizeof(w));
	w = good;
	w.mask = 0;
	bad_record(w, sizeof(w));
	w = good;
	w.word = DSM_PAGE_SIZE / 8;
	bad_record(w, sizeof(w));
	w = good;
	w.node = 4;
	bad_record(w, sizeof(w));
}

/* Who lacks more than a log has gets what there is; no more at a time than fits. */
static void far_behind(void)
{
	const struct dsm_action *a;

	headless(1, LOG + 4);
	flush(2, 1, 1);
	flush(3, 1, LOG + 4);
	CHECK(sent(DSM_UPD, &a) == 1 && a->msg.ver == 5);
	CHECK(a->len == LOG * sizeof(struct dsm_write));
	/* More than a message takes. */
	ordered(1, 128);
	places_by(0, 1, DSM_BATCH_MAX);
	places_by(0, DSM_BATCH_MAX + 1, 10);
	down(0);
	flush(2, 1, 0);
	flush(3, 1, 0);
	CHECK(sent(DSM_UPD, &a) == 2 && a->msg.ver == DSM_BATCH_MAX + 1);
	CHECK(a->len == 10 * sizeof(struct dsm_write));
}

/* All have got equally far: a new head knows that of those who have not said so. */
static void new_head(void)
{
	struct dsm_write w = { .clock = 1, .node = 3, .mask = 1 };
	const struct dsm_action *a;

	headless(1, LOG + 4);
	flush(2, 1, LOG + 4);
	flush(3, 1, LOG + 4);
	message((struct dsm_msg){ .type = DSM_UPD, .src = 2, .ver = LOG + 4 },
		NULL, 0);
	message((struct dsm_msg){ .type = DSM_UPD, .src = 3 }, &w, sizeof(w));
	CHECK(sent(DSM_UPD, &a) == 1 && !a->msg.hops && !refused());
}

/* How far everybody has got is no further than we, or we never store again. */
static void believes_no_head(void)
{
	sequenced(1);
	message((struct dsm_msg){ .type = DSM_UPD, .ver = 1, .tag = 100,
				  .flags = DSM_F_ORDER }, NULL, 0);
	event(DSM_EV_FAULT, 0, DSM_WRITE);
	CHECK(sent(DSM_UPD, NULL) == 1);
}

/* A page that lacks more than the log has, or more than there was. */
static void lacks_too_much(u16 performed, u32 count, bool good)
{
	const struct dsm_action *a;

	sequenced(3);
	for (u16 i = 0; i < performed; i++)
		places_by(0, i + 1, 1);
	event(DSM_EV_FAULT, 0, DSM_READ);
	CHECK(sent(DSM_GET_S, &a) == 1);
	message((struct dsm_msg){ .type = DSM_DATA_S, .src = 2, .node = 3,
				  .flags = DSM_F_DATA, .mode = DSM_MODE_MW,
				  .tag = a->msg.tag }, &count, sizeof(count));
	CHECK(did(DSM_ACT_INSTALL, NULL) == good && refused() == !good);
}

/* Nobody gets back behind what it has said. */
static void head_hears(void)
{
	struct dsm_msg m = { .type = DSM_UPD, .src = 2, .ver = 2 };

	sequenced(0);
	for (int i = 0; i < 4; i++) {
		struct dsm_write w = { .clock = 1 + i, .node = 2, .mask = 1 };

		message((struct dsm_msg){ .type = DSM_UPD, .src = 2 }, &w,
			sizeof(w));
	}
	message(m, NULL, 0);
	CHECK(!refused());
	m.ver = 1;
	message(m, NULL, 0);
	CHECK(refused() == 1);
}

void order_tests(void)
{
	moves_at_once();
	waits_for_its_place();
	one_order();
	head_refuses();
	log_full();
	again(false);
	again(true);
	levels();
	catches_up();
	says_nothing_meanwhile();
	head_in_a_recovery();
	last_one();
	head_dies();
	the_one_refused();
	bad_records();
	head_hears();
	far_behind();
	new_head();
	believes_no_head();
	lacks_too_much(LOG + 4, 5, true);
	lacks_too_much(LOG + 4, 4, false);
	lacks_too_much(2, 0, true);
	lacks_too_much(2, -1, false);
	behind(0, 2);
	behind(1, 1);
	behind(2, 0);
	behind(3, 0);
	free(d);
	d = NULL;
}
