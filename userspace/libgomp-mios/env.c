// SPDX-License-Identifier: GPL-2.0
/*
 * OMP_* variables, read once when the library is loaded.  One that is not
 * understood is left out, with a line that says so.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "gomp.h"

#define THOUSAND	1000u

/* All processes read the same: the first one says it. */
void settings_complain(const char *name, const char *text)
{
	if (mios_omp_place.number)
		return;
	fprintf(stderr, "mios: omp: %s=%.40s is not understood, and left out\n",
		name, text);
}

static const char *skip_blanks(const char *text)
{
	while (isspace((unsigned char)*text))
		text++;
	return text;
}

/* Nothing else than @word, with blanks around it or none. */
static bool is_word(const char *text, const char *word)
{
	size_t len = strlen(word);

	text = skip_blanks(text);
	return !strncasecmp(text, word, len) && !*skip_blanks(text + len);
}

bool setting_is_true(const char *name)
{
	const char *text = getenv(name);

	if (!text || is_word(text, "false") || is_word(text, "0"))
		return false;
	if (is_word(text, "true") || is_word(text, "1"))
		return true;
	settings_complain(name, text);
	return false;
}

/* False: it is none, or above @max. */
static bool is_number(const char *text, unsigned long max, unsigned long *n)
{
	const char *digits = skip_blanks(text);
	char *end;

	*n = strtoul(digits, &end, 10);
	return isdigit((unsigned char)*digits) && !*skip_blanks(end) &&
	       *n <= max;
}

static void read_number(const char *name, unsigned long max, uint32_t *value)
{
	const char *text = getenv(name);
	unsigned long n;

	if (!text)
		return;
	if (is_number(text, max, &n) && n)
		*value = n;
	else
		settings_complain(name, text);
}

/* 6,2: of a region, then of those within it. */
static void read_threads(void)
{
	const char *text = getenv("OMP_NUM_THREADS"), *at = text;
	uint32_t *value = &settings->threads;
	const char *end;
	unsigned long n;
	char *after;

	while (at && value < settings->inner + OMP_LEVELS) {
		n = strtoul(at, &after, 10);
		end = skip_blanks(after);
		if (after == at || (*end && *end != ',') || !n ||
		    n > OMP_MAX_MEMBERS) {
			settings_complain("OMP_NUM_THREADS", text);
			return;
		}
		*value = n;
		value = value == &settings->threads ? settings->inner : value + 1;
		at = *end ? end + 1 : NULL;
	}
	if (settings->inner[0])
		settings->max_active = OMP_MOST_LEVELS;
}

/* One that may be 0. */
static void read_count(const char *name, int *value)
{
	const char *text = getenv(name);
	unsigned long n;

	if (!text)
		return;
	if (is_number(text, INT32_MAX, &n))
		*value = n;
	else
		settings_complain(name, text);
}

static void read_levels(void)
{
	if (setting_is_true("OMP_NESTED"))
		settings->max_active = OMP_MOST_LEVELS;
	read_count("OMP_MAX_ACTIVE_LEVELS", &settings->max_active);
	if (settings->max_active > OMP_MOST_LEVELS)
		settings->max_active = OMP_MOST_LEVELS;
}

static const char *skip_modifier(const char *text)
{
	static const char * const words[] = { "monotonic", "nonmonotonic" };
	const char *end;
	int i;

	for (i = 0; i < 2; i++) {
		end = skip_blanks(text + strnlen(text, strlen(words[i])));
		if (!strncasecmp(text, words[i], strlen(words[i])) &&
		    *end == ':')
			return skip_blanks(end + 1);
	}
	return text;
}

/* [monotonic:|nonmonotonic:]KIND[,CHUNK] */
static void read_schedule(void)
{
	static const char * const kinds[] = {
		[STATIC] = "static", [DYNAMIC] = "dynamic",
		[GUIDED] = "guided", [AUTO] = "auto",
	};
	const char *text = getenv("OMP_SCHEDULE"), *kind, *rest;
	unsigned long chunk = 0;
	size_t len;
	int i;

	if (!text)
		return;
	kind = skip_modifier(skip_blanks(text));
	len = strcspn(kind, ", \t");
	rest = skip_blanks(kind + len);
	for (i = STATIC; i <= AUTO; i++)
		if (strlen(kinds[i]) == len && !strncasecmp(kind, kinds[i],
							    len))
			break;
	if (i > AUTO || (*rest && (*rest != ',' ||
				   !is_number(rest + 1, INT32_MAX, &chunk)))) {
		settings_complain("OMP_SCHEDULE", text);
		return;
	}
	settings->schedule = i;
	settings->chunk = chunk || i == STATIC ? chunk : 1;
}

/* 30000, 300k or infinity */
static void read_spins(void)
{
	static const char units[] = "kmgt";
	const char *text = getenv("GOMP_SPINCOUNT"), *unit = NULL, *c;
	unsigned long n;
	char *end;

	if (!text)
		return;
	n = strtoul(text, &end, 10);
	if (*end && end != text)
		unit = strchr(units, tolower((unsigned char)*end));
	for (c = units; unit && c <= unit && n < UINT32_MAX; c++)
		n *= THOUSAND;
	if (is_word(text, "infinity") || is_word(text, "infinite"))
		mios_omp_spins = UINT32_MAX;
	else if (end == text || *skip_blanks(end + !!unit))
		settings_complain("GOMP_SPINCOUNT", text);
	else
		mios_omp_spins = n < UINT32_MAX ? n : UINT32_MAX;
}

static void read_waiting(void)
{
	const char *text = getenv("OMP_WAIT_POLICY");

	if (text && is_word(text, "passive"))
		mios_omp_spins = 0;
	else if (text && !is_word(text, "active"))
		settings_complain("OMP_WAIT_POLICY", text);
	read_spins();
}

static void read_offload(void)
{
	const char *text = getenv("OMP_TARGET_OFFLOAD");

	if (!text)
		return;
	settings->must_offload = is_word(text, "mandatory");
	settings->no_offload = is_word(text, "disabled");
	if (!settings->must_offload && !settings->no_offload &&
	    !is_word(text, "default"))
		settings_complain("OMP_TARGET_OFFLOAD", text);
}

static void read_allocator(void)
{
	const char *text = getenv("OMP_ALLOCATOR");
	uintptr_t handle = text ? allocator_of(text) : settings->allocator;

	if (handle)
		settings->allocator = handle;
	else
		settings_complain("OMP_ALLOCATOR", text);
}

static void __attribute__((constructor)) read_variables(void)
{
	read_offload();
	read_allocator();
	read_count("OMP_DEFAULT_DEVICE", &settings->device);
	read_count("OMP_NUM_TEAMS", &settings->most_teams);
	read_count("OMP_TEAMS_THREAD_LIMIT", &settings->team_limit);
	read_threads();
	read_levels();
	read_schedule();
	read_waiting();
	read_number("OMP_THREAD_LIMIT", INT32_MAX, &settings->limit);
	read_count("OMP_MAX_TASK_PRIORITY", &settings->max_priority);
	settings->dynamic = setting_is_true("OMP_DYNAMIC");
	settings->show_affinity = setting_is_true("OMP_DISPLAY_AFFINITY");
	affinity_start();
	settings->cancellation = setting_is_true("OMP_CANCELLATION");
}
