// SPDX-License-Identifier: GPL-2.0
/*
 * A process of instance 0 changes its memory, and its pages become others';
 * instance 1 copies from where they were said to be; either may die at any
 * step, and instance 2 recovers.  No page is read that is not the process's.
 */
#include "model.h"

extern char __start_world[], __stop_world[];

static const struct play *play;
static unsigned long pages_read;	/* in all states; no part of them */

/* Somebody who copies, in the middle of it. */
void model_read(u32 page)
{
	model_access();
	CHECK(w.owner[page] == PROCESS);
	pages_read++;
}

static void answers(u32 self)
{
	u32 i, slot, page;
	u64 generation;

	for (i = 0; i < play->answers; i++) {
		page = w.mapped;
		if (instances[self]->answer(1, &slot, &generation))
			return;
		test_access();
		if (!model_broken[LATE_GENERATION])
			page = w.mapped;
		if (page == PAGES)
			continue;
		test_access();
		w.slot = slot;
		w.generation = generation;
		w.page = page;
		w.answered++;
	}
}

/* As munmap() and the next fault do. */
static void changes(u32 self)
{
	u32 i, page;

	for (i = 1; i <= play->changes; i++) {
		instances[self]->begins();
		test_access();
		page = w.mapped;
		w.mapped = PAGES;
		test_access();
		w.owner[page] = OTHERS;
		instances[self]->ends();
		test_access();
		w.owner[i] = PROCESS;
		w.mapped = i;
	}
}

static void copies(u32 self)
{
	u32 i, slot, page;
	u64 generation;

	if (!w.answered)
		explore_until_changed(&w.answered, 0);
	for (i = 0; i < play->copies; i++) {
		test_access();
		slot = w.slot;
		generation = w.generation;
		page = w.page;
		instances[self]->copy(0, slot, generation, page);
	}
}

/* After the fence it may be known; and then what it had is another's. */
static void buries_owner(u32 self)
{
	test_access();
	w.over[0] = 1;
	if (!model_broken[NO_LEAVE])
		instances[self]->leave(0);
	test_access();
	if (w.mapped < PAGES)
		w.owner[w.mapped] = OTHERS;
}

static void buries_copier(u32 self)
{
	test_access();
	w.over[1] = 1;
}

void scenario_died(u32 instance)
{
	explore_task(instance ? buries_copier : buries_owner, 2);
}

/* As it was before the first one: knobs lie in it, too. */
static void world_reset(void)
{
	static u8 first[8192];
	static bool saved;
	size_t size = __stop_world - __start_world;

	CHECK(size <= sizeof(first));
	if (saved)
		memcpy(__start_world, first, size);
	else
		memcpy(first, __start_world, size);
	saved = true;
}

void scenario_setup(const struct scenario *scenario)
{
	u32 i;

	play = scenario->own;
	pages_read = 0;
	world_reset();
	w.owner[0] = PROCESS;
	instances[0]->watch();
	w.started = 1;
	explore_task(changes, 0);
	explore_task(answers, 0);
	for (i = 0; i < play->copiers; i++)
		explore_task(copies, 1);
	if (model_broken[EARLY_DEATH])
		explore_task(buries_copier, 2);
	explore_world(__start_world, __stop_world - __start_world);
}

/* Whoever is left says nothing any more. */
void scenario_end(void)
{
	u32 i;

	for (i = 0; i < MIOS_AREA_CPUS; i++)
		CHECK(!w.copies[1].hazard[i] || w.over[1]);
}

void scenario_all(const struct scenario *scenario)
{
	CHECK(pages_read);
}

/* Nobody who answers is left. */
bool scenario_rests(void)
{
	return !w.answered;
}
