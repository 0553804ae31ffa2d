// SPDX-License-Identifier: GPL-2.0
/*
 * The part of mios status that says who lends memory to whom, to swap into.  The
 * module mios_swap asks all instances; without it here nothing is known.  No
 * locks.
 */
#include <inttypes.h>
#include <libsmartcols/libsmartcols.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "lend.h"
#include "libmios/libmios.h"
#include "subcommands.h"

enum { C_LENDER, C_BORROWER, C_SIZE, C_USED, C_LOST, NR_COLUMNS };

static const char *const titles[][2] = {
	{ "LENDER", "lender" },
	{ "BORROWER", "borrower" },
	{ "LENT", "size" },
	{ "USED", "used" },
	{ "LOST", "lost" },
};

static void die_nomem(void)
{
	mios_die(MIOS_EXIT_FAILED, "status: no memory left");
}

static struct libscols_table *new_table(int json)
{
	struct libscols_table *table = scols_new_table();
	struct libscols_column *column;
	int i;

	if (!table)
		die_nomem();
	scols_table_enable_json(table, json);
	scols_table_set_name(table, "loans");
	scols_table_enable_nowrap(table, 0);
	for (i = 0; i < NR_COLUMNS; i++) {
		column = scols_table_new_column(table, titles[i][json], 0,
						SCOLS_FL_RIGHT);
		if (!column)
			die_nomem();
		scols_column_set_json_type(column, SCOLS_JSON_NUMBER);
	}
	return table;
}

static void set(struct libscols_line *line, int column, const char *text)
{
	if (scols_line_set_data(line, column, text))
		die_nomem();
}

static void set_size(struct libscols_line *line, int column, uint64_t bytes,
		     int json)
{
	char text[32];

	if (json)
		snprintf(text, sizeof(text), "%" PRIu64, bytes);
	else
		mios_size_text(bytes, text, sizeof(text));
	set(line, column, text);
}

/* "LENDER BORROWER BYTES USED LOST"; "-" lends what is on the borrower's disk. */
static bool add_line(struct libscols_table *table, const char *text,
		     uint64_t which, int json)
{
	struct libscols_line *line;
	uint64_t bytes, used, lost;
	char lender[16], number[16];
	unsigned int borrower;
	int from = -1;

	if (sscanf(text, "%15s %u %" SCNu64 " %" SCNu64 " %" SCNu64, lender,
		   &borrower, &bytes, &used, &lost) != 5 ||
	    borrower >= MIOS_MAX_INSTANCES)
		return false;
	if (*lender != '-')
		from = atoi(lender);
	if (!(which & 1ULL << borrower) &&
	    (from < 0 || from >= MIOS_MAX_INSTANCES || !(which & 1ULL << from)))
		return false;
	line = scols_table_new_line(table, NULL);
	if (!line)
		die_nomem();
	set(line, C_LENDER, from < 0 && json ? "" : lender);
	snprintf(number, sizeof(number), "%u", borrower);
	set(line, C_BORROWER, number);
	set_size(line, C_SIZE, bytes, json);
	set_size(line, C_USED, used, json);
	set_size(line, C_LOST, lost, json);
	return true;
}

/* Who lends to whom, of those instances or to them: nothing, if nobody does. */
void lend_status(uint64_t which, int json)
{
	static char text[65536];
	struct libscols_table *table;
	char *line, *rest = text;
	bool any = false;

	if (!lend_parameter("loans", text, sizeof(text)))
		text[0] = '\0';
	table = new_table(json);
	while ((line = strsep(&rest, "\n")))
		any |= add_line(table, line, which, json);
	if (json && any) {
		json_table(table);
	} else if (json) {
		printf(",\n   \"loans\": []");
	} else if (any) {
		printf("\n");
		scols_print_table(table);
	}
	scols_unref_table(table);
}
