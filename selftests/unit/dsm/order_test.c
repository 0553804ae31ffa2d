// SPDX-License-Identifier: GPL-2.0
/*
 * Sequenced write-update by hand: places and who may give them, logs that are
 * full, and pages that know more or less than we.  Run by engine_test.c.
 */
#include "engine_test.h"

#define LOG	16

static void sequenced(u16 self)
{
	struct dsm_config c = usual;

	c.protocol = DSM_WUSEQ;
	c.mode = DSM_MODE_MW;
	c.window = LOG;
	c.self = self;
	begin(&c);
	place(0, 2, 1, DSM_MODE_MW);
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

void order_tests(void)
{
	moves_at_once();
	waits_for_its_place();
	one_order();
	head_refuses();
	log_full();
	again(false);
	again(true);
	behind(0, 2);
	behind(1, 1);
	behind(2, 0);
	behind(3, 0);
	free(d);
	d = NULL;
}
