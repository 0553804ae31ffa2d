// SPDX-License-Identifier: GPL-2.0
/*
 * OMP_* variables, read once when the library is loaded.  One that is not
 * understood is left out, with a line that says so.
 */
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "gomp.h"

static struct settings mine = {
	.schedule = DYNAMIC, .chunk = 1, .max_active = 1, .nr_teams = 1,
	.allocator = 1,
};

struct settings *settings = &mine;

/* All processes read the same: the first one says it. */
void settings_complain(const char *name, const char *text)
{
	if (mios_omp_place.number)
		return;
	fprintf(stderr, "mios: omp: %s=%.40s is not understood, and left out\n",
		name, text);
}

bool setting_is_true(const char *name)
{
	const char *text = getenv(name);

	return text && (!strcasecmp(text, "true") || !strcmp(text, "1"));
}

static void read_number(const char *name, unsigned long max, uint32_t *value)
{
	const char *text = getenv(name);
	unsigned long n;
	char *end;

	if (!text)
		return;
	n = strtoul(text, &end, 10);
	if (end == text || *end || !n || n > max)
		settings_complain(name, text);
	else
		*value = n;
}

/* 6,2: of a region, then of those within it. */
static void read_threads(void)
{
	const char *text = getenv("OMP_NUM_THREADS"), *at = text;
	uint32_t *value = &mine.threads;
	unsigned long n;
	char *end;

	while (at && value < mine.inner + OMP_LEVELS) {
		n = strtoul(at, &end, 10);
		if (end == at || (*end && *end != ',') || !n ||
		    n > OMP_MAX_MEMBERS) {
			settings_complain("OMP_NUM_THREADS", text);
			return;
		}
		*value = n;
		value = value == &mine.threads ? mine.inner : value + 1;
		at = *end ? end + 1 : NULL;
	}
	if (mine.inner[0])
		mine.max_active = OMP_MOST_LEVELS;
}

/* One that may be 0. */
static void read_count(const char *name, int *value)
{
	const char *text = getenv(name);
	unsigned long n;
	char *end;

	if (!text)
		return;
	n = strtoul(text, &end, 10);
	if (end == text || *end || n > INT32_MAX)
		settings_complain(name, text);
	else
		*value = n;
}

static void read_levels(void)
{
	if (setting_is_true("OMP_NESTED"))
		mine.max_active = OMP_MOST_LEVELS;
	read_count("OMP_MAX_ACTIVE_LEVELS", &mine.max_active);
	if (mine.max_active > OMP_MOST_LEVELS)
		mine.max_active = OMP_MOST_LEVELS;
}

/* [monotonic:|nonmonotonic:]KIND[,CHUNK] */
static void read_schedule(void)
{
	static const char * const kinds[] = {
		[STATIC] = "static", [DYNAMIC] = "dynamic",
		[GUIDED] = "guided", [AUTO] = "auto",
	};
	const char *text = getenv("OMP_SCHEDULE"), *kind;
	size_t len;
	int i;

	if (!text)
		return;
	kind = strchr(text, ':') ? strchr(text, ':') + 1 : text;
	len = strcspn(kind, ",");
	for (i = STATIC; i <= AUTO; i++)
		if (strlen(kinds[i]) == len && !strncasecmp(kind, kinds[i],
							    len))
			break;
	if (i > AUTO) {
		settings_complain("OMP_SCHEDULE", text);
		return;
	}
	mine.schedule = i;
	mine.chunk = kind[len] ? strtoul(kind + len + 1, NULL, 10) :
			 i == STATIC ? 0 : 1;
}

static void read_waiting(void)
{
	const char *text = getenv("OMP_WAIT_POLICY");
	uint32_t spins = 0;

	if (text && !strcasecmp(text, "passive"))
		mios_omp_spins = 0;
	read_number("GOMP_SPINCOUNT", UINT32_MAX, &spins);
	if (spins)
		mios_omp_spins = spins;
}

static void read_offload(void)
{
	const char *text = getenv("OMP_TARGET_OFFLOAD");

	if (!text)
		return;
	mine.must_offload = !strcasecmp(text, "mandatory");
	mine.no_offload = !strcasecmp(text, "disabled");
	if (!mine.must_offload && !mine.no_offload &&
	    strcasecmp(text, "default"))
		settings_complain("OMP_TARGET_OFFLOAD", text);
}

static void read_allocator(void)
{
	const char *text = getenv("OMP_ALLOCATOR");
	uintptr_t handle = text ? allocator_of(text) : mine.allocator;

	if (handle)
		mine.allocator = handle;
	else
		settings_complain("OMP_ALLOCATOR", text);
}

static void __attribute__((constructor)) read_variables(void)
{
	read_offload();
	read_allocator();
	read_count("OMP_DEFAULT_DEVICE", &mine.device);
	read_count("OMP_NUM_TEAMS", &mine.most_teams);
	read_count("OMP_TEAMS_THREAD_LIMIT", &mine.team_limit);
	read_threads();
	read_levels();
	read_schedule();
	read_waiting();
	read_number("OMP_THREAD_LIMIT", INT32_MAX, &mine.limit);
	read_count("OMP_MAX_TASK_PRIORITY", &mine.max_priority);
	mine.dynamic = setting_is_true("OMP_DYNAMIC");
	mine.show_affinity = setting_is_true("OMP_DISPLAY_AFFINITY");
	affinity_start();
	mine.cancellation = setting_is_true("OMP_CANCELLATION");
}
