// SPDX-License-Identifier: GPL-2.0
/*
 * Loops of all schedules.  Signed and unsigned ones, up and down, are counted
 * in iterations from 0 and only turned into the program's own numbers when a
 * chunk is handed out; all arithmetic is modulo 2^64.
 */
#include "gomp.h"

struct loop loop_signed(long start, long end, long step)
{
	struct loop loop = { .start = start, .step = step };

	if (step > 0 && start < end)
		loop.total = ((uint64_t)end - start - 1) / step + 1;
	else if (step < 0 && start > end)
		loop.total = ((uint64_t)start - end - 1) / -(uint64_t)step + 1;
	return loop;
}

struct loop loop_unsigned(bool up, uint64_t start, uint64_t end, uint64_t step)
{
	struct loop loop = { .start = start, .step = step };

	if (up && start < end)
		loop.total = (end - start - 1) / step + 1;
	else if (!up && start > end)
		loop.total = (start - end - 1) / -step + 1;
	return loop;
}

void loop_begin(const struct loop *loop, const struct extra *extra)
{
	struct context *c = context();

	share_begin(c, loop, extra);
	c->taken = 0;
	c->chunk = c->chunk_end = 0;
}

/* Without a chunk's size: one block for each, the first ones longer by one. */
static bool take_block(struct context *c, const struct loop *loop)
{
	uint64_t each = loop->total / c->size, more = loop->total % c->size;

	if (c->taken++)
		return false;
	c->chunk = each * c->number + (c->number < more ? c->number : more);
	c->chunk_end = c->chunk + each + (c->number < more);
	return c->chunk < c->chunk_end;
}

static bool take_static(struct context *c, const struct loop *loop)
{
	uint64_t round, at;

	if (!loop->total)
		return false;
	if (!loop->chunk)
		return take_block(c, loop);
	if (__builtin_mul_overflow(c->taken++, c->size, &round) ||
	    __builtin_mul_overflow(round + c->number, loop->chunk, &at) ||
	    at >= loop->total)
		return false;
	c->chunk = at;
	c->chunk_end = loop->total - at < loop->chunk ? loop->total :
		       at + loop->chunk;
	return true;
}

/*
 * dynamic: one addition, of a word that nobody has read before.  Whoever finds the
 * end has gone beyond it by a chunk, each once: share.c looks that this fits.
 */
static bool take_chunk(struct share *s, uint64_t *first, uint64_t *end)
{
	const struct loop *loop = &s->loop;
	uint64_t at, to;

	at = atomic_fetch_add_explicit(&s->next, loop->chunk,
				       memory_order_relaxed);
	if (at >= loop->total)
		return false;
	to = loop->total - at < loop->chunk ? loop->total : at + loop->chunk;
	*first = loop->start + at * loop->step;
	*end = loop->start + to * loop->step;
	return true;
}

/* By compare-and-exchange, so that the count never goes beyond the end. */
static bool take_next(struct context *c, struct share *s)
{
	const struct loop *loop = &s->loop;
	uint64_t at = atomic_load(&s->next), size, rest;

	do {
		rest = loop->total - at;
		if (!rest)
			return false;
		size = loop->chunk;
		if (loop->schedule == GUIDED && rest / c->size > size)
			size = rest / c->size;
		if (size > rest)
			size = rest;
	} while (!atomic_compare_exchange_weak(&s->next, &at, at + size));
	c->chunk = at;
	c->chunk_end = at + size;
	return true;
}

/* What follows our chunk may be in its ordered part once all before is done. */
static void pass_on(struct context *c, struct share *s)
{
	struct omp_wait wait = { 0 };

	if (c->chunk == c->chunk_end)
		return;
	while (atomic_load_explicit(&s->ordered, memory_order_acquire) !=
	       c->chunk)
		wait_once(&wait);
	atomic_store_explicit(&s->ordered, c->chunk_end, memory_order_release);
	c->chunk = c->chunk_end;
}

/* Apart, so that the quick way saves no registers. */
static __attribute__((noinline)) bool take_other(struct context *c,
						 struct share *s,
						 uint64_t *first, uint64_t *end)
{
	bool any;

	if (s->loop.ordered)
		pass_on(c, s);
	any = s->loop.schedule == STATIC ? take_static(c, &s->loop) :
	      take_next(c, s);
	if (!any) {
		c->chunk = c->chunk_end = 0;
		return false;
	}
	*first = s->loop.start + c->chunk * s->loop.step;
	*end = s->loop.start + c->chunk_end * s->loop.step;
	return true;
}

bool loop_take(uint64_t *first, uint64_t *end)
{
	struct context *c = context();

	if (c->share->adds)
		return take_chunk(c->share, first, end);
	return take_other(c, c->share, first, end);
}

/* Without a barrier; an ordered chunk that was left early is passed on. */
void loop_end(void)
{
	struct context *c = context();

	if (!c->share)
		return;
	if (c->share->loop.ordered)
		pass_on(c, c->share);
	share_leave(c);
}

void GOMP_ordered_start(void)
{
	struct context *c = context();
	struct omp_wait wait = { 0 };

	if (!c->share)
		return;
	while (atomic_load_explicit(&c->share->ordered, memory_order_acquire) !=
	       c->chunk)
		wait_once(&wait);
}

void GOMP_ordered_end(void)
{
}
