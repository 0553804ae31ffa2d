// SPDX-License-Identifier: GPL-2.0
/*
 * mios ps: the processes of all instances in one table.  On each instance the
 * system's own ps does the work, and pgrep finds names, as the caller: he sees
 * there what he sees at a login.  Signals are ps_signal.c's.
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
#include "list.h"
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

/*
 * What runs on each instance.  $1: what $2 is.  Its own process, which becomes ps,
 * is listed with the others: by it the session's own are told from them.  Names are
 * compared by pgrep, as by pkill: ps takes a list of them.
 */
static const char script[] =
"how=$1 what=$2; shift 2\n"
"case $how in\n"
"all)	exec ps -ww \"$@\" -e;;\n"
"name)	what=$(pgrep -d, -x -- \"$what\" 2> /dev/null);;\n"
"esac\n"
"exec ps -ww \"$@\" -p \"${what:+$what,}$$\"\n";

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
	if (!*text || strchr(text, '\n'))
		mios_usage("ps", "'%.40s' is no name of a program", text);
	snprintf(w->command, sizeof(w->command), "%s", text);
}

static bool was_named(const struct ps_wish *w, long pid)
{
	unsigned int i;

	for (i = 0; i < w->nr_pids && w->pids[i].pid != pid; i++)
		;
	return i < w->nr_pids;
}

static void parse_pids(struct ps_wish *w, int argc, char **argv)
{
	long pid;
	int i;

	for (i = 0; i < argc; i++) {
		if (mios_number(argv[i], 1, PID_MAX, &pid))
			mios_usage("ps", "'%.40s' is no PID", argv[i]);
		if (was_named(w, pid))
			continue;
		if (w->nr_pids == PS_PIDS)
			mios_usage("ps", "more than %d PIDs", PS_PIDS);
		w->pids[w->nr_pids++].pid = pid;
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
	if (w->nr_pids && w->command[0])
		mios_usage("ps", "PIDs or --command, not both");
	if (w->signal && !w->nr_pids && !w->command[0] && !w->by_user)
		mios_usage("ps", "a signal to which? Name PIDs, a program by "
			   "--command, or --user");
	if (w->signal && !w->nr_pids && !w->command[0] && !w->user)
		mios_usage("ps", "that would end the machine: of root's processes "
			   "name PIDs, or a program by --command");
	if (w->signal && w->json)
		mios_usage("ps", "--signal prints no JSON");
	if (w->signal && w->nr_pids && (w->by_user || w->all))
		mios_usage("ps", "PIDs say which: leave out --user and --all");
	/* One's own, unless something else is asked for. */
	if (!w->all && !w->by_user && !w->nr_pids) {
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
	cell_set(line, c++, r->command);
}

/* @session: the one that looks, and what waits for it */
static bool is_wanted(const struct ps_wish *w, const struct row *session,
		      const struct row *r)
{
	if (r->pid == session->pid || r->pid == session->ppid)
		return false;
	/* A thread of the kernel has no memory; neither has a zombie. */
	if (!r->size && r->state[0] != 'Z' && !w->kernel && !w->nr_pids)
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

void ps_mark(struct ps_wish *w, long pid)
{
	unsigned int i;

	for (i = 0; i < w->nr_pids; i++)
		w->pids[i].found |= w->pids[i].pid == pid;
}

void ps_missing(const struct ps_wish *w, int *status)
{
	const bool failed = *status != MIOS_EXIT_OK;
	unsigned int i;

	for (i = 0; i < w->nr_pids; i++) {
		if (w->pids[i].found)
			continue;
		mios_error("mios", "ps: no instance that %s has a process %ld",
			   failed ? "has answered" : "was asked",
			   w->pids[i].pid);
		*status = MIOS_EXIT_FAILED;
	}
}

/* The rows of an instance, ended by one without a PID; NULL: a line says why. */
static struct row *rows_of(struct unattended *u)
{
	size_t nr = 0, room = 0;
	char *line, *rest = NULL;
	struct row *rows = NULL;

	if (buffer_add(&u->out, "", 1))
		mios_die(MIOS_EXIT_FAILED, "ps: no memory left");
	for (line = strtok_r((char *)u->out.data + u->out.start, "\n", &rest);
	     line; line = strtok_r(NULL, "\n", &rest)) {
		rows = list_grow("ps", rows, nr, &room, sizeof(*rows));
		if (!parse_row(line, &rows[nr++])) {
			mios_error("mios", "ps: instance %d: ps says '%.40s'",
				   u->instance, line);
			free(rows);
			return NULL;
		}
	}
	rows = list_grow("ps", rows, nr, &room, sizeof(*rows));
	rows[nr] = (struct row){ };
	return rows;
}

static void show_instance(struct ps_wish *w, struct libscols_table *t,
			  struct unattended *u, int *status)
{
	struct row *rows = rows_of(u), *r, session = { };

	if (!rows) {
		*status = MIOS_EXIT_FAILED;
		return;
	}
	for (r = rows; r->pid; r++)
		if (r->pid == u->pid)
			session = *r;
	for (r = rows; r->pid; r++) {
		if (!is_wanted(w, &session, r))
			continue;
		ps_mark(w, r->pid);
		show_row(w, t, u->instance, r);
	}
	free(rows);
}

/* @what: room for all PIDs */
static void list_command(struct ps_wish *w, char *what, char **argv)
{
	unsigned int i, n = 0;
	size_t len = 0;

	argv[n++] = "sh";
	argv[n++] = "-c";
	argv[n++] = (char *)script;
	argv[n++] = "ps";
	argv[n++] = w->nr_pids ? "pids" : w->command[0] ? "name" : "all";
	argv[n++] = what;
	*what = '\0';
	for (i = 0; i < w->nr_pids; i++)
		len += sprintf(what + len, "%s%ld", len ? "," : "",
			       w->pids[i].pid);
	if (w->command[0])
		ps_quote(what, w->command);
	for (i = 0; i < NR_FIELDS; i++) {
		argv[n++] = "-o";
		argv[n++] = (char *)fields[i];
	}
	argv[n] = NULL;
}

static void show(struct ps_wish *w, struct unattended *list, unsigned int nr,
		 int *status)
{
	struct libscols_table *t = table_create("processes", columns, w->json);
	static char what[PS_PIDS * PS_DIGITS];
	char *argv[2 * NR_FIELDS + 8];
	unsigned int i;

	list_command(w, what, argv);
	everywhere_run(list, nr, argv, PS_ANSWER_MS);
	for (i = 0; i < nr; i++)
		if (!everywhere_failed("ps", &list[i], 0, status))
			show_instance(w, t, &list[i], status);
	ps_missing(w, status);
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
