// SPDX-License-Identifier: GPL-2.0
/*
 * One command on several instances at once, as the caller, and what it has
 * printed.  No locks.
 */
#include <stdio.h>
#include <string.h>

#include "everywhere.h"

/* Those of @instances that are up and answer, in @list; how many. */
unsigned int everywhere_choose(const char *who, uint64_t instances,
			       struct unattended *list, int *status)
{
	static struct mios_instance all[MIOS_MAX_INSTANCES];
	const int self = mios_self(), n = mios_instances_read(all, MIOS_MAX_INSTANCES);
	unsigned int nr = 0;
	int i;

	if (n < 0)
		mios_die(MIOS_EXIT_FAILED, "%s: %s", who, MIOS_NO_SYSFS);
	for (i = 0; i < n; i++) {
		if (!(instances >> all[i].id & 1))
			continue;
		if (all[i].id != self && all[i].state != MIOS_STATE_UP) {
			if (instances == UINT64_MAX)
				continue;
			mios_error("mios", "%s: instance %d is %s, not up", who,
				   all[i].id, mios_state_name(all[i].state));
			*status = MIOS_EXIT_FAILED;
		} else if (all[i].suspect >= 0) {	/* the others would wait */
			mios_error("mios", "%s: instance %d is suspect: it is "
				   "not asked", who, all[i].id);
			*status = MIOS_EXIT_FAILED;
		} else {
			list[nr++].instance = all[i].id;
		}
	}
	return nr;
}

/* No longer than @ms in all. */
void everywhere_run(struct unattended *list, unsigned int nr, char **argv,
		    unsigned int ms)
{
	char **each[MIOS_MAX_INSTANCES];
	unsigned int i;

	for (i = 0; i < nr; i++)
		each[i] = argv;
	unattended_run(list, nr, each, ms);
}

/* Has it not worked on one of them?  Then a line has said so. */
bool everywhere_failed(const char *who, struct unattended *u, int good,
		       int *status)
{
	char line[200];

	if (!u->error && !u->err.len && u->status <= good)
		return false;
	if (u->error) {
		mios_error("mios", "%s: %s", who, u->why);
	} else if (u->err.len) {
		snprintf(line, sizeof(line), "%.*s", (int)u->err.len,
			 (char *)u->err.data + u->err.start);
		line[strcspn(line, "\n")] = '\0';
		mios_utf8(line);
		mios_error("mios", "%s: instance %d: %s", who, u->instance, line);
	} else {
		mios_error("mios", "%s: instance %d: status %d", who,
			   u->instance, u->status);
	}
	*status = MIOS_EXIT_FAILED;
	return true;
}
