// SPDX-License-Identifier: GPL-2.0
/*
 * mios trace: events of all instances' kernels in one listing, in the order in
 * which they were.  Each instance records by the time stamp counter, which is one
 * for the machine, into a buffer of its own (an instance of tracefs), so others'
 * tracing is not touched; here they are merged.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

#include "cells.h"
#include "everywhere.h"
#include "list.h"
#include "subcommands.h"

#define EVENTS_MAX	64
#define ANSWER_MS	120000
#define END_S		5
#define KIB_MAX		(1l << 20)
#define SECONDS_MAX	86400
#define COMM_WIDTH	16	/* in a line of tracefs */

static const char help[] =
"Usage: mios trace [OPTION...] [COMMAND [ARGUMENT...]]\n"
"Records events of the kernels of all instances while COMMAND runs, or until\n"
"it is interrupted, and prints them in one order of time.\n\n"
"  -e, --event EVENT    these, such as mios:mios_call or 'sched:*'; may be given\n"
"                       several times (mios:* and mios_fs:* unless given)\n"
"  -i, --instances LIST on these only, such as 1-3\n"
"      --time SECONDS   no longer than this\n"
"      --buffer KIB     for each CPU (1408): what does not fit is lost, and said\n"
"      --stop           end what a trace that was killed has left recording\n"
"  -J, --json           for programs; mios-trace(1) has the names\n"
"  -h, --help           print this\n";

enum { OPT_TIME = 256, OPT_BUFFER, OPT_STOP };

static const struct option options[] = {
	{ "event", required_argument, NULL, 'e' },
	{ "instances", required_argument, NULL, 'i' },
	{ "time", required_argument, NULL, OPT_TIME },
	{ "buffer", required_argument, NULL, OPT_BUFFER },
	{ "stop", no_argument, NULL, OPT_STOP },
	{ "json", no_argument, NULL, 'J' },
	{ "help", no_argument, NULL, 'h' },
	{ }
};

/* What runs on each instance.  $1: KiB, then the events. */
static const char begin_script[] =
"t=/sys/kernel/tracing d=$t/instances/mios kib=$1; shift\n"
"[ -d $t/instances ] || { echo its kernel has no tracing >&2; exit 1; }\n"
"mkdir $d 2> /dev/null || { echo somebody runs mios trace, or it was killed:"
" mios trace --stop >&2; exit 1; }\n"
"trap '[ -z \"$bad\" ] || rmdir $d' EXIT; bad=1\n"
"echo 0 > $d/tracing_on && echo x86-tsc > $d/trace_clock &&\n"
"echo $kib > $d/buffer_size_kb || exit\n"
"if [ $# = 0 ]; then\n"
"	for e in $d/events/mios $d/events/mios_fs; do\n"
"		[ ! -d $e ] || echo 1 > $e/enable || exit\n"
"	done\n"
"fi\n"
"for e; do\n"
"	(echo \"$e\" >> $d/set_event) 2> /dev/null ||\n"
"		{ echo \"its kernel has no event $e\" >&2; exit 1; }\n"
"done\n"
"echo 1 > $d/tracing_on && bad=\n";

static const char end_script[] =
"d=/sys/kernel/tracing/instances/mios\n"
"[ -d $d ] || { echo it does not record any more >&2; exit 1; }\n"
"echo 0 > $d/tracing_on\n"
"cat $d/per_cpu/cpu*/stats | awk '/^(overrun|dropped events):/ { n += $NF }\n"
"	END { print \"lost\", n + 0 }'\n"
"sed '/^#/d; /LOST .* EVENTS/d' $d/trace\n"
"rmdir $d\n";

static const char stop_script[] =
"d=/sys/kernel/tracing/instances/mios\n"
"[ ! -d $d ] || rmdir $d\n";

static const struct column columns[] = {
	{ NULL, "us", 0, SCOLS_JSON_NUMBER },
	{ NULL, "instance", 0, SCOLS_JSON_NUMBER },
	{ NULL, "cpu", 0, SCOLS_JSON_NUMBER },
	{ NULL, "pid", 0, SCOLS_JSON_NUMBER },
	{ NULL, "task", 0, SCOLS_JSON_STRING },
	{ NULL, "event", 0, SCOLS_JSON_STRING },
	{ NULL, "text", 0, SCOLS_JSON_STRING },
	{ }
};

struct wish {
	char *events[EVENTS_MAX + 1];
	unsigned int nr_events;
	uint64_t instances;	/* 0: all */
	long seconds, kib;
	bool stop, json;
	char **command;		/* NULL: none */
};

/* One line of an instance's listing. */
struct event {
	uint64_t tsc;
	int instance, cpu;
	long pid;
	const char *task, *name, *text;
};

struct events {
	struct event *list;
	size_t nr, room;
	uint64_t begin, end;	/* what was before and after is our own doing */
};

