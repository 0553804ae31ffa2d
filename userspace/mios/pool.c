// SPDX-License-Identifier: GPL-2.0
/*
 * mios pool: the memory of each node that all instances may allocate from, how
 * much of it is in use, and by whom.
 */
#include <inttypes.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cells.h"
#include "flags.h"
#include "json.h"
#include "pages.h"
#include "subcommands.h"

static const char usage[] =
"Usage: mios pool [OPTION...] [NODE...]\n"
"       mios pool --users [OPTION...]\n"
"Shows the memory of each node that belongs to no kernel and that all instances\n"
"share as the files in /mios: where it lies, how large it is, how much is used\n"
"and free, and how much of it each instance has allocated.\n\n"
"  -u, --users  how many files each user has, how much is in them, and what of\n"
"               that counts for a user's share, which mios set shm.user limits\n"
"  -J, --json   for programs; mios-pool(1) has the names\n"
"  -h, --help   print this\n";

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

static const struct column owner_columns[] = {
	{ "UID", "uid", SCOLS_FL_RIGHT, SCOLS_JSON_NUMBER },
	{ "USER", "user", 0, SCOLS_JSON_STRING },
	{ "FILES", "files", SCOLS_FL_RIGHT, SCOLS_JSON_NUMBER },
	{ "USED", "used", SCOLS_FL_RIGHT, SCOLS_JSON_NUMBER },
	{ "PAID-FILES", "paid_files", SCOLS_FL_RIGHT, SCOLS_JSON_NUMBER },
	{ "PAID", "paid", SCOLS_FL_RIGHT, SCOLS_JSON_NUMBER },
	{ "OF-FILES", "share_files", SCOLS_FL_RIGHT, SCOLS_JSON_NUMBER },
	{ "OF", "share", SCOLS_FL_RIGHT, SCOLS_JSON_NUMBER },
	{ }
};

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
	cell_set(line, column, text);
}

static void add_section(struct libscols_table *table,
			const struct pool_section *s, bool json)
{
	struct libscols_line *line = table_add_line(table);
	uint64_t own = s->own * SHARED_PAGE, used = used_of(s);
	char address[32];

	cell_set_number(line, 0, s->node);
	snprintf(address, sizeof(address), json ? "%" PRIu64 : "0x%" PRIx64,
		 s->address);
	cell_set(line, 1, address);
	cell_set_size(line, 2, s->size, json);
	cell_set_size(line, 3, own, json);
	cell_set_size(line, 4, used, json);
	/* It may have changed between one look and the other. */
	cell_set_size(line, 5, own + used < s->size ? s->size - own - used : 0,
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
		line = table_add_line(table);
		cell_set_number(line, 0, s->node);
		cell_set_number(line, 1, i);
		cell_set_number(line, 2, s->kept[i] * SHARED_PAGE);
		cell_set_number(line, 3, s->held[i] * SHARED_PAGE);
	}
}

/* Those of @nodes, 0: all. */
static int show(uint64_t nodes, bool json)
{
	struct libscols_table *pools = table_create("pools", pool_columns, json);
	struct libscols_table *users = table_create("users", user_columns, true);
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

/* Numbers alone where nobody has a name; "others" are many, and have neither. */
static void add_owner(struct libscols_table *table, const struct pool_user *user,
		      const struct pool_share *share, bool json)
{
	struct libscols_line *line = table_add_line(table);
	const struct passwd *pw = user->uid < 0 ? NULL : getpwuid(user->uid);
	char number[24];

	snprintf(number, sizeof(number), "%" PRId64, user->uid);
	cell_set(line, 0, user->uid >= 0 || json ? number : "-");
	cell_set(line, 1, pw ? pw->pw_name : user->uid < 0 ? "others" : "-");
	cell_set_number(line, 2, user->files);
	cell_set_size(line, 3, user->pages * SHARED_PAGE, json);
	cell_set_number(line, 4, user->paid_files);
	cell_set_size(line, 5, user->paid_pages * SHARED_PAGE, json);
	if (json || share->files)
		cell_set_number(line, 6, share->files);
	else
		cell_set(line, 6, "-");
	if (json || share->bytes)
		cell_set_size(line, 7, share->bytes, json);
	else
		cell_set(line, 7, "-");
}

static int show_owners(bool json)
{
	struct libscols_table *table = table_create("owners", owner_columns,
						    json);
	struct pool_user *users;
	struct pool_share share;
	unsigned int i, nr = pool_users_read("pool", &users);
	int err = share_read(&share);

	if (err)
		mios_die(MIOS_EXIT_FAILED, "pool: a user's share: %s",
			 strerror(-err));
	for (i = 0; i < nr; i++)
		add_owner(table, &users[i], &share, json);
	table_show(table, json);
	free(users);
	return MIOS_EXIT_OK;
}

int cmd_pool(int argc, char **argv)
{
	uint64_t nodes = 0, more;
	bool json = false, owners = false;
	const struct flag flags[] = {
		{ "json", 'J', &json }, { "users", 'u', &owners }, { }
	};

	flags_take("pool", usage, argc, argv, flags);
	if (owners && optind < argc)
		mios_usage("pool", "--users is about files, wherever their "
			   "pages lie: name no node");
	if (owners)
		return show_owners(json);
	for (; optind < argc; optind++) {
		if (mios_parse_nodes(argv[optind], &more))
			mios_usage("pool", "'%.40s' is no list of nodes: write "
				   "1 or 1-3,5", argv[optind]);
		nodes |= more;
	}
	return show(nodes, json);
}
