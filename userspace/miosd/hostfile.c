// SPDX-License-Identifier: GPL-2.0
/*
 * Keeps /run/mios/hostfile as mpirun reads it: one line per live instance of
 * our ring, with as many slots as it has CPUs, in the order in which "mios run"
 * would take them.  Replaced by rename, so that a reader sees the old one or
 * the new one.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libmios/placement.h"
#include "miosd.h"

static int by_order(const void *a, const void *b)
{
	const struct placement *p = a, *q = b;

	return (int)p->order - (int)q->order;
}

/*
 * All that would be taken by a job that has tasks for everybody.  Not one that
 * is suspect: Open MPI starts its daemon on all, whatever -n says.
 */
static int arrange(const struct ring_view *v, struct placement *places)
{
	struct placement_request rq = {
		.self = v->self,
		.ring = v->ring,
		.tasks = MIOS_MAX_TASKS,
		.cpus_per_task = 1,
	};
	char unused[128];
	int i;

	for (i = 0; i < v->nr_instances; i++)
		places[i] = (struct placement){ .inst = &v->instances[i] };
	placement_decide(&rq, places, i, unused, sizeof(unused));
	qsort(places, i, sizeof(*places), by_order);
	return i;
}

static size_t describe(const struct ring_view *v, char *text, size_t size)
{
	static struct placement places[MIOS_MAX_INSTANCES];
	int i, n = arrange(v, places);
	size_t len = 0;

	for (i = 0; i < n && len < size; i++) {
		if (!places[i].order)
			continue;
		len += snprintf(text + len, size - len, "node%d slots=%u\n",
				places[i].inst->id,
				places[i].inst->cpus ? places[i].inst->cpus : 1);
	}
	return len;
}

void hostfile_update(const struct ring_view *v)
{
	static char last[8192];
	static bool told;
	char text[8192] = "";
	FILE *f;

	if (describe(v, text, sizeof(text)) >= sizeof(text) ||
	    !strcmp(text, last))
		return;
	f = fopen(MIOSD_HOSTFILE ".new", "we");
	if (f && fputs(text, f) >= 0 && !fclose(f) &&
	    !rename(MIOSD_HOSTFILE ".new", MIOSD_HOSTFILE))
		strcpy(last, text);
	else if (!told)
		fprintf(stderr, "miosd: cannot write " MIOSD_HOSTFILE ": %m\n");
	/* Tried again each time: a full disk empties. */
	told = strcmp(text, last);
}