/* --- what is asked for --- */

static void take_option(struct wish *w, int c, char **argv)
{
	switch (c) {
	case 'e':
		if (w->nr_events == EVENTS_MAX)
			mios_usage("trace", "more than %d events", EVENTS_MAX);
		w->events[w->nr_events++] = optarg;
		break;
	case 'i':
		if (mios_parse_nodes(optarg, &w->instances))
			mios_usage("trace", "'%.40s' is no list of instances, "
				   "such as 1-3", optarg);
		break;
	case OPT_TIME:
		if (mios_number(optarg, 1, SECONDS_MAX, &w->seconds))
			mios_usage("trace", "--time is a number of seconds");
		break;
	case OPT_BUFFER:
		if (mios_number(optarg, 1, KIB_MAX, &w->kib))
			mios_usage("trace", "--buffer is a number of KiB");
		break;
	case OPT_STOP:
		w->stop = true;
		break;
	case 'J':
		w->json = true;
		break;
	default:
		mios_other_option("trace", help, argv, c, options);
	}
}

static void parse(struct wish *w, int argc, char **argv)
{
	int c;

	while ((c = getopt_long(argc, argv, "+:e:i:Jh", options, NULL)) != -1)
		take_option(w, c, argv);
	if (optind < argc)
		w->command = argv + optind;
	if (w->stop && (w->command || w->nr_events || w->json))
		mios_usage("trace", "--stop records nothing");
	if (geteuid())
		mios_die(MIOS_EXIT_FAILED, "trace: only root may look at what "
			 "kernels do");
}

/* --- recording --- */

/* A script on all of @list; those that it worked on stay there.  How many. */
static unsigned int script_run(struct unattended *list, unsigned int nr,
			       const char *script, const struct wish *w,
			       int *status)
{
	char *argv[EVENTS_MAX + 8] = { "sh", "-c", (char *)script, "trace" };
	unsigned int i, n = 4, good = 0;
	char kib[24];

	snprintf(kib, sizeof(kib), "%ld", w->kib);
	argv[n++] = kib;
	memcpy(argv + n, w->events, w->nr_events * sizeof(*argv));
	argv[n + w->nr_events] = NULL;
	everywhere_run(list, nr, argv, ANSWER_MS);
	for (i = 0; i < nr; i++) {
		if (everywhere_failed("trace", &list[i], 0, status))
			unattended_free(&list[i]);
		else
			list[good++] = list[i];
	}
	return good;
}

/* The same instances, to be asked for something else. */
static void script_again(struct unattended *list, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++) {
		unattended_free(&list[i]);
		list[i] = (struct unattended){ .instance = list[i].instance };
	}
}

static pid_t command_start(char **argv)
{
	pid_t pid = fork();

	if (!pid) {
		sigset_t none;

		sigemptyset(&none);
		sigprocmask(SIG_SETMASK, &none, NULL);
		execvp(argv[0], argv);
		mios_die(127, "trace: %s: %m", argv[0]);
	}
	if (pid < 0)
		mios_error("mios", "trace: no process for %s: %m", argv[0]);
	return pid;
}

/* It has a moment for it. */
static void command_end(pid_t pid)
{
	static const struct timespec moment = { .tv_sec = END_S };
	sigset_t chld;

	sigemptyset(&chld);
	sigaddset(&chld, SIGCHLD);
	kill(pid, SIGTERM);
	if (sigtimedwait(&chld, NULL, &moment) < 0)
		kill(pid, SIGKILL);
}

