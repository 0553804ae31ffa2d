// SPDX-License-Identifier: GPL-2.0
/*
 * A member of a team: it waits for the mailbox that its master writes into, does
 * its part of the region, and rests until there is another one.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdio_ext.h>

#include "api.h"
#include "gomp.h"

static void (*flush_fortran)(const int *unit);	/* of NULL: all */

/* Idle members see the number of the region change, and find the rest. */
void members_work(struct team *team, const struct context *c, body_fn fn,
		  void *data)
{
	struct float_modes modes = float_modes();
	struct mailbox *box;
	uint32_t i;

	for (i = 1; i < c->size; i++) {
		box = &team->members[i];
		box->size = c->size;
		box->shares = c->shares;
		box->fn = fn;
		box->data = data;
		box->group = c->part.group;
		box->outer = team->inner ? c->outer : NULL;
		box->at_work = c->at_work;
		box->modes = modes;
		box->icvs = c->part.icvs;
		atomic_fetch_add_explicit(&box->region, 1,
					  memory_order_release);
	}
	long_wake();
}

/* The master is about to end, and so are its threads: nobody is at work. */
void members_end(struct team *team, uint32_t threads)
{
	uint32_t i;

	for (i = 1; i < threads; i++) {
		team->members[i].fn = NULL;
		atomic_fetch_add_explicit(&team->members[i].region, 1,
					  memory_order_release);
	}
	long_wake();
}

/* Until there is another region; tasks of this one may still be made. */
static void rest(struct context *c, struct mailbox *box, uint32_t region)
{
	struct omp_wait wait = { 0 };

	while (atomic_load_explicit(&box->region, memory_order_acquire) ==
	       region) {
		if (tasks_help(c->tasks))
			long_wait_end(&wait);
		else
			long_wait(&wait);
	}
	long_wait_end(&wait);
}

/* What members of other processes have written is seen when main() goes on. */
static void flush_output(void)
{
	if (__fpending(stdout))
		fflush(stdout);
	if (flush_fortran)
		flush_fortran(NULL);
}

static void work(struct team *team, struct mailbox *box, uint32_t number,
		 uint32_t region)
{
	struct context c, *own = context();

	region_enter(&c, box->outer ? box->outer : own, team, number,
		     box->size, box->group);
	c.shares = box->shares;
	c.part.icvs = box->icvs;
	c.at_work = box->at_work;
	if (team->shows)
		omp_display_affinity(NULL);
	float_follow(box->modes);
	box->fn(box->data);
	if (gomp_place)
		flush_output();
	meet_join(c.team, false);
	rest(&c, box, region);
	region_leave(&c, own);
}

/* What a member does for its master, until that ends. */
void member_serve(struct team *team, uint32_t number)
{
	struct mailbox *box = &team->members[number];
	struct omp_wait wait = { 0 };
	uint32_t region;

	while (!atomic_load_explicit(&box->region, memory_order_acquire))
		long_wait(&wait);
	long_wait_end(&wait);
	for (region = 1; box->fn; region++)
		work(team, box, number, region);
}

/* Before there are any. */
void members_start(void)
{
	/* Elsewhere units are everybody's: main() may be amid a statement of one. */
	if (mios_omp_place.strict)
		flush_fortran = dlsym(RTLD_DEFAULT, "_gfortran_flush_i4");
}
