// SPDX-License-Identifier: GPL-2.0
/*
 * mios check --try: what has been measured, a line each.
 */
#include <stdio.h>

#include "cells.h"
#include "json.h"
#include "libmios/libmios.h"
#include "try.h"

static const struct column columns[] = {
	{ "WHAT", "what", 0, SCOLS_JSON_STRING },
	{ "TIMES", "count", SCOLS_FL_RIGHT, SCOLS_JSON_NUMBER },
	{ "MEDIAN", "median", SCOLS_FL_RIGHT, SCOLS_JSON_NUMBER },
	{ "MIN", "min", SCOLS_FL_RIGHT, SCOLS_JSON_NUMBER },
	{ "P99", "p99", SCOLS_FL_RIGHT, SCOLS_JSON_NUMBER },
	{ "MAX", "max", SCOLS_FL_RIGHT, SCOLS_JSON_NUMBER },
	{ }
};

static const char * const names[TRY_NR] = {
	[TRY_TAKE] = "CPU and memory taken",
	[TRY_LOAD] = "kernel and initrd loaded",
	[TRY_BOOT] = "booted, to the ring",
	[TRY_BELL] = "doorbell, there and back",
	[TRY_WAKE] = "wake of a futex, there and back",
	[TRY_COPIED] = "64 KiB copied from its process",
	[TRY_BACK] = "given back",
};

static void cell_time(struct libscols_line *line, int column, uint64_t ns,
		      bool json)
{
	char text[32];

	if (json) {
		cell_set_number(line, column, ns);
		return;
	}
	if (ns < 10000000)
		snprintf(text, sizeof(text), "%.1f us", ns / 1e3);
	else if (ns < 1000000000)
		snprintf(text, sizeof(text), "%.0f ms", ns / 1e6);
	else
		snprintf(text, sizeof(text), "%.1f s", ns / 1e9);
	cell_set(line, column, text);
}

/* What was done once has no spread. */
static void row(struct libscols_table *table, const char *name,
		const struct try_sample *s, bool json)
{
	struct libscols_line *line = table_add_line(table);
	const uint64_t spread[] = { s->min, s->p99, s->max };
	int i;

	cell_set(line, 0, name);
	cell_set_number(line, 1, s->count);
	cell_time(line, 2, s->median, json);
	for (i = 0; i < 3; i++)
		if (json || s->count > 1)
			cell_time(line, 3 + i, s->count > 1 ? spread[i] :
				  s->median, json);
}

static void show_json(struct libscols_table *measures, const struct try_place *place,
		      struct libscols_table *things)
{
	json_begin();
	json_table(things);
	printf(",\n   \"part\": ");
	json_string(place->parts);
	json_table(measures);
	json_end();
}

void try_show(const struct try_place *place, const struct try_found *found,
	      struct libscols_table *things)
{
	struct libscols_table *table = table_create("measures", columns, things);
	char size[32];
	int i;

	/* What was not reached has no figures. */
	for (i = 0; i < TRY_NR; i++)
		if (found->sample[i].count)
			row(table, names[i], &found->sample[i], things);
	mios_size_text(place->memory, size, sizeof(size));
	if (things) {
		show_json(table, place, things);
	} else {
		printf("CPU %d and %s, %s, were an instance of their own.\n\n",
		       place->cpu, size, place->parts);
		scols_print_table(table);
		printf("\nAll is as it was: its CPU is online, no module is left, and "
		       "nothing was written.\n");
	}
	scols_unref_table(table);
	mios_flush_stdout();
}
