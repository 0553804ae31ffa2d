// SPDX-License-Identifier: GPL-2.0
/*
 * What mios run has to know of the instances and sysfs does not: CPUs that tasks
 * are bound to.  Their miosds know, and are asked at once, in bounded time
 * (libmios/report.h).  No locks.
 */
#include "libmios/libmios.h"
#include "libmios/report.h"
#include "run_bound.h"

static bool is_asked(const struct placement_request *rq,
		     const struct mios_instance *inst)
{
	return inst->id == rq->self ||
	       (inst->state == MIOS_STATE_UP && inst->suspect < 0 &&
		inst->ring == rq->ring);
}

static unsigned int count(const struct task_report *report)
{
	uint64_t used[MIOS_CPU_WORDS] = { 0 };
	unsigned int i, word, n = 0;

	for (i = 0; i < report->nr_tasks; i++)
		for (word = 0; word < MIOS_CPU_WORDS; word++)
			used[word] |= report->tasks[i].cpus[word];
	for (word = 0; word < MIOS_CPU_WORDS; word++)
		n += __builtin_popcountll(used[word]);
	return n;
}

/* Fills in bound; of one that does not answer a line says why, and silent is set. */
void bound_ask(const struct placement_request *rq, struct placement *places, int n)
{
	static struct task_report reports[MIOS_MAX_INSTANCES];
	struct placement *of[MIOS_MAX_INSTANCES];
	unsigned int i, nr = 0;
	int at;

	for (at = 0; at < n; at++) {
		if (!is_asked(rq, places[at].inst))
			continue;
		reports[nr].instance = places[at].inst->id;
		of[nr++] = &places[at];
	}
	report_fetch(reports, nr);
	for (i = 0; i < nr; i++) {
		of[i]->silent = reports[i].error;
		if (of[i]->silent)
			mios_error("mios", "run: %s; which CPUs are free there is not "
				   "known", reports[i].why);
		of[i]->bound = count(&reports[i]);
		report_free(&reports[i]);
	}
}
