// SPDX-License-Identifier: GPL-2.0
/*
 * Work shares: which one a thread has come to, who makes it, and when its
 * place may be used again.  Numbers count on over all regions; a share's place
 * is free for number n when number n - SHARES is done.
 */
#include <stdlib.h>

#include "gomp.h"

/* Each member takes one too many at most. */
#define CHUNK_MOST	(INT64_MAX / (2 * OMP_MAX_MEMBERS))

/* Before its first use a place holds what would have been there. */
static uint64_t before(uint64_t number)
{
	return number <= SHARES ? 0 : number - SHARES;
}

/* False: the region is cancelled, and they may never come. */
static bool await(struct team *team, _Atomic uint64_t *word, uint64_t value)
{
	struct omp_wait wait = { 0 };

	while (atomic_load_explicit(word, memory_order_acquire) != value) {
		if (team_cancelled(team))
			return false;
		wait_once(&wait);
	}
	return true;
}

/* Nothing is left to do in it. */
static bool leave_out(struct context *c)
{
	c->share = &c->own;
	c->own.loop = (struct loop){ .schedule = DYNAMIC };
	return false;
}

/* The next one; true: the caller makes it, then says share_made(). */
bool share_enter(struct context *c)
{
	uint64_t number, old;

	if (!c->team) {
		c->share = &c->own;
		return true;
	}
	number = ++c->shares;
	c->share = &c->team->shares[number % SHARES];
	old = before(number);
	if (!await(c->team, &c->share->done, old))
		return leave_out(c);
	if (atomic_compare_exchange_strong(&c->share->owner, &old, number))
		return true;
	if (!await(c->team, &c->share->ready, number))
		return leave_out(c);
	return false;
}

void share_made(struct context *c)
{
	if (c->team)
		atomic_store_explicit(&c->share->ready, c->shares,
				      memory_order_release);
}

/* What is of use until the next construct goes now. */
static void fill(struct share *s, const struct loop *loop,
		 const struct extra *extra)
{
	free(s->memory);
	free(s->cross);
	s->memory = NULL;
	s->cross = NULL;
	s->reductions = extra->reductions;
	if (extra->memory) {
		s->memory = mios_omp_zalloc((uintptr_t)*extra->memory);
		if (!s->memory)
			omp_die("no memory left in the window for a loop");
	}
	if (!loop)
		return;
	s->loop = *loop;
	if (s->loop.schedule != STATIC && !s->loop.chunk)
		s->loop.chunk = 1;
	if (s->loop.chunk > s->loop.total)
		s->loop.chunk = s->loop.total;
	s->adds = loop->schedule == DYNAMIC && !loop->ordered &&
		  s->loop.total <= INT64_MAX && s->loop.chunk <= CHUNK_MOST;
	if (loop->dimensions)
		s->cross = cross_create(loop);
	atomic_store_explicit(&s->next, 0, memory_order_relaxed);
	atomic_store_explicit(&s->ordered, 0, memory_order_relaxed);
}

/* A construct: whoever comes first makes it, and all get what it has. */
void share_begin(struct context *c, const struct loop *loop,
		 const struct extra *extra)
{
	static const struct extra none;
	bool make;

	if (!extra)
		extra = &none;
	if (extra->reductions) {
		GOMP_taskgroup_start();
		c->task->group->of_share = true;
	}
	make = share_enter(c);
	if (make)
		fill(c->share, loop, extra);
	if (extra->reductions)
		reductions_add(extra->reductions,
			       make ? NULL : c->share->reductions);
	if (make)
		share_made(c);
	if (extra->memory)
		*extra->memory = c->share->memory;
}

void share_leave(struct context *c)
{
	struct share *s = c->share;
	uint64_t number = c->shares;

	c->share = NULL;
	if (!c->team || s == &c->own ||
	    atomic_fetch_add(&s->left, 1) + 1 < c->size)
		return;
	atomic_store_explicit(&s->left, 0, memory_order_relaxed);
	atomic_store_explicit(&s->done, number, memory_order_release);
}
