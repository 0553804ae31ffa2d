// SPDX-License-Identifier: GPL-2.0
/*
 * The rules of a channel one by one, in one thread: each function is one row
 * of the table in docs/channels.md.
 */
#include "../inject.h"
#include "test.h"

static void fill(u8 *data, u32 length, u32 salt)
{
	u32 i;

	for (i = 0; i < length; i++)
		data[i] = i * 7 + salt;
}

static void expect(struct ends *e, u32 type, u32 length, u32 salt)
{
	struct mios_message m;
	u8 want[4096], got[4096];

	fill(want, length, salt);
	CHECK(mios_consumer_peek(&e->c, &m) == 1);
	CHECK(m.type == type && m.total == length);
	mios_consumer_copy(&e->c, &m, got, sizeof(got));
	CHECK(!memcmp(want, got, length));
	mios_consumer_pop(&e->c, &m);
}

static int put(struct ends *e, u32 type, u32 length, u32 salt)
{
	u8 data[4096];

	fill(data, length, salt);
	return mios_producer_write(&e->p, type, data, length);
}

static void sizes(void)
{
	struct mios_message m;
	struct ends e;
	u32 length;

	ends_make(&e, 64, 8, 200);
	ends_open(&e, 3, 5);
	for (length = 0; length <= 200; length++) {
		CHECK(put(&e, 7, length, length) >= 0);
		expect(&e, 7, length, length);
		mios_consumer_flush(&e.c);
	}
	CHECK(put(&e, 7, 201, 0) == -EMSGSIZE);
	CHECK(mios_consumer_peek(&e.c, &m) == 0);
	ends_free(&e);
}

static void full_and_wish(void)
{
	struct mios_message m;
	struct ends e;
	int i;

	ends_make(&e, 64, 8, 200);
	ends_open(&e, 1, 1);
	mios_consumer_flush(&e.c);	/* answers the wishes of earlier lives */
	for (i = 0; i < 8; i++)
		CHECK(put(&e, 1, 10, i) >= 0);
	CHECK(put(&e, 1, 10, 8) == -EAGAIN);
	CHECK(e.p.full == 1);
	CHECK(!mios_producer_wish(&e.p, 10));
	for (i = 0; i < 2; i++) {
		CHECK(mios_consumer_peek(&e.c, &m) == 1);
		/* slots go back in portions of a quarter, then rings once */
		CHECK(mios_consumer_pop(&e.c, &m) == (i == 1));
	}
	CHECK(!mios_consumer_flush(&e.c));
	CHECK(put(&e, 1, 10, 8) >= 0);
	ends_free(&e);
}

static void doorbells(void)
{
	struct mios_message m;
	struct ends e;

	ends_make(&e, 64, 8, 200);
	ends_open(&e, 1, 1);
	CHECK(put(&e, 1, 1, 0) == 0);		/* nobody asked */
	CHECK(mios_consumer_arm(&e.c));		/* found at once */
	CHECK(mios_consumer_peek(&e.c, &m) == 1);
	mios_consumer_pop(&e.c, &m);
	CHECK(!mios_consumer_arm(&e.c));
	CHECK(put(&e, 1, 1, 0) == 1);		/* rings once per arming */
	CHECK(put(&e, 1, 1, 0) == 0);
	mios_consumer_disarm(&e.c);
	CHECK(put(&e, 1, 1, 0) == 0);
	CHECK(mios_consumer_arm(&e.c));
	CHECK(put(&e, 1, 1, 0) == 1);
	ends_free(&e);
}

/* Nothing of an earlier incarnation of either side is ever seen. */
static void incarnations(void)
{
	struct mios_message m;
	struct ends e;

	ends_make(&e, 64, 8, 200);
	ends_open(&e, 1, 1);
	CHECK(put(&e, 1, 10, 0) >= 0);
	mios_consumer_init(&e.c, e.chan, &e.shape);	/* reborn consumer */
	mios_consumer_open(&e.c, 2, 1);
	CHECK(mios_consumer_peek(&e.c, &m) == 0);
	CHECK(put(&e, 1, 10, 0) == -ENOTCONN);	/* it is not incarnation 1 */
	mios_producer_open(&e.p, 1, 2);
	CHECK(mios_consumer_called(&e.c));
	CHECK(put(&e, 1, 10, 0) == -ENOTCONN);
	mios_consumer_open(&e.c, 2, 1);
	CHECK(!mios_consumer_called(&e.c));
	CHECK(put(&e, 1, 10, 9) >= 0);
	expect(&e, 1, 10, 9);
	CHECK(put(&e, 1, 10, 0) >= 0);
	mios_producer_init(&e.p, e.chan, &e.shape);	/* reborn producer */
	mios_producer_open(&e.p, 2, 2);
	CHECK(put(&e, 1, 10, 0) == -ENOTCONN);	/* not accepted yet */
	mios_consumer_open(&e.c, 2, 2);
	CHECK(mios_consumer_peek(&e.c, &m) == 0);
	CHECK(put(&e, 1, 10, 5) >= 0);
	expect(&e, 1, 10, 5);
	mios_consumer_close(&e.c);
	CHECK(put(&e, 1, 10, 0) == -ENOTCONN);
	ends_free(&e);
}

static void stale_slot(void)
{
	struct mios_message m;
	struct ends e;

	ends_make(&e, 64, 8, 200);
	ends_open(&e, 2, 1);
	inject_on("stale_incarnation", 1);
	CHECK(put(&e, 1, 10, 0) >= 0);
	CHECK(put(&e, 1, 10, 6) >= 0);
	expect(&e, 1, 10, 6);
	CHECK(e.c.stale == 1);
	CHECK(mios_consumer_peek(&e.c, &m) == 0);
	ends_free(&e);
}

static void broken_credit(void)
{
	struct ends e;

	ends_make(&e, 64, 8, 200);
	ends_open(&e, 1, 1);
	CHECK(put(&e, 1, 10, 0) >= 0);
	e.chan->credit = (u64)e.c.session << 32 | 77;
	CHECK(put(&e, 1, 10, 0) == -ESHUTDOWN);
	CHECK(put(&e, 1, 10, 0) == -ESHUTDOWN);
	CHECK(e.p.garbage == 1);
	mios_producer_open(&e.p, 1, 1);
	CHECK(mios_consumer_called(&e.c));
	mios_consumer_open(&e.c, 1, 1);
	CHECK(put(&e, 1, 10, 3) >= 0);
	expect(&e, 1, 10, 3);
	ends_free(&e);
}

void test_protocol(void)
{
	sizes();
	full_and_wish();
	doorbells();
	incarnations();
	stale_slot();
	broken_credit();
}
