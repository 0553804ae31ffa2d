// SPDX-License-Identifier: GPL-2.0
/*
 * mios ps: the processes of all instances in one table.  On each instance the
 * system's own ps does the work, as the caller: he sees there what he sees at a
 * login.  Signals are ps_signal.c's.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cells.h"
#include "everywhere.h"
#include "ps.h"
#include "subcommands.h"

#define PID_MAX		(1l << 22)

static const char help[] =
"Usage: mios ps [OPTION...] [PID...]\n"
"Shows your processes on all instances, by their numbers, which are the whole\n"
"machine's; or those that are named.\n\n"
"  -a, --all            everybody's\n"
"  -K, --kernel         the kernels' own, too\n"
"  -u, --user USER      those of USER, a name or a number\n"
"  -c, --command NAME   those whose program has this name\n"
"  -i, --instances LIST on these only, such as 1-3\n"
"  -s, --signal SIGNAL  do not show them: send SIGNAL, such as TERM; wants PIDs,\n"
"                       -c or -u\n"
"  -J, --json           for programs; mios-ps(1) has the names\n"
"  -h, --help           print this\n";

static const struct option options[] = {
	{ "all", no_argument, NULL, 'a' },
	{ "kernel", no_argument, NULL, 'K' },
	{ "user", required_argument, NULL, 'u' },
	{ "command", required_argument, NULL, 'c' },
	{ "instances", required_argument, NULL, 'i' },
	{ "signal", required_argument, NULL, 's' },
	{ "json", no_argument, NULL, 'J' },
	{ "help", no_argument, NULL, 'h' },
	{ }
};

static const struct column columns[] = {
	{ "INSTANCE", "instance", SCOLS_FL_RIGHT, SCOLS_JSON_NUMBER },
	{ "PID", "pid", SCOLS_FL_RIGHT, SCOLS_JSON_NUMBER },
	{ NULL, "ppid", 0, SCOLS_JSON_NUMBER },
	{ NULL, "uid", 0, SCOLS_JSON_NUMBER },
	{ "USER", "user", 0, SCOLS_JSON_STRING },
	{ "STATE", "state", 0, SCOLS_JSON_STRING },
	{ "THREADS", "threads", SCOLS_FL_RIGHT, SCOLS_JSON_NUMBER },
	{ "RSS", "rss", SCOLS_FL_RIGHT, SCOLS_JSON_NUMBER },
	{ "AGE-S", "seconds", SCOLS_FL_RIGHT, SCOLS_JSON_NUMBER },
	{ "CPU-S", "cpu_seconds", SCOLS_FL_RIGHT, SCOLS_JSON_NUMBER },
	{ "COMMAND", "command", 0, SCOLS_JSON_STRING },
	{ }
};

/* What ps says of one process. */
struct row {
	long pid, ppid, threads, age, cpu;
	unsigned long uid;
	uint64_t rss, size;	/* KiB */
	char state[8];
	char *command;
};

static const char * const fields[] = {
	"pid=", "ppid=", "uid=", "stat=", "nlwp=", "rss=", "vsz=", "etimes=",
	"cputimes=", "args=",
};

#define NR_FIELDS	(sizeof(fields) / sizeof(fields[0]))

/* --- what is asked for --- */

static uid_t parse_user(const char *text)
{
	const struct passwd *pw = getpwnam(text);
	long uid;

	if (pw)
		return pw->pw_uid;
	if (mios_number(text, 0, UINT32_MAX - 1l, &uid))
		mios_usage("ps", "there is no user '%.40s'", text);
	return uid;
}

/* Longer names than the kernel keeps are found by what it keeps. */
static void parse_command(struct ps_wish *w, const char *text)
{
	if (!*text || strpbrk(text, ",\n"))	/* ps would take a list */
		mios_usage("ps", "'%.40s' is no name of a program", text);
	snprintf(w->command, sizeof(w->command), "%s", text);
}

/* Is it the same number as one before it? */
static bool was_named(char **argv, int i)
{
	int j;

	for (j = 0; j < i && strcmp(argv[j], argv[i]); j++)
		;
	return j < i;
}

static void parse_pids(struct ps_wish *w, int argc, char **argv)
{
	size_t len = 0;
	long pid;
	int i;

	for (i = 0; i < argc; i++) {
		if (mios_number(argv[i], 1, PID_MAX, &pid))
			mios_usage("ps", "'%.40s' is no PID", argv[i]);
		if (was_named(argv, i))
			continue;
		len += snprintf(w->pids + len, PS_PIDS - len, "%s%ld",
				len ? "," : "", pid);
		if (len >= PS_PIDS - 16)
			mios_usage("ps", "too many PIDs at once");
	}
}

static void take_option(struct ps_wish *w, int c, char **argv)
{
	switch (c) {
	case 'a':
		w->all = true;
		break;
	case 'K':
		w->kernel = true;
		break;
	case 'u':
		w->by_user = true;
		w->user = parse_user(optarg);
		break;
	case 'c':
		parse_command(w, optarg);
		break;
	case 'i':
		if (mios_parse_nodes(optarg, &w->instances))
			mios_usage("ps", "'%.40s' is no list of instances, "
				   "such as 1-3", optarg);
		break;
	case 's':
		w->signal = ps_signal(optarg);
		break;
	case 'J':
		w->json = true;
		break;
	default:
		mios_other_option("ps", help, argv, c, options);
	}
}