/* Until the command ends, the time is over, or a signal comes: it is recorded. */
static int wait_while(const struct wish *w, const sigset_t *signals)
{
	struct timespec left = { .tv_sec = w->seconds };
	pid_t pid = w->command ? command_start(w->command) : 0;
	int got, status = 0;

	if (pid < 0)
		return MIOS_EXIT_FAILED;
	do {
		got = w->seconds ? sigtimedwait(signals, NULL, &left) :
		      sigwaitinfo(signals, NULL);
	} while (got < 0 && errno == EINTR);
	if (!pid)
		return MIOS_EXIT_OK;
	if (got != SIGCHLD)	/* a terminal has told it, too */
		command_end(pid);
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* --- the listing --- */

static void event_add(struct events *all, const struct event *e)
{
	all->list = list_grow("trace", all->list, all->nr, &all->room,
			      sizeof(*e));
	all->list[all->nr++] = *e;
}

/* "            task-PID     [CPU] flags  TIME: event: text" */
static bool event_parse(char *line, struct event *e)
{
	char *at = line + COMM_WIDTH, *end;

	if (strlen(line) < COMM_WIDTH + 1 || *at != '-')
		return false;
	*at++ = '\0';
	e->task = line + strspn(line, " ");
	e->pid = strtol(at, &at, 10);
	if (sscanf(at, " [%d]", &e->cpu) != 1)
		return false;
	at = strchr(at, ']') + 1;
	at += strspn(at, " ");
	at += strcspn(at, " ");
	e->tsc = strtoull(at, &end, 10);
	if (end == at || *end != ':' || end[1] != ' ')
		return false;
	e->name = end + 2;
	end = strstr(e->name, ": ");
	e->text = end ? end + 2 : "";
	if (end)
		*end = '\0';
	return true;
}

static void events_take(struct events *all, struct unattended *u, int *status)
{
	struct event e = { .instance = u->instance };
	char *line, *rest = NULL;
	uint64_t lost;

	if (buffer_add(&u->out, "", 1))
		mios_die(MIOS_EXIT_FAILED, "trace: no memory left");
	for (line = strtok_r((char *)u->out.data + u->out.start, "\n", &rest);
	     line; line = strtok_r(NULL, "\n", &rest)) {
		if (event_parse(line, &e)) {
			if (e.tsc >= all->begin && e.tsc <= all->end)
				event_add(all, &e);
		} else if (sscanf(line, "lost %" SCNu64, &lost) == 1) {
			if (lost)
				mios_error("mios", "trace: instance %d has lost "
					   "%" PRIu64 " events: ask for fewer, "
					   "or a larger --buffer", u->instance,
					   lost);
		} else {
			mios_error("mios", "trace: instance %d says '%.60s'",
				   u->instance, line);
			*status = MIOS_EXIT_FAILED;
		}
	}
}

static int by_time(const void *one, const void *two)
{
	const struct event *a = one, *b = two;

	return a->tsc < b->tsc ? -1 : a->tsc > b->tsc;
}

static double now_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC_RAW, &ts);
	return ts.tv_sec * 1e6 + ts.tv_nsec / 1e3;
}

/* What the counter counts in a microsecond, from a time that has passed. */
static double rate_of(uint64_t tsc, double us)
{
	poll(NULL, 0, 20);
	return (__rdtsc() - tsc) / (now_us() - us);
}

static void print_json(const struct events *all, double rate)
{
	struct libscols_table *t = table_create("events", columns, true);
	char us[40];
	size_t i;

	for (i = 0; i < all->nr; i++) {
		const struct event *e = &all->list[i];
		struct libscols_line *line = table_add_line(t);
		int c = 0;

		snprintf(us, sizeof(us), "%.3f", (e->tsc - all->begin) / rate);
		cell_set(line, c++, us);
		cell_set_number(line, c++, e->instance);
		cell_set_number(line, c++, e->cpu);
		cell_set_number(line, c++, e->pid);
		cell_set(line, c++, e->task);
		cell_set(line, c++, e->name);
		cell_set(line, c++, e->text);
	}
	table_show(t, true);
}

static void print_text(const struct events *all, double rate)
{
	size_t i;

	for (i = 0; i < all->nr; i++) {
		const struct event *e = &all->list[i];

		printf("%14.3f %2d %2d %7ld %-15s %s: %s\n",
		       (e->tsc - all->begin) / rate, e->instance, e->cpu,
		       e->pid, e->task, e->name, e->text);
	}
}

static int record(const struct wish *w, struct unattended *list, unsigned int nr,
		  const sigset_t *signals, int *status)
{
	struct events all = { .begin = __rdtsc() };
	double us = now_us();
	unsigned int i;
	int ended;

	ended = wait_while(w, signals);
	all.end = __rdtsc();
	script_again(list, nr);
	nr = script_run(list, nr, end_script, w, status);
	for (i = 0; i < nr; i++)
		events_take(&all, &list[i], status);
	qsort(all.list, all.nr, sizeof(*all.list), by_time);
	if (w->json)
		print_json(&all, rate_of(all.begin, us));
	else
		print_text(&all, rate_of(all.begin, us));
	mios_flush_stdout();
	free(all.list);
	script_again(list, nr);
	return ended;
}

int cmd_trace(int argc, char **argv)
{
	static struct unattended list[MIOS_MAX_INSTANCES];
	struct wish w = { .kib = 1408 };
	int status = MIOS_EXIT_OK, ended = MIOS_EXIT_OK;
	unsigned int nr, good;
	sigset_t signals;

	parse(&w, argc, argv);
	/* Before anything records: it is ended in order, whatever comes. */
	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGHUP);
	sigaddset(&signals, SIGCHLD);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	nr = everywhere_choose("trace", w.instances, list, &status);
	good = script_run(list, nr, w.stop ? stop_script : begin_script, &w,
			  &status);
	if (w.stop)
		return status;
	/* All that were asked for, or none: what is missing is not seen. */
	if (good == nr && nr) {
		ended = record(&w, list, nr, &signals, &status);
	} else {
		script_again(list, good);
		script_run(list, good, stop_script, &w, &status);
	}
	return ended ? ended : status;
}
