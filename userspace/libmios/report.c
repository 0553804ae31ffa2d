// SPDX-License-Identifier: GPL-2.0
/*
 * Fetches the sessions of instances from their miosds: of all that are asked for
 * at once, in bounded time.  Called by mios top and mios run; no locks.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client.h"
#include "report.h"

#define ANSWER_MS	45000	/* more than miosd takes to say why it cannot */

static int copy_tasks(struct task_report *r, const struct mios_buffer *from)
{
	const unsigned int nr = from->len / sizeof(*r->tasks);
	unsigned int i;

	r->tasks = calloc(nr + 1, sizeof(*r->tasks));
	if (!r->tasks)
		return -ENOMEM;
	r->nr_tasks = nr;
	if (r->nr_tasks)
		memcpy(r->tasks, from->data + from->start,
		       r->nr_tasks * sizeof(*r->tasks));
	for (i = 0; i < r->nr_tasks; i++) {
		struct mios_task *t = &r->tasks[i];

		t->command[sizeof(t->command) - 1] = '\0';
		mios_utf8(t->command);
	}
	return 0;
}

/* Each has its instance; where its error is not 0, why has a line. */
void report_fetch(struct task_report *list, unsigned int nr)
{
	struct unattended all[MIOS_MAX_INSTANCES] = { };
	unsigned int i;

	for (i = 0; i < nr; i++)
		all[i].instance = list[i].instance;
	unattended_report(all, nr, ANSWER_MS);
	for (i = 0; i < nr; i++) {
		struct task_report *r = &list[i];

		r->tasks = NULL;
		r->nr_tasks = 0;
		r->error = all[i].error ?: copy_tasks(r, &all[i].out);
		snprintf(r->why, sizeof(r->why), "%s", all[i].error ?
			 all[i].why : strerror(-r->error));
		unattended_free(&all[i]);
	}
}

void report_free(struct task_report *r)
{
	free(r->tasks);
	r->tasks = NULL;
	r->nr_tasks = 0;
}
