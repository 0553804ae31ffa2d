/* SPDX-License-Identifier: GPL-2.0 */
/* One command on several instances, its output collected: mios ps, mios trace. */
#ifndef MIOS_EVERYWHERE_H
#define MIOS_EVERYWHERE_H

#include <stdbool.h>
#include <stdint.h>

#include "libmios/client.h"

/*
 * @who: "ps", for messages; @instances: 0 for all that are up; @status: becomes
 * MIOS_EXIT_FAILED with each line
 */
unsigned int everywhere_choose(const char *who, uint64_t instances,
			       struct unattended *list, int *status);
void everywhere_run(struct unattended *list, unsigned int nr, char **argv,
		    unsigned int ms);
bool everywhere_failed(const char *who, struct unattended *u, int good,
		       int *status);

#endif /* MIOS_EVERYWHERE_H */
