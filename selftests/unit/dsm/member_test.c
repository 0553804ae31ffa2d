// SPDX-License-Identifier: GPL-2.0
/*
 * Several deaths, heard of in other orders than others hear of them, as one
 * survivor sees them.  Called by engine_test.c.
 */
#include "engine_test.h"

/*
 * What a second death waits for: word from all who live, even from those who
 * had heard of the first one before us.
 */
static void two_deaths(void)
{
	begin(&usual);
	says(2, DSM_FLUSH, 1);
	die(0);
	die(3);
	event(DSM_EV_AGAIN, 0, 0);
	CHECK(!sent(DSM_HOLD_END, NULL));
	says(2, DSM_FLUSH, 1 | 8);
	CHECK(sent(DSM_HOLD_END, NULL) == 1);
}

/*
 * Node 2 has heard of both before we hear of the first, and of that one last:
 * what it said is not said again.
 */
static void two_deaths_crosswise(void)
{
	begin(&usual);
	says(2, DSM_FLUSH, 1);
	says(2, DSM_FLUSH, 1 | 8);
	die(3);
	event(DSM_EV_AGAIN, 0, 0);
	CHECK(!sent(DSM_HOLD_END, NULL));
	die(0);
	CHECK(sent(DSM_HOLD_END, NULL) == 1);
	/* Said in that round, and not in one that is over. */
	says(2, DSM_FLUSH, 1);
	says(2, DSM_HOLD_END, 1);
	CHECK(!sent(DSM_READY, NULL));
	says(2, DSM_FLUSH, 1 | 8);
	says(2, DSM_HOLD_END, 1 | 8);
	CHECK(sent(DSM_READY, NULL) == 1);
}

/*
 * The manager said that page 0 is lost, to us alone, and died: node 2, which
 * has not heard of it, does now.
 */
static void loss_told_again(void)
{
	const struct dsm_action *a = NULL;
	struct dsm_fate f;

	begin(&usual);
	place(3, 3, NOBODY, DSM_MODE_WI);
	die(0);
	event(DSM_EV_AGAIN, 0, 0);
	all_say(DSM_FLUSH);
	tells(3, DSM_GONE, 3, 0, 0, 0);
	CHECK(did(DSM_ACT_LOST, NULL) == 1);
	die(3);
	event(DSM_EV_AGAIN, 0, 0);
	says(2, DSM_FLUSH, 1 | 8);
	says(2, DSM_HOLD_END, 1 | 8);
	CHECK(sent(DSM_GONE, &a) == 1 && a->to.word[0] == 4);
	CHECK(fates(DSM_GONE, &f) == 2 && f.page == 3);
	/* Ours it was, with page 3 of node 3, and we knew. */
	CHECK(did(DSM_ACT_LOST, &a) == 1 && a->page == 0);
}

void member_tests(void)
{
	two_deaths();
	two_deaths_crosswise();
	loss_told_again();
	free(d);
}
