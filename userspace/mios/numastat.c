// SPDX-License-Identifier: GPL-2.0
/*
 * mios numastat: on which nodes the pages of files in /mios lie, each file's and
 * all together, as miosfs tells.  A file of several names counts once.
 */
#include <errno.h>
#include <ftw.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cells.h"
#include "flags.h"
#include "json.h"
#include "pages.h"
#include "subcommands.h"

#define FDS_MAX	16

static const char usage[] =
"Usage: mios numastat [OPTION...] [FILE...]\n"
"Shows how many pages of 4 KiB of each FILE in /mios, and of those in each folder,\n"
"lie on which node (default: of all files).\n\n"
"  -J, --json  for programs; mios-numastat(1) has the names\n"
"  -h, --help  print this\n";

/* What the walk, which takes no argument, fills in; one at a time. */
static struct {
	struct libscols_table *files;
	struct pool_section *sections;
	unsigned int nr;
	uint64_t sum[MIOS_MAX_INSTANCES];
	ino_t *seen;		/* of several names */
	size_t nr_seen;
	bool json;
	int status;
} walk;

static void die_memory(void)
{
	mios_die(MIOS_EXIT_FAILED, "numastat: no memory left");
}

static const struct column no_columns[] = { { } };

/* For a person a column for each node, for programs a line. */
static void files_begin(void)
{
	char title[32];
	unsigned int i;

	walk.files = table_create("files", no_columns, walk.json);
	table_add_column(walk.files, walk.json ? "file" : "FILE", 0,
			 SCOLS_JSON_STRING);
	if (walk.json) {
		table_add_column(walk.files, "node", 0, SCOLS_JSON_NUMBER);
		table_add_column(walk.files, "pages", 0, SCOLS_JSON_NUMBER);
		return;
	}
	for (i = 0; i < walk.nr; i++) {
		snprintf(title, sizeof(title), "NODE %u",
			 walk.sections[i].node);
		table_add_column(walk.files, title, SCOLS_FL_RIGHT,
				 SCOLS_JSON_NUMBER);
	}
	table_add_column(walk.files, "ALL", SCOLS_FL_RIGHT, SCOLS_JSON_NUMBER);
}

static void add_line(const char *name, const uint64_t *pages)
{
	struct libscols_line *line = table_add_line(walk.files);
	uint64_t all = 0;
	unsigned int i;

	cell_set(line, 0, name);
	for (i = 0; i < walk.nr; i++) {
		cell_set_number(line, 1 + i, pages[walk.sections[i].node]);
		all += pages[walk.sections[i].node];
	}
	cell_set_number(line, 1 + i, all);
}

static void add_json(const char *name, const uint64_t *pages)
{
	struct libscols_line *line;
	unsigned int i;

	for (i = 0; i < MIOS_MAX_INSTANCES; i++) {
		if (!pages[i])
			continue;
		line = table_add_line(walk.files);
		cell_set(line, 0, name);
		cell_set_number(line, 1, i);
		cell_set_number(line, 2, pages[i]);
	}
}

static void add_file(const char *path, const uint64_t *pages)
{
	unsigned int i;

	for (i = 0; i < MIOS_MAX_INSTANCES; i++)
		walk.sum[i] += pages[i];
	if (walk.json)
		add_json(path, pages);
	else
		add_line(path, pages);
}

static bool was_seen(const struct stat *st)
{
	size_t i;

	if (st->st_nlink < 2)
		return false;
	for (i = 0; i < walk.nr_seen; i++)
		if (walk.seen[i] == st->st_ino)
			return true;
	walk.seen = realloc(walk.seen, (walk.nr_seen + 1) * sizeof(ino_t));
	if (!walk.seen)
		die_memory();
	walk.seen[walk.nr_seen++] = st->st_ino;
	return false;
}

static int visit(const char *path, const struct stat *st, int type,
		 struct FTW *ftw)
{
	uint64_t pages[MIOS_MAX_INSTANCES];
	int err;

	(void)ftw;
	if (type == FTW_DNR || type == FTW_NS) {
		mios_error("mios", "numastat: %s: %m", path);
		walk.status = MIOS_EXIT_FAILED;
	}
	if (type != FTW_F || !S_ISREG(st->st_mode) || was_seen(st))
		return 0;
	err = file_pages_read(path, pages);
	if (!err) {
		add_file(path, pages);
	} else if (err == -EOPNOTSUPP || err == -ENODATA) {
		mios_die(MIOS_EXIT_FAILED, "numastat: %s is not in "
			 SHARED_DIR ", nor in another miosfs", path);
	} else if (err != -ENOENT) {
		mios_error("mios", "numastat: %s: %s", path, strerror(-err));
		walk.status = MIOS_EXIT_FAILED;
	}
	return 0;
}

static void print_json(void)
{
	struct libscols_table *nodes = table_create("nodes", no_columns, true);
	struct libscols_line *line;
	unsigned int i;

	table_add_column(nodes, "node", 0, SCOLS_JSON_NUMBER);
	table_add_column(nodes, "pages", 0, SCOLS_JSON_NUMBER);
	for (i = 0; i < walk.nr; i++) {
		line = table_add_line(nodes);
		cell_set_number(line, 0, walk.sections[i].node);
		cell_set_number(line, 1, walk.sum[walk.sections[i].node]);
	}
	json_begin();
	json_table(nodes);
	json_table(walk.files);
	json_end();
	scols_unref_table(nodes);
}

static int show(char **paths)
{
	char shared[] = SHARED_DIR;
	char *all[2] = { shared };

	walk.nr = pool_read("numastat", &walk.sections);
	files_begin();
	for (paths = *paths ? paths : all; *paths; paths++)
		if (nftw(*paths, visit, FDS_MAX, FTW_PHYS | FTW_MOUNT))
			mios_die(MIOS_EXIT_FAILED, "numastat: %s: %m", *paths);
	if (walk.json) {
		print_json();
	} else {
		add_line("all", walk.sum);
		scols_print_table(walk.files);
	}
	scols_unref_table(walk.files);
	free(walk.seen);
	free(walk.sections);
	mios_flush_stdout();
	return walk.status;
}

int cmd_numastat(int argc, char **argv)
{
	const struct flag flags[] = { { "json", 'J', &walk.json }, { } };

	flags_take("numastat", usage, argc, argv, flags);
	return show(argv + optind);
}
