// SPDX-License-Identifier: GPL-2.0
/*
 * Loops with ordered(n), whose iterations wait for others by depend(sink) and
 * say by depend(source) that they are done.  Of the outermost of the n loops
 * each iteration is one member's, who does what is within in order: so a number
 * for each, of how far it is, is enough.
 */
#include <stdarg.h>
#include <stdlib.h>

#include "gomp.h"

struct cross {
	uint32_t dimensions;
	uint64_t outermost;
	uint64_t *counts;		/* of all */
	atomic_uint_least64_t done[];	/* of each outermost: how many within */
};

struct cross *cross_create(const struct loop *loop)
{
	struct cross *cross;
	uint64_t words;
	size_t size;

	if (__builtin_add_overflow(loop->total, loop->dimensions, &words) ||
	    __builtin_mul_overflow(words, sizeof(uint64_t), &size) ||
	    __builtin_add_overflow(size, sizeof(*cross), &size))
		size = SIZE_MAX;
	cross = mios_omp_zalloc(size);
	if (!cross)
		omp_die("no memory left in the window for a loop with ordered");
	cross->dimensions = loop->dimensions;
	cross->outermost = loop->total;
	cross->counts = (uint64_t *)(cross->done + loop->total);
	memcpy(cross->counts, loop->counts,
	       loop->dimensions * sizeof(uint64_t));
	return cross;
}

/* Of the present loop; NULL: who is alone waits for nobody. */
static struct cross *present(void)
{
	struct context *c = context();

	return c->team && c->share ? c->share->cross : NULL;
}

static void post(const uint64_t *at)
{
	struct cross *cross = present();
	uint64_t within = 0;
	uint32_t i;

	if (!cross || at[0] >= cross->outermost)
		return;
	for (i = 1; i < cross->dimensions; i++)
		within = within * cross->counts[i] + at[i];
	atomic_store_explicit(&cross->done[at[0]], within + 1,
			      memory_order_release);
}

static void await(uint64_t first, va_list rest)
{
	struct omp_wait wait = { 0 };
	struct cross *cross = present();
	uint64_t within = 0;
	uint32_t i;

	if (!cross || first >= cross->outermost)
		return;
	for (i = 1; i < cross->dimensions; i++)
		within = within * cross->counts[i] + va_arg(rest, uint64_t);
	while (atomic_load_explicit(&cross->done[first],
				    memory_order_acquire) <= within)
		wait_once(&wait);
}

void GOMP_doacross_post(long *at)
{
	post((uint64_t *)at);
}

void GOMP_doacross_ull_post(uint64_t *at)
{
	post(at);
}

void GOMP_doacross_wait(long first, ...)
{
	va_list rest;

	va_start(rest, first);
	await(first, rest);
	va_end(rest);
}

void GOMP_doacross_ull_wait(uint64_t first, ...)
{
	va_list rest;

	va_start(rest, first);
	await(first, rest);
	va_end(rest);
}
