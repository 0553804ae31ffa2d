// SPDX-License-Identifier: GPL-2.0
/*
 * What a node counts as it goes: who waits for what, and which pages are in
 * which state.  On the service thread, or under its lock.
 */
#define _GNU_SOURCE
#include <link.h>
#include <string.h>
#include <unistd.h>

#include "window_layout.h"
#include "dsm_node.h"

#define CENSUS		50000000ULL	/* ns from one to the next */
#define LOOKS		16		/* stops at a page, of which one is looked at */
#define CENSUS_PAGES	512		/* in one go, while frames wait: some 10 us */

static int first_object(struct dl_phdr_info *info, size_t size, void *base)
{
	(void)size;
	*(uint64_t *)base = info->dlpi_addr;
	return 1;
}

/* Whose instructions they are. */
void stats_begin(struct node *n)
{
	ssize_t len = readlink("/proc/self/exe", n->stats->exe,
			       STATS_PATH - 1);

	n->stats->exe[len > 0 ? len : 0] = '\0';
	dl_iterate_phdr(first_object, &n->stats->base);
}

void stats_stall(struct node *n, const struct thread *t, enum stats_cause why)
{
	u64 stall = n->now - t->stopped_at;
	enum dsm_mode mode = dsm_page_mode(n->dsm, t->page);
	struct page_stats *p;

	n->stats->stall += stall;
	n->stats->stops_in[mode]++;
	n->stats->stall_in[mode] += stall;
	if (stall > n->stats->longest)
		n->stats->longest = stall;
	/* What waits in a barrier or for a lock is counted there. */
	if (!layout_own(t->page))
		n->stats->cause[why] += stall;
	if (!n->page_stats)
		return;
	p = &n->page_stats[t->page];
	p->us += stall / 1000;
	p->stops++;
	if (t->looked)
		p->pc = t->pc;
}

/* Shall somebody look where it stops at this page?  At first, and now and then. */
bool stats_look(const struct node *n, const struct thread *t)
{
	return n->page_stats && !(n->page_stats[t->page].stops % LOOKS);
}

/* What this node takes pages for, and where the program's data begin. */
static void stats_program(struct node *n)
{
	struct adapt_sum sum = { };

	if (n->window.held[LAYOUT_ROOT])
		memcpy(n->stats->root, window_bytes(&n->window, LAYOUT_ROOT),
		       sizeof(n->stats->root));
	if (!n->adapt)
		return;
	adapt_sum(n->adapt, &sum);
	memcpy(n->stats->class, sum.pages, sizeof(n->stats->class));
}

/* Pages by state and mode. */
static void census_end(struct node *n)
{
	struct node_stats *s = n->stats;

	memcpy(s->state, n->census.state, sizeof(s->state));
	memcpy(s->mode, n->census.mode, sizeof(s->mode));
	memset(&n->census, 0, sizeof(n->census));
	stats_program(n);
	n->census.next = n->now + CENSUS;
}

/* True: it is not done yet. */
bool stats_census(struct node *n)
{
	u32 end = n->census.page + CENSUS_PAGES;

	if (!n->census.page && n->now < n->census.next)
		return n->census.next < n->active + CENSUS;
	if (end > n->window.pages)
		end = n->window.pages;
	for (; n->census.page < end; n->census.page++) {
		n->census.state[dsm_page_state(n->dsm, n->census.page)]++;
		n->census.mode[dsm_page_mode(n->dsm, n->census.page)]++;
	}
	if (end < n->window.pages)
		return true;
	census_end(n);
	return false;
}

void stats_end(struct node *n)
{
	memset(&n->census, 0, sizeof(n->census));
	while (stats_census(n))
		;
}
