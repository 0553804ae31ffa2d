// SPDX-License-Identifier: GPL-2.0
/*
 * Keeps /run/mios/hostfile as mpirun reads it: one line per live instance of
 * our ring, with as many slots as it has CPUs.  Replaced by rename, so that
 * a reader sees the old one or the new one.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "miosd.h"

static size_t describe(const struct ring_view *v, char *text, size_t size)
{
	const struct mios_instance *inst;
	size_t len = 0;
	int i;

	for (i = 0; i < v->nr_instances && len < size; i++) {
		inst = &v->instances[i];
		if (inst->id != v->self &&
		    (inst->state != MIOS_STATE_UP || inst->ring != v->ring))
			continue;
		len += snprintf(text + len, size - len, "node%d slots=%u\n",
				inst->id, inst->cpus ? inst->cpus : 1);
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
