// SPDX-License-Identifier: GPL-2.0
/*
 * mios pool: the memory of each node that all instances may allocate from, how
 * much of it is in use, and by whom.
 */
#include <inttypes.h>
#include <libsmartcols/libsmartcols.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "flags.h"
#include "json.h"
#include "pages.h"
#include "subcommands.h"

static const char usage[] =
"Usage: mios pool [OPTION...] [NODE...]\n"
"Shows the memory of each node that belongs to no kernel and that all instances\n"
"share as the files in /mios: where it lies, how large it is, how much is used\n"
"and free, and how much of it each instance has allocated.\n\n"
"  -J, --json  for programs; mios-pool(1) has the names\n"
"  -h, --help  print this\n";

struct column {
	const char *title, *json;
	int flags, type;
};

static const struct column pool_columns[] = {
	{ "NODE", "node", SCOLS_FL_RIGHT, SCOLS_JSON_NUMBER },
	{ "ADDRESS", "address", SCOLS_FL_RIGHT, SCOLS_JSON_NUMBER },
	{ "SIZE", "size", SCOLS_FL_RIGHT, SCOLS_JSON_NUMBER },
	{ "OWN", "own", SCOLS_FL_RIGHT, SCOLS_JSON_NUMBER },
	{ "USED", "used", SCOLS_FL_RIGHT, SCOLS_JSON_NUMBER },
	{ "FREE", "free", SCOLS_FL_RIGHT, SCOLS_JSON_NUMBER },
	{ "BY", NULL, 0, SCOLS_JSON_STRING },
	{ }
};

static const struct column user_columns[] = {
	{ "NODE", "node", 0, SCOLS_JSON_NUMBER },
	{ "INSTANCE", "instance", 0, SCOLS_JSON_NUMBER },
	{ "KEPT", "kept", 0, SCOLS_JSON_NUMBER },
	{ "HELD", "held", 0, SCOLS_JSON_NUMBER },
	{ }
};

static void die_memory(void)
{
	mios_die(MIOS_EXIT_FAILED, "pool: no memory left");
}

static struct libscols_table *new_table(const char *name,
					const struct column *c, bool json)
{
	struct libscols_table *table = scols_new_table();
	struct libscols_column *column;

	if (!table)
		die_memory();
	scols_table_enable_json(table, json);
	scols_table_set_name(table, name);
	scols_table_enable_nowrap(table, 0);
	for (; c->title; c++) {
		if (json && !c->json)
			continue;
		column = scols_table_new_column(table, json ? c->json :
						c->title, 0, c->flags);
		if (!column)
			die_memory();
		scols_column_set_json_type(column, c->type);
	}
	return table;
}

static struct libscols_line *new_line(struct libscols_table *table)
{
	struct libscols_line *line = scols_table_new_line(table, NULL);

	if (!line)
		die_memory();
	return line;
}

static void set(struct libscols_line *line, int column, const char *text)
{
	if (scols_line_set_data(line, column, text))
		die_memory();
}

static void set_number(struct libscols_line *line, int column, uint64_t value)
{
	char text[32];

	snprintf(text, sizeof(text), "%" PRIu64, value);
	set(line, column, text);
}

static void set_size(struct libscols_line *line, int column, uint64_t bytes,
		     bool json)
{
	char text[32];

	if (json) {
		set_number(line, column, bytes);
		return;
	}
	mios_size_text(bytes, text, sizeof(text));
	set(line, column, text);
}

static uint64_t used_by(const struct pool_section *s, unsigned int instance)
{
	return (s->kept[instance] + s->held[instance]) * SHARED_PAGE;
}

static uint64_t used_of(const struct pool_section *s)
{
	uint64_t used = 0;
	unsigned int i;

	for (i = 0; i < MIOS_MAX_INSTANCES; i++)
		used += used_by(s, i);
	return used;
}

/* "0: 2.1M, 1: 12.0K" */
static void set_users(struct libscols_line *line, int column,
		      const struct pool_section *s)
{
	char text[MIOS_MAX_INSTANCES * 24] = "-", size[32];
	unsigned int i;
	int length = 0;

	for (i = 0; i < MIOS_MAX_INSTANCES; i++) {
		if (!used_by(s, i))
			continue;
		mios_size_text(used_by(s, i), size, sizeof(size));
		length += snprintf(text + length, sizeof(text) - length,
				   "%s%u: %s", length ? ", " : "", i, size);
	}
	set(line, column, text);
}

static void add_section(struct libscols_table *table,
			const struct pool_section *s, bool json)
{
	struct libscols_line *line = new_line(table);
	uint64_t own = s->own * SHARED_PAGE, used = used_of(s);
	char address[32];

	set_number(line, 0, s->node);
	snprintf(address, sizeof(address), json ? "%" PRIu64 : "0x%" PRIx64,
		 s->address);
	set(line, 1, address);
	set_size(line, 2, s->size, json);
	set_size(line, 3, own, json);
	set_size(line, 4, used, json);
	/* It may have changed between one look and the other. */
	set_size(line, 5, own + used < s->size ? s->size - own - used : 0,
		 json);
	if (!json)
		set_users(line, 6, s);
}

static void add_users(struct libscols_table *table,
		      const struct pool_section *s)
{
	struct libscols_line *line;
	unsigned int i;

	for (i = 0; i < MIOS_MAX_INSTANCES; i++) {
		if (!used_by(s, i))
			continue;
		line = new_line(table);
		set_number(line, 0, s->node);
		set_number(line, 1, i);
		set_number(line, 2, s->kept[i] * SHARED_PAGE);
		set_number(line, 3, s->held[i] * SHARED_PAGE);
	}
}

/* Those of @nodes, 0: all. */
static int show(uint64_t nodes, bool json)
{
	struct libscols_table *pools = new_table("pools", pool_columns, json);
	struct libscols_table *users = new_table("users", user_columns, true);
	struct pool_section *s;
	unsigned int i, nr = pool_read("pool", &s);
	uint64_t seen = 0;

	for (i = 0; i < nr; i++) {
		if (nodes && !(nodes & 1ULL << s[i].node))
			continue;
		seen |= 1ULL << s[i].node;
		add_section(pools, &s[i], json);
		add_users(users, &s[i]);
	}
	if (nodes & ~seen)
		mios_die(MIOS_EXIT_FAILED, "pool: node %d has none: see mios "
			 "reserve --pool", __builtin_ctzll(nodes & ~seen));
	if (json) {
		json_begin();
		json_table(pools);
		json_table(users);
		json_end();
	} else {
		scols_print_table(pools);
	}
	scols_unref_table(users);
	scols_unref_table(pools);
	free(s);
	mios_flush_stdout();
	return MIOS_EXIT_OK;
}

int cmd_pool(int argc, char **argv)
{
	uint64_t nodes = 0, more;
	bool json = false;
	const struct flag flags[] = { { "json", 'J', &json }, { } };

	flags_take("pool", usage, argc, argv, flags);
	for (; optind < argc; optind++) {
		if (mios_parse_nodes(argv[optind], &more))
			mios_usage("pool", "'%.40s' is no list of nodes: write "
				   "1 or 1-3,5", argv[optind]);
		nodes |= more;
	}
	return show(nodes, json);
}
