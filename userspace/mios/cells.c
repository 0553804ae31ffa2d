// SPDX-License-Identifier: GPL-2.0
/*
 * Fills tables of libsmartcols.  Called by the commands that show what there is:
 * status, pool, shm and numastat.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cells.h"
#include "json.h"
#include "libmios/libmios.h"

static _Noreturn void die_memory(void)
{
	mios_die(MIOS_EXIT_FAILED, "no memory left for a table");
}

/* Without it an array would have all of the cell as its one element. */
static void split_at_newlines(struct libscols_column *column)
{
	scols_column_set_flags(column, SCOLS_FL_WRAP);
	if (scols_column_set_wrapfunc(column, scols_wrapnl_chunksize,
				      scols_wrapnl_nextchunk, NULL))
		die_memory();
}

void table_add_column(struct libscols_table *table, const char *name, int flags,
		      int type)
{
	struct libscols_column *column = scols_table_new_column(table, name, 0,
								flags);

	if (!column)
		die_memory();
	scols_column_set_json_type(column, type);
	if (scols_table_is_json(table) && type == SCOLS_JSON_ARRAY_NUMBER)
		split_at_newlines(column);
}

struct libscols_table *table_create(const char *name, const struct column *c,
				    bool json)
{
	struct libscols_table *table = scols_new_table();

	if (!table)
		die_memory();
	scols_table_enable_json(table, json);
	scols_table_set_name(table, name);
	/* Cut by a narrow terminal a table would hide what is asked for. */
	scols_table_enable_nowrap(table, 0);
	for (; c->title || c->json; c++)
		if (json ? c->json : c->title)
			table_add_column(table, json ? c->json : c->title,
					 c->flags, c->type);
	return table;
}

struct libscols_line *table_add_line(struct libscols_table *table)
{
	struct libscols_line *line = scols_table_new_line(table, NULL);

	if (!line)
		die_memory();
	return line;
}

/* Names, and what another kernel says of itself, may be anything; JSON is UTF-8. */
void cell_set(struct libscols_line *line, int column, const char *text)
{
	char *copy = strdup(text);

	if (!copy)
		die_memory();
	mios_utf8(copy);
	if (scols_line_refer_data(line, column, copy))
		die_memory();
}

void cell_set_number(struct libscols_line *line, int column, int64_t value)
{
	char text[32];

	snprintf(text, sizeof(text), "%" PRId64, value);
	cell_set(line, column, text);
}

void cell_set_size(struct libscols_line *line, int column, uint64_t bytes,
		   bool json)
{
	char text[32];

	if (json) {
		cell_set_number(line, column, bytes);
		return;
	}
	mios_size_text(bytes, text, sizeof(text));
	cell_set(line, column, text);
}

void table_show(struct libscols_table *table, bool json)
{
	if (json) {
		json_begin();
		json_table(table);
		json_end();
	} else {
		scols_print_table(table);
	}
	scols_unref_table(table);
	mios_flush_stdout();
}
