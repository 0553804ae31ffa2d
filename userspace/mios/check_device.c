// SPDX-License-Identifier: GPL-2.0
/*
 * mios check: what else is in the machine: an IOMMU in the way of "mios give",
 * watchdogs, and memory that cannot move out of a node's way.
 */
#include <glob.h>
#include <linux/mios_refusal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

/* Names of remapped interrupt controllers begin with IR-. */
static bool remapped(void)
{
	FILE *file = fopen("/proc/interrupts", "re");
	char line[65536];
	bool found = false;

	while (file && !found && fgets(line, sizeof(line), file))
		found = strstr(line, " IR-");
	if (file)
		fclose(file);
	return found;
}

static void iommu(void)
{
	glob_t units = { };
	bool some = !glob("/sys/class/iommu/*", 0, NULL, &units);

	globfree(&units);
	if (remapped())
		check_say(CHECK_PART, "IOMMU", "instances run, mios give does "
			  "not: " MIOS_REFUSAL_REMAPPED);
	else if (some)
		check_say(CHECK_GOOD, "IOMMU", "on, interrupts are not remapped");
	else
		check_say(CHECK_PART, "IOMMU", "none: a device that is given "
			  "reaches all memory");
}

static void watchdogs(void)
{
	char path[512], state[32];
	glob_t dogs = { };
	size_t i;
	bool armed = false;

	if (!glob("/sys/class/watchdog/*", 0, NULL, &dogs))
		for (i = 0; i < dogs.gl_pathc; i++) {
			snprintf(path, sizeof(path), "%s/state",
				 dogs.gl_pathv[i]);
			armed |= check_read(path, state, sizeof(state)) &&
				 !strcmp(state, "active");
		}
	globfree(&dogs);
	if (armed)
		check_say(CHECK_PART, "watchdog", "one is armed: should instance "
			  "0 die it resets the machine, with all instances; see "
			  "mios-host-setup(8)");
	else
		check_say(CHECK_GOOD, "watchdog", "none that a program has armed");
}

static void pinned(void)
{
	char huge[64] = "0", cma[64] = "0";

	check_line("/proc/meminfo", "Hugetlb:", huge, sizeof(huge));
	check_line("/proc/meminfo", "CmaTotal:", cma, sizeof(cma));
	if (atoll(huge) || atoll(cma))
		check_say(CHECK_PART, "fixed memory", "huge pages %lld kB, CMA "
			  "%lld kB: what of it comes to lie in a node has to "
			  "move before that boots", atoll(huge), atoll(cma));
	else
		check_say(CHECK_GOOD, "fixed memory", "neither huge pages nor "
			  "CMA");
}

void check_device(void)
{
	iommu();
	watchdogs();
	pinned();
}