static void parse(struct ps_wish *w, int argc, char **argv)
{
	int c;

	while ((c = getopt_long(argc, argv, ":aKu:c:i:s:Jh", options, NULL)) != -1)
		take_option(w, c, argv);
	parse_pids(w, argc - optind, argv + optind);
	if (w->pids[0] && w->command[0])
		mios_usage("ps", "PIDs or --command, not both");
	if (w->signal && !w->pids[0] && !w->command[0] && !w->by_user)
		mios_usage("ps", "a signal to which? Name PIDs, a program by "
			   "--command, or --user");
	if (w->signal && !w->pids[0] && !w->command[0] && !w->user)
		mios_usage("ps", "that would end the machine: of root's processes "
			   "name PIDs, or a program by --command");
	if (w->signal && w->json)
		mios_usage("ps", "--signal prints no JSON");
	if (w->signal && w->pids[0] && (w->by_user || w->all))
		mios_usage("ps", "PIDs say which: leave out --user and --all");
	/* One's own, unless something else is asked for. */
	if (!w->all && !w->by_user && !w->pids[0]) {
		w->by_user = true;
		w->user = getuid();
	}
}

/* --- their processes --- */

static void show_row(const struct ps_wish *w, struct libscols_table *t,
		     int instance, struct row *r)
{
	struct libscols_line *line = table_add_line(t);
	const struct passwd *pw = getpwuid(r->uid);
	char number[24];
	int c = 0;

	cell_set_number(line, c++, instance);
	cell_set_number(line, c++, r->pid);
	if (w->json) {
		cell_set_number(line, c++, r->ppid);
		cell_set_number(line, c++, r->uid);
	}
	snprintf(number, sizeof(number), "%lu", r->uid);
	cell_set(line, c++, pw ? pw->pw_name : number);
	cell_set(line, c++, r->state);
	cell_set_number(line, c++, r->threads);
	cell_set_size(line, c++, r->rss << 10, w->json);
	cell_set_number(line, c++, r->age);
	cell_set_number(line, c++, r->cpu);
	mios_utf8(r->command);
	cell_set(line, c++, r->command);
}

static bool is_wanted(const struct ps_wish *w, const struct unattended *u,
		      const struct row *r)
{
	if (r->pid == u->pid)		/* the one that looks */
		return false;
	/* A thread of the kernel has no memory; neither has a zombie. */
	if (!r->size && r->state[0] != 'Z' && !w->kernel && !w->pids[0])
		return false;
	return !w->by_user || r->uid == w->user;
}

/* One line of ps: see fields. */
static bool parse_row(char *line, struct row *r)
{
	int at = 0;

	if (sscanf(line, "%ld %ld %lu %7s %ld %" SCNu64 " %" SCNu64 " %ld %ld %n",
		   &r->pid, &r->ppid, &r->uid, r->state, &r->threads, &r->rss,
		   &r->size, &r->age, &r->cpu, &at) != 9 || !at)
		return false;
	r->command = line + at;
	return true;
}

static void show_instance(const struct ps_wish *w, struct libscols_table *t,
			  struct unattended *u, int *status)
{
	char *line, *rest = NULL;
	struct row r;

	if (buffer_add(&u->out, "", 1))
		mios_die(MIOS_EXIT_FAILED, "ps: no memory left");
	for (line = strtok_r((char *)u->out.data + u->out.start, "\n", &rest);
	     line; line = strtok_r(NULL, "\n", &rest)) {
		if (!parse_row(line, &r)) {
			mios_error("mios", "ps: instance %d: ps says '%.40s'",
				   u->instance, line);
			*status = MIOS_EXIT_FAILED;
			return;
		}
		if (is_wanted(w, u, &r))
			show_row(w, t, u->instance, &r);
	}
}

/* ps -o pid= ... -e|-p LIST|-C NAME */
static void list_command(struct ps_wish *w, char **argv)
{
	unsigned int i, n = 0;

	argv[n++] = "ps";
	argv[n++] = "-ww";
	for (i = 0; i < NR_FIELDS; i++) {
		argv[n++] = "-o";
		argv[n++] = (char *)fields[i];
	}
	if (w->pids[0]) {
		argv[n++] = "-p";
		argv[n++] = w->pids;
	} else if (w->command[0]) {
		argv[n++] = "-C";
		argv[n++] = w->command;
	} else {
		argv[n++] = "-e";
	}
	argv[n] = NULL;
}

static void show(struct ps_wish *w, struct unattended *list, unsigned int nr,
		 int *status)
{
	struct libscols_table *t = table_create("processes", columns, w->json);
	char *argv[2 * NR_FIELDS + 8];
	unsigned int i;

	list_command(w, argv);
	everywhere_run(list, nr, argv, PS_ANSWER_MS);
	for (i = 0; i < nr; i++)	/* 1: it has found none */
		if (!everywhere_failed("ps", &list[i], 1, status))
			show_instance(w, t, &list[i], status);
	if (w->pids[0] && !scols_table_get_nlines(t)) {
		mios_error("mios", "ps: there is no such process");
		*status = MIOS_EXIT_FAILED;
	}
	table_show(t, w->json);
}

int cmd_ps(int argc, char **argv)
{
	static struct unattended list[MIOS_MAX_INSTANCES];
	static struct ps_wish w;
	int status = MIOS_EXIT_OK;
	unsigned int nr;

	parse(&w, argc, argv);
	/* Where we are need not be there, and is nothing to it. */
	if (chdir("/"))
		mios_die(MIOS_EXIT_FAILED, "ps: cannot enter /: %m");
	nr = everywhere_choose("ps", w.instances, list, &status);
	if (w.signal)
		ps_send(&w, list, nr, &status);
	else
		show(&w, list, nr, &status);
	return status;
}
