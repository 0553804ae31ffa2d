// SPDX-License-Identifier: GPL-2.0
/*
 * Sequenced write-update by hand: pages that come, after the head's death, from
 * somebody who has performed more stores than we.  CPUs may not see them before
 * we have these stores, too; if nobody is left who has, the page is lost.  We are
 * node 3, node 0 was the head.  Run by engine_test.c.
 */
#include "engine_test.h"

#define HEAD_DEAD	1

/* Stores to page 0 with places from ver on. */
static void places(u16 src, u64 ver, u16 count)
{
	struct dsm_write w[4];

	for (int i = 0; i < count; i++)
		w[i] = (struct dsm_write){ .clock = ver + i, .node = 1,
					   .mask = 1, .low = ver + i };
	message((struct dsm_msg){ .type = DSM_UPD, .src = src, .ver = ver,
				  .flags = DSM_F_ORDER }, w,
		count * sizeof(*w));
}

/* Two stores are here, a request is under way; then the head dies. */
static u32 asks(u8 touch, u16 copy)
{
	struct dsm_config c = usual;
	const struct dsm_action *a;
	u32 tag;

	c.protocol = DSM_WUSEQ;
	c.mode = DSM_MODE_MW;
	c.window = 16;
	c.self = 3;
	begin(&c);
	place(0, 2, copy, DSM_MODE_MW);
	event(DSM_EV_FAULT, 0, touch);
	CHECK(sent(touch == DSM_READ ? DSM_GET_S : DSM_GET_X, &a) == 1);
	tag = a->msg.tag;
	places(0, 1, 2);
	die(0);
	event(DSM_EV_AGAIN, 0, 0);
	return tag;
}

/* From node 2, which has performed so many. */
static void comes(u8 type, u32 tag, u32 count, bool bytes)
{
	struct {
		u64 copyset;
		u32 count;
	} __attribute__((packed)) all = { 0, count };

	message((struct dsm_msg){ .type = type, .src = 2, .node = 3, .ver = 2,
				  .flags = bytes ? DSM_F_DATA : 0,
				  .mode = DSM_MODE_MW, .tag = tag },
		type == DSM_DATA_S ? (void *)&all.count : (void *)&all,
		type == DSM_DATA_S ? sizeof(all.count) : sizeof(all));
	CHECK(!dsm_statistics(d)->refused);
}

/* A copy is hidden, has not again what it knows, and appears when we know it. */
static void copy_waits(void)
{
	const struct dsm_action *a;

	comes(DSM_DATA_S, asks(DSM_READ, 1), 4, true);
	CHECK(did(DSM_ACT_INSTALL, NULL) == 1 && !did(DSM_ACT_RETRY, NULL));
	CHECK(dsm_page_access(d, 0) == DSM_NONE);
	flush(1, HEAD_DEAD, 4);
	flush(2, HEAD_DEAD, 5);
	CHECK(!sent(DSM_HOLD_END, NULL));
	places(2, 3, 2);
	CHECK(!did(DSM_ACT_APPLY, NULL));
	places(2, 5, 1);
	CHECK(did(DSM_ACT_APPLY, NULL) == 1);
	CHECK(sent(DSM_HOLD_END, NULL) == 1);
	CHECK(did(DSM_ACT_ACCESS, &a) == 1 && a->access == DSM_RO);
	CHECK(dsm_page_access(d, 0) == DSM_RO);
}

/* Who knew the rest has died as well. */
static void copy_is_lost(void)
{
	comes(DSM_DATA_S, asks(DSM_READ, 1), 4, true);
	die(2);
	event(DSM_EV_AGAIN, 0, 0);
	flush(1, HEAD_DEAD | 4, 2);
	CHECK(sent(DSM_HOLD_END, NULL) == 1);
	CHECK(dsm_page_state(d, 0) == DSM_I);
	CHECK(dsm_page_access(d, 0) == DSM_NONE);
}

/* One that was lost and has come again is like any other. */
static void comes_again(void)
{
	const struct dsm_action *a;
	u32 tag;

	copy_is_lost();
	says(1, DSM_HOLD_END, 0);
	tells(1, DSM_OWNED, 0, 1, 2, 0);
	says(1, DSM_READY, 0);
	CHECK(sent(DSM_GET_S, &a) == 1);
	tag = a->msg.tag;
	message((struct dsm_msg){ .type = DSM_DATA_S, .src = 1, .node = 3,
				  .ver = 2, .flags = DSM_F_DATA,
				  .mode = DSM_MODE_MW, .tag = tag },
		&(u32){ 2 }, sizeof(u32));
	CHECK(did(DSM_ACT_INSTALL, NULL) == 1);
	places(1, 3, 1);
	CHECK(did(DSM_ACT_APPLY, NULL) == 1);
}

static void owned_is_lost(void)
{
	comes(DSM_DATA_X, asks(DSM_EXCLUSIVE, 1), 4, true);
	CHECK(did(DSM_ACT_INSTALL, NULL) == 1);
	CHECK(dsm_page_access(d, 0) == DSM_NONE);
	die(2);
	event(DSM_EV_AGAIN, 0, 0);
	flush(1, HEAD_DEAD | 4, 2);
	CHECK(dsm_page_state(d, 0) == DSM_I);
}

/* One that knows no more than we is not hidden. */
static void level_copy(void)
{
	comes(DSM_DATA_S, asks(DSM_READ, 1), 2, true);
	CHECK(dsm_page_access(d, 0) == DSM_RO);
	flush(1, HEAD_DEAD, 3);
	flush(2, HEAD_DEAD, 3);
	places(2, 3, 1);
	CHECK(did(DSM_ACT_APPLY, NULL) == 1);
	CHECK(dsm_page_access(d, 0) == DSM_RO && !did(DSM_ACT_ACCESS, NULL));
}

/* Ownership without bytes: our own copy, which lacks what we lack. */
static void own_copy(void)
{
	comes(DSM_DATA_X, asks(DSM_EXCLUSIVE, 3), 4, false);
	CHECK(!did(DSM_ACT_INSTALL, NULL));
	CHECK(did(DSM_ACT_ACCESS, NULL) >= 1);
	CHECK(dsm_page_access(d, 0) == DSM_NONE);
	flush(1, HEAD_DEAD, 4);
	flush(2, HEAD_DEAD, 4);
	places(2, 3, 2);
	CHECK(did(DSM_ACT_APPLY, NULL) == 2);
}

void ahead_tests(void)
{
	copy_waits();
	copy_is_lost();
	comes_again();
	owned_is_lost();
	level_copy();
	own_copy();
	free(d);
	d = NULL;
}
