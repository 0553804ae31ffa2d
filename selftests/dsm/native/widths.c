// SPDX-License-Identifier: GPL-2.0
/*
 * Usage: widths [TURNS [hears]].  Node 0 stores to two pages in all ways that a compiler
 * knows and some that it does not, and does the same to memory of its own; the
 * others read them and write to bytes of their own, so that nobody keeps the pages.
 * All must read what node 0's own memory says.
 * hears: without a thread that blocks all signals.
 */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

#include "trial.h"

#define SPAN	(2 * PAGE - 64)		/* node 0's; then the others' bytes, */
#define GAP	(PAGE / 2)		/* and 64 more of the first page */

static unsigned long seed = 1;

static unsigned long draw(unsigned long below)
{
	seed = seed * 6364136223846793005UL + 1442695040888963407UL;
	return (seed >> 33) % below;
}

/* One store, drawn by lot, at p. */
static void store(volatile char *p, unsigned int kind, uint64_t v)
{
	struct { uint64_t a, b, c, d; } wide = { v, ~v, v * 3, v * 5 };

	switch (kind) {
	case 0:
		__asm__ volatile("movb %b1, %0" : "=m" (*p) : "r" (v));
		break;
	case 1:
		__asm__ volatile("movw %w1, %0" : "=m" (*p) : "r" (v));
		break;
	case 2:
		__asm__ volatile("movl %k1, %0" : "=m" (*p) : "r" (v));
		break;
	case 3:
		__asm__ volatile("movq %1, %0" : "=m" (*p) : "r" (v));
		break;
	case 4:
		__asm__ volatile("movnti %1, %0" : "=m" (*p) : "r" (v));
		break;
	case 5:
		__asm__ volatile("movups %1, %%xmm7\n\tmovups %%xmm7, %0" :
				 "=m" (*p) : "m" (wide) : "xmm7");
		break;
	case 6:
		__asm__ volatile("addl %k1, %0" : "+m" (*p) : "r" (v) : "cc");
		break;
	case 7:
		__asm__ volatile("incw %0" : "+m" (*p) : : "cc");
		break;
	case 8:
		__asm__ volatile("cmpl $9, %k1\n\tsetc %0" :
				 "=m" (*p) : "r" (v) : "cc");
		break;
	case 9:
		__asm__ volatile("lock xaddl %k1, %0" : "+m" (*p), "+r" (v) : :
				 "cc");
		break;
	case 10:
		__asm__ volatile("xorb %b1, %0" : "+m" (*p) : "r" (v) : "cc");
		break;
	case 11:
		memcpy((char *)p, &wide, sizeof(wide));
		break;
	case 12:
		__asm__ volatile("vmovups %1, %%ymm7\n\tvmovups %%ymm7, %0" :
				 "=m" (*p) : "m" (wide) : "xmm7");
		break;
	}
}

/* As node 0's own memory, of which a copy lies behind it. */
static bool same(const char *page)
{
	return !memcmp(page, page + 2 * PAGE, GAP) &&
		!memcmp(page + GAP + 64, page + 2 * PAGE + GAP + 64,
			SPAN - GAP - 64);
}

static void *stores(void *arg)
{
	volatile char *page = arg;
	static char own[2 * PAGE];
	int kinds = __builtin_cpu_supports("avx") ? 13 : 12;

	for (int i = 0, turns = atoi(getenv("TURNS")); i < turns; i++) {
		unsigned int at = draw(SPAN - 32), kind = draw(kinds);
		uint64_t v = draw(1ul << 30) * 0x100000001UL;

		/* Some across the two pages, none locked across a word. */
		if (draw(8) == 0)
			at = PAGE - draw(32);
		if (at > GAP - 32 && at < GAP + 64)
			continue;
		if (kind == 9)
			at &= ~3u;
		store(page + at, kind, v);
		store(own + at, kind, v);
		if (i % 4 == 0)
			usleep(50);	/* or the others have no turn */
		demand(page[at] == own[at], "a store that its node does not see");
	}
	memcpy((char *)page + 2 * PAGE, own, SPAN);
	demand(same((char *)page), "node 0 reads something else");
	return NULL;
}

/* A thread that no signal reaches. */
static void *deaf(void *arg)
{
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, NULL);
	for (int i = 0; i < 20; i++)
		((volatile char *)arg)[SPAN + 60] = i;
	return NULL;
}

int main(int argc, char **argv)
{
	volatile char *byte;
	char *page;
	int *done;
	pthread_t thread;

	setenv("TURNS", argc > 1 ? argv[1] : "1200", 1);
	demand(!mios_dsm_start(), "start");
	page = common(0, 4 * PAGE, 0);
	done = common(1, PAGE, 0);
	byte = page;
	if (mios_dsm_node()) {
		for (int i = 0; !*(volatile int *)done; i++) {
			byte[SPAN + mios_dsm_node()] = i;
			byte[GAP + mios_dsm_node()] = i;
			(void)byte[0];
			usleep(100);
		}
	} else {
		demand(argc > 2 || !pthread_create(&thread, NULL, deaf, page),
		       "thread");
		stores(page);
		if (argc <= 2)
			pthread_join(thread, NULL);
		*(volatile int *)done = 1;
	}
	demand(!mios_dsm_barrier(), "barrier");
	demand(same(page), "another node reads something else");
	demand(!mios_dsm_finish(), "finish");
	return 0;
}
