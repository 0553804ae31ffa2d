// SPDX-License-Identifier: GPL-2.0
/*
 * mios shm: the files of a /dev/shm that all instances share, who has made
 * each, and who has it open, as miosfs tells in extended attributes.  A file is
 * left behind when the boot that has made it is over and nobody has it open:
 * --sweep removes those, as the end of a kernel removes a /dev/shm of its own.
 * miosd calls that on instance 0 after an end.  A name that comes
 * back between the look and the removal goes, too.
 */
#include <dirent.h>
#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "cells.h"
#include "flags.h"
#include "json.h"
#include "libmios/libmios.h"
#include "subcommands.h"

#define UNKNOWN		(-1)

static const char usage[] =
"Usage: mios shm [OPTION...]\n"
"Shows the files of " MIOS_SHM ", which all instances share: size, user, the instance\n"
"and boot that have made it, the instances that have it open, and whether it is\n"
"left behind: its maker's boot is over, and nobody has it open.\n\n"
"  -J, --json   for programs; mios-shm(1) has the names\n"
"      --sweep  remove what is left behind, and say what\n"
"  -h, --help   print this\n";

enum { C_NAME, C_SIZE, C_USER, C_INSTANCE, C_BOOT, C_OPEN, C_LEFT, NR_COLUMNS };

static const struct column columns[NR_COLUMNS + 1] = {
	[C_NAME] = { "NAME", "name", 0, SCOLS_JSON_STRING },
	[C_SIZE] = { "SIZE", "size", SCOLS_FL_RIGHT, SCOLS_JSON_NUMBER },
	[C_USER] = { "USER", "user", 0, SCOLS_JSON_STRING },
	[C_INSTANCE] = { "INSTANCE", "instance", SCOLS_FL_RIGHT,
			 SCOLS_JSON_NUMBER },
	[C_BOOT] = { "BOOT", "incarnation", SCOLS_FL_RIGHT, SCOLS_JSON_NUMBER },
	[C_OPEN] = { "OPEN", "open", 0, SCOLS_JSON_STRING },
	[C_LEFT] = { "LEFT", "left", 0, SCOLS_JSON_BOOLEAN },
};

/* @instance, @boot: of its maker, or UNKNOWN: it may not be read. */
struct file {
	char name[NAME_MAX + 1];
	struct stat stat;
	long instance, boot;
	char open[256];
	bool left;
};

static bool is_over(long instance, long boot)
{
	struct mios_instance inst;

	if (mios_instance_read(instance, &inst))
		return true;
	return inst.incarnation > boot || inst.state == MIOS_STATE_DOWN ||
	       inst.state == MIOS_STATE_DEAD || inst.state == MIOS_STATE_HELD;
}

static int read_attribute(const char *name, const char *attribute, char *text,
			  size_t size)
{
	ssize_t len = getxattr(name, attribute, text, size - 1);

	if (len < 0)
		return -errno;
	text[len] = '\0';
	return 0;
}

/* Is there such a file?  All names are looked up in it, where we are. */
static bool look(const char *name, struct file *file)
{
	char maker[64];

	memset(file, 0, sizeof(*file));
	snprintf(file->name, sizeof(file->name), "%s", name);
	if (lstat(name, &file->stat) || !S_ISREG(file->stat.st_mode))
		return false;
	if (!read_attribute(name, "mios.maker", maker, sizeof(maker)) &&
	    !read_attribute(name, "mios.open", file->open,
			    sizeof(file->open)) &&
	    sscanf(maker, "%ld %ld", &file->instance, &file->boot) == 2) {
		file->left = !file->open[0] &&
			     is_over(file->instance, file->boot);
		return true;
	}
	file->instance = UNKNOWN;
	file->boot = UNKNOWN;
	return true;
}

static void set_known(struct libscols_line *line, int column, int64_t value,
		      bool json)
{
	if (value == UNKNOWN)
		cell_set(line, column, json ? "" : "-");
	else
		cell_set_number(line, column, value);
}

static void set_user(struct libscols_line *line, uid_t uid)
{
	const struct passwd *pw = getpwuid(uid);
	char text[32];

	snprintf(text, sizeof(text), "%u", uid);
	cell_set(line, C_USER, pw ? pw->pw_name : text);
}

static void add_line(struct libscols_table *table, struct file *file, bool json)
{
	struct libscols_line *line = table_add_line(table);

	cell_set(line, C_NAME, file->name);
	cell_set_size(line, C_SIZE, file->stat.st_size, json);
	set_user(line, file->stat.st_uid);
	set_known(line, C_INSTANCE, file->instance, json);
	set_known(line, C_BOOT, file->boot, json);
	cell_set(line, C_OPEN, file->open[0] || json ? file->open : "-");
	if (json)
		cell_set(line, C_LEFT, file->left ? "1" : "0");
	else
		cell_set(line, C_LEFT, file->left ? "yes" : "no");
}

static DIR *enter(void)
{
	DIR *dir;

	if (!mios_shm_is_shared())
		mios_die(MIOS_EXIT_FAILED, "shm: " MIOS_SHM " is this instance's "
			 "own: see shm in mios-set(1)");
	dir = chdir(MIOS_SHM) ? NULL : opendir(".");
	if (!dir)
		mios_die(MIOS_EXIT_FAILED, "shm: " MIOS_SHM ": %m");
	return dir;
}

static void list(bool json)
{
	struct libscols_table *table = table_create("files", columns, json);
	struct dirent *entry;
	DIR *dir = enter();
	struct file file;

	while ((entry = readdir(dir)))
		if (look(entry->d_name, &file))
			add_line(table, &file, json);
	closedir(dir);
	if (json) {
		json_begin();
		json_table(table);
		json_end();
	} else if (scols_table_get_nlines(table)) {
		scols_print_table(table);
	}
	scols_unref_table(table);
	mios_flush_stdout();
}

static int sweep(void)
{
	int status = MIOS_EXIT_OK;
	struct dirent *entry;
	DIR *dir = enter();
	struct file file;

	while ((entry = readdir(dir))) {
		if (!look(entry->d_name, &file) || !file.left)
			continue;
		if (!unlink(entry->d_name)) {
			mios_put_visible(file.name, strlen(file.name));
			printf(" of instance %ld is removed\n", file.instance);
		} else if (errno != ENOENT) {
			mios_error("mios", "shm: %s: %m", entry->d_name);
			status = MIOS_EXIT_FAILED;
		}
	}
	closedir(dir);
	mios_flush_stdout();
	return status;
}

int cmd_shm(int argc, char **argv)
{
	bool json = false, remove = false;
	const struct flag flags[] = {
		{ "json", 'J', &json }, { "sweep", 0, &remove }, { }
	};

	flags_take("shm", usage, argc, argv, flags);
	if (optind < argc)
		mios_die(MIOS_EXIT_USAGE, "shm: it takes no argument '%s' "
			 "(try 'mios shm --help')", argv[optind]);
	if (remove)
		return sweep();
	list(json);
	return MIOS_EXIT_OK;
}
