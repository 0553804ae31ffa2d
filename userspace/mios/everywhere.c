// SPDX-License-Identifier: GPL-2.0
/*
 * One command on several instances at once, as the caller, and what it has
 * printed.  No locks.
 */
#include <stdio.h>
#include <string.h>

#include "everywhere.h"

#define LINES_MAX	50

/* Those that were named and that the machine has not. */
static void complain(const char *who, uint64_t missing, int *status)
{
	int i;

	for (i = 0; i < MIOS_MAX_INSTANCES; i++) {
		if (!(missing >> i & 1))
			continue;
		mios_error("mios", "%s: there is no instance %d: mios status "
			   "lists them", who, i);
		*status = MIOS_EXIT_FAILED;
	}
}

/* Is it asked?  Else a line says why not, unless nobody has named it. */
static bool chosen(const char *who, const struct mios_instance *inst, bool named,
		   bool self, int *status)
{
	if (!self && inst->state != MIOS_STATE_UP) {
		if (!named)
			return false;
		mios_error("mios", "%s: instance %d is %s, not up", who, inst->id,
			   mios_state_name(inst->state));
	} else if (inst->suspect >= 0) {	/* it would be waited for */
		mios_error("mios", "%s: instance %d is suspect: it is not asked",
			   who, inst->id);
	} else {
		return true;
	}
	*status = MIOS_EXIT_FAILED;
	return false;
}

/* Those of @instances that are up and answer, in @list; how many. */
unsigned int everywhere_choose(const char *who, uint64_t instances,
			       struct unattended *list, int *status)
{
	static struct mios_instance all[MIOS_MAX_INSTANCES];
	const int self = mios_self(), n = mios_instances_read(all, MIOS_MAX_INSTANCES);
	uint64_t missing = instances;
	unsigned int nr = 0;
	int i;

	if (n < 0)
		mios_die(MIOS_EXIT_FAILED, "%s: %s", who, MIOS_NO_SYSFS);
	for (i = 0; i < n; i++) {
		missing &= ~(1ull << all[i].id);
		if ((!instances || instances >> all[i].id & 1) &&
		    chosen(who, &all[i], instances, all[i].id == self, status))
			list[nr++].instance = all[i].id;
	}
	complain(who, missing, status);
	return nr;
}

/* No longer than @ms in all: they are asked at once. */
void everywhere_run(struct unattended *list, unsigned int nr, char **argv,
		    unsigned int ms)
{
	char **each[MIOS_MAX_INSTANCES];
	unsigned int i;

	for (i = 0; i < nr; i++)
		each[i] = argv;
	unattended_run(list, nr, each, ms);
}

/* Each line that it has written to stderr, but no flood of them. */
static void say_lines(const char *who, struct unattended *u)
{
	char *line, *rest = NULL;
	unsigned int nr = 0;

	if (buffer_add(&u->err, "", 1))
		mios_die(MIOS_EXIT_FAILED, "%s: no memory left", who);
	for (line = strtok_r((char *)u->err.data + u->err.start, "\n", &rest);
	     line && nr < LINES_MAX; line = strtok_r(NULL, "\n", &rest), nr++)
		mios_error("mios", "%s: instance %d: %s", who, u->instance, line);
	if (line)
		mios_error("mios", "%s: instance %d: and more lines", who,
			   u->instance);
}

/*
 * Has it not worked on one of them?  Then a line has said so, as one does of what
 * it has written to stderr, which by itself is no failure.
 */
bool everywhere_failed(const char *who, struct unattended *u, int good,
		       int *status)
{
	const bool failed = u->error || u->status > good;

	if (!failed && !u->err.len)
		return false;
	if (u->error)
		mios_error("mios", "%s: %s", who, u->why);
	else if (u->err.len)
		say_lines(who, u);
	else
		mios_error("mios", "%s: instance %d: status %d", who,
			   u->instance, u->status);
	*status = MIOS_EXIT_FAILED;
	return failed;
}
