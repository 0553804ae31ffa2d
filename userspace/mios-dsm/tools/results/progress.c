// SPDX-License-Identifier: GPL-2.0
/* See progress.h.  Called by cmd_run.c. */
#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include "progress.h"

#define FIRST	2000		/* ms: shorter runs say what they did at the end */
#define LONGEST	60000

static uint64_t since(const struct stats_head *head)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (t.tv_sec * 1000000000ULL + t.tv_nsec - head->begin) / 1000000;
}

void progress_look(struct progress *p, const struct stats_head *head, void *at,
		   uint64_t left)
{
	struct progress now = { .ms = since(head) };
	double s = (now.ms - p->ms) / 1e3;

	if (!p->pause)
		*p = (struct progress){ .next = FIRST, .pause = FIRST };
	if (now.ms < p->next)
		return;
	for (uint32_t i = head->first; i < head->end; i++) {
		const struct node_stats *n = stats_node(at, i);

		now.faults += n->reads + n->writes;
		now.stall += n->stall;
		now.bytes += n->bytes;
	}
	fprintf(stderr, "mios-dsm: %.0f s: %" PRIu64 " of %u nodes run; each second %.0f faults, %.0f ms of waiting, %.0f KiB sent\n",
		now.ms / 1e3, left, head->end - head->first,
		(now.faults - p->faults) / s, (now.stall - p->stall) / 1e6 / s,
		(now.bytes - p->bytes) / 1024.0 / s);
	now.pause = p->pause * 2 < LONGEST ? p->pause * 2 : LONGEST;
	now.next = now.ms + p->pause;
	*p = now;
}
