// SPDX-License-Identifier: GPL-2.0
/*
 * The part of mios status that says who lends memory to whom, to swap into.  The
 * module mios_swap asks all instances; without it here nothing is known.  No
 * locks.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cells.h"
#include "json.h"
#include "lend.h"
#include "libmios/libmios.h"
#include "subcommands.h"

enum { C_LENDER, C_BORROWER, C_SIZE, C_USED, C_LOST };

static const struct column columns[] = {
	{ "LENDER", "lender", SCOLS_FL_RIGHT, SCOLS_JSON_NUMBER },
	{ "BORROWER", "borrower", SCOLS_FL_RIGHT, SCOLS_JSON_NUMBER },
	{ "LENT", "size", SCOLS_FL_RIGHT, SCOLS_JSON_NUMBER },
	{ "USED", "used", SCOLS_FL_RIGHT, SCOLS_JSON_NUMBER },
	{ "LOST", "lost", SCOLS_FL_RIGHT, SCOLS_JSON_NUMBER },
	{ }
};

/* "LENDER BORROWER BYTES USED LOST"; "-" lends what is on the borrower's disk. */
static bool add_line(struct libscols_table *table, const char *text,
		     uint64_t which, int json)
{
	struct libscols_line *line;
	uint64_t bytes, used, lost;
	char lender[16];
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
	line = table_add_line(table);
	cell_set(line, C_LENDER, from < 0 && json ? "" : lender);
	cell_set_number(line, C_BORROWER, borrower);
	cell_set_size(line, C_SIZE, bytes, json);
	cell_set_size(line, C_USED, used, json);
	cell_set_size(line, C_LOST, lost, json);
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
	table = table_create("loans", columns, json);
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
