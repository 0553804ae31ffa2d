// SPDX-License-Identifier: GPL-2.0
/*
 * mios journal: the kernel logs of all instances in one order of time.  Each
 * kernel stamps its lines by a clock of its own that runs at the rate of the
 * TSC; the mios module says at what time here each of them was 0.  No locks.
 */
#include <getopt.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cells.h"
#include "journal.h"
#include "libmios/libmios.h"
#include "list.h"
#include "log.h"
#include "subcommands.h"

#define LINES_MAX	1000000
#define TRIES		3
/*
 * A line of another kernel is found within 100 ms.  So long each line waits for
 * older ones, and so often is looked when one waits.
 */
#define HOLD_MS		300

static const char help[] =
"Usage: mios journal [INSTANCES|all] [OPTION...]\n"
"Prints the kernel logs of instances, also of those that have ended, in one\n"
"order of time: the time, the instance, the line.  Instance 0 reads the logs of\n"
"all, the others their own and that of instance 0.\n\n"
"  -n, --lines=LINES  only the last LINES lines\n"
"      --since=TIME   only lines of that time or later: as they begin with, or\n"
"                     2026-11-28T16:00 of the time zone here, or -SECONDS before\n"
"                     now\n"
"  -f, --follow       wait for more at the end, until interrupted\n"
"  -J, --json         for programs; mios-journal(1) has the names\n"
"  -h, --help         print this\n";

enum { OPT_SINCE = 256 };

static const struct option options[] = {
	{ "lines", required_argument, NULL, 'n' },
	{ "since", required_argument, NULL, OPT_SINCE },
	{ "follow", no_argument, NULL, 'f' },
	{ "json", no_argument, NULL, 'J' },
	{ "help", no_argument, NULL, 'h' },
	{ }
};

static const struct column columns[] = {
	{ NULL, "time", 0, SCOLS_JSON_STRING },
	{ NULL, "instance", 0, SCOLS_JSON_NUMBER },
	{ NULL, "text", 0, SCOLS_JSON_STRING },
	{ }
};

struct wish {
	struct log_options log;
	int64_t since;		/* ns since 1970 */
	bool json;
};

/* A log, and what its stamps mean. */
struct source {
	struct log log;
	unsigned int incarnation;	/* whose log it is */
	bool wanted, known;
	int64_t ahead;		/* ns by which its stamp 0 was after our own */
	double stamp;		/* of its last line */
};

struct line {
	int64_t time;
	int instance;
	const char *text;
	size_t len;
};

struct lines {
	struct line *list;
	size_t nr, room;
};

/* --- what is asked for --- */

static void take_option(struct wish *w, int c, char **argv)
{
	switch (c) {
	case 'n':
		if (mios_number(optarg, 0, LINES_MAX, &w->log.lines))
			mios_usage("journal", "--lines is a number up to %d",
				   LINES_MAX);
		break;
	case OPT_SINCE:
		w->since = journal_since(optarg);
		break;
	case 'f':
		w->log.follow = true;
		break;
	case 'J':
		w->json = true;
		break;
	default:
		mios_other_option("journal", help, argv, c, options);
	}
}

static uint64_t parse(struct wish *w, int argc, char **argv, int self)
{
	uint64_t which;
	int c;

	while ((c = getopt_long(argc, argv, ":n:fJh", options, NULL)) != -1)
		take_option(w, c, argv);
	if (w->json && w->log.follow)
		mios_usage("journal", "--json has an end, --follow has none");
	if (optind < argc && !mios_parse_instances("journal", argc - optind,
						   argv + optind, &which))
		return which;
	if (self < 0)
		mios_die(MIOS_EXIT_FAILED, "journal: " MIOS_NO_SYSFS);
	return log_all(self);
}

/* --- times --- */

static unsigned int incarnation(int instance)
{
	struct mios_instance inst;

	return mios_instance_read(instance, &inst) ? 0 : inst.incarnation;
}

/*
 * Both are read here and now, so a clock that is set or slewed does not come
 * between them.  That it is still the same boot is looked at last: another one's
 * clock says nothing about this log.
 */
static void source_date(struct source *s, int self)
{
	int64_t own, its;

	if (s->known)
		return;
	own = mios_log_start(self);
	its = mios_log_start(s->log.instance);
	s->known = own > 0 && its > 0 && its < JOURNAL_MAX &&
		   incarnation(s->log.instance) == s->incarnation;
	s->ahead = its - own;
}

static bool undated(const struct source *s)
{
	if (s->known)
		return false;
	if (incarnation(s->log.instance) != s->incarnation)
		mios_error("mios", "journal: instance %d has been booted again "
			   "meanwhile", s->log.instance);
	else
		mios_error("mios", "journal: instance %d has not joined its ring, "
			   "so nobody knows when its lines were; mios log %d "
			   "prints them", s->log.instance, s->log.instance);
	return true;
}

static void time_text(int64_t ns, char *text, size_t size)
{
	const time_t seconds = ns / NS;
	char date[32] = "", zone[8] = "+0000";
	struct tm tm;

	if (localtime_r(&seconds, &tm)) {
		strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%S", &tm);
		strftime(zone, sizeof(zone), "%z", &tm);
	}
	/* As RFC 3339 has it: +00:00 */
	snprintf(text, size, "%s.%06d%.3s:%.2s", date, (int)(ns % NS / 1000),
		 zone, zone + 3);
}

/* --- lines --- */

/* Stamps have six digits. */
static int64_t usec(double stamp)
{
	return stamp * 1e6 + 0.5;
}

static void line_add(struct lines *all, const struct line *line)
{
	all->list = list_grow("journal", all->list, all->nr, &all->room,
			      sizeof(*line));
	all->list[all->nr++] = *line;
}

/*
 * The lines of a log up to a time; returns where they end.  They stay in their
 * order: two CPUs may have stamped them the other way round.  What looks like a
 * stamp of a time to come is none: all later lines would be told by it.
 */
static const char *source_take(struct source *s, struct lines *all,
			       int64_t start, int64_t limit)
{
	const char *at, *next, *end = log_end(&s->log), *body;
	const double newest = (journal_now() - start - s->ahead) / 1e9 + 1;
	struct line line = { .instance = s->log.instance };
	double stamp;

	for (at = s->log.text; at < end; at = next) {
		next = log_next_line(at, end);
		stamp = log_stamp(at, next, s->stamp);
		if (!(stamp >= s->stamp && stamp <= newest))
			stamp = s->stamp;
		line.time = start + s->ahead + usec(stamp) * 1000;
		if (line.time > limit)
			break;
		s->stamp = stamp;
		body = *at == '[' ? memchr(at, ']', next - at) : NULL;
		line.text = body ? body + 1 : at;
		if (body && line.text < next && *line.text == ' ')
			line.text++;
		line.len = next - line.text;
		line.len -= line.len && line.text[line.len - 1] == '\n';
		line_add(all, &line);
	}
	return at;
}

static int by_time(const void *one, const void *two)
{
	const struct line *a = one, *b = two;

	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	if (a->instance != b->instance)
		return a->instance - b->instance;
	return a->text < b->text ? -1 : a->text > b->text;
}

static void print_json(const struct line *line, size_t nr)
{
	struct libscols_table *t = table_create("lines", columns, true);
	char time[64], *text;

	for (; nr--; line++) {
		struct libscols_line *row = table_add_line(t);

		text = strndup(line->text, line->len);
		if (!text)
			mios_die(MIOS_EXIT_FAILED, "journal: no memory left");
		time_text(line->time, time, sizeof(time));
		cell_set(row, 0, time);
		cell_set_number(row, 1, line->instance);
		cell_set(row, 2, text);
		free(text);
	}
	table_show(t, true);
}

static void print_text(const struct line *line, size_t nr)
{
	char time[64];

	for (; nr--; line++) {
		time_text(line->time, time, sizeof(time));
		printf("%s %d: ", time, line->instance);
		mios_put_visible(line->text, line->len);
		putchar('\n');
	}
}

/* What was asked for of @all; @last: no more than so many, unless below 0. */
static void print(struct lines *all, const struct wish *w, long last)
{
	size_t first = 0;

	if (all->nr)
		qsort(all->list, all->nr, sizeof(*all->list), by_time);
	while (first < all->nr && all->list[first].time < w->since)
		first++;
	if (last >= 0 && all->nr - first > (size_t)last)
		first = all->nr - last;
	if (w->json)
		print_json(all->list + first, all->nr - first);
	else
		print_text(all->list + first, all->nr - first);
	mios_flush_stdout();
}

/* Prints what there is of all up to a time. */
static void print_until(struct source *sources, const struct wish *w, int self,
			int64_t limit, long last)
{
	const char *ends[MIOS_MAX_INSTANCES];
	/* Anew each time: the own clock may have been slewed meanwhile. */
	const int64_t start = mios_log_start(self);
	struct lines all = { };
	int i;

	if (start <= 0)
		mios_die(MIOS_EXIT_FAILED, "journal: " MIOS_NO_SYSFS);
	for (i = 0; i < MIOS_MAX_INSTANCES; i++)
		if (sources[i].wanted && sources[i].known)
			ends[i] = source_take(&sources[i], &all, start, limit);
	print(&all, w, last);
	free(all.list);
	for (i = 0; i < MIOS_MAX_INSTANCES; i++)
		if (sources[i].wanted && sources[i].known)
			log_forget(&sources[i].log, ends[i]);
}

/* Opens and reads a log of instance @i: of one boot, whatever comes between. */
static bool source_open(struct source *s, int i, int self, const struct wish *w)
{
	int tries;

	for (tries = 0; tries < TRIES; tries++) {
		s->incarnation = incarnation(i);
		if (log_open(&s->log, i, i == self, &w->log) || log_fill(&s->log))
			return false;
		source_date(s, self);
		if (s->known || incarnation(i) == s->incarnation)
			break;
		log_close(&s->log);
	}
	if (s->log.fd < 0 || !w->log.follow)
		return !undated(s);
	return true;
}

/* Returns how many failed. */
static int open_all(struct source *sources, uint64_t which, int self,
		    const struct wish *w)
{
	int i, failed = 0;

	for (i = 0; i < MIOS_MAX_INSTANCES; i++) {
		sources[i].log.fd = -1;
		if (!(which & 1ULL << i))
			continue;
		sources[i].wanted = log_may_read("journal", self, i) &&
				    source_open(&sources[i], i, self, w);
		failed += !sources[i].wanted;
	}
	return failed;
}

/* One look at all; false: none of them can have more. */
static bool look(struct source *sources, int self, int *failed, bool *waits)
{
	struct pollfd fds[MIOS_MAX_INSTANCES];
	bool open = false;
	int i;

	for (i = 0; i < MIOS_MAX_INSTANCES; i++) {
		fds[i] = (struct pollfd){ .fd = sources[i].log.fd,
					  .events = POLLIN };
		open |= fds[i].fd >= 0;
	}
	if (!open && !*waits)
		return false;
	if (poll(fds, MIOS_MAX_INSTANCES, *waits ? HOLD_MS / 2 : -1) < 0)
		return true;
	*waits = false;
	for (i = 0; i < MIOS_MAX_INSTANCES; i++) {
		struct source *s = &sources[i];

		if (fds[i].fd >= 0 && fds[i].revents)
			*failed += log_fill(&s->log) != 0;
		if (!s->wanted)
			continue;
		source_date(s, self);
		if (s->log.fd < 0 && undated(s)) {
			s->wanted = false;
			*failed += 1;
		}
		*waits |= s->wanted && s->log.len;
	}
	return true;
}

static int follow_all(struct source *sources, const struct wish *w, int self)
{
	bool waits = true;
	int failed = 0;

	while (look(sources, self, &failed, &waits))
		print_until(sources, w, self, journal_now() - HOLD_MS * (NS / 1000),
			    -1);
	return failed;
}

int cmd_journal(int argc, char **argv)
{
	static struct source sources[MIOS_MAX_INSTANCES];
	struct wish w = { .log.lines = -1, .since = INT64_MIN };
	int failed, self = mios_self();
	uint64_t which = parse(&w, argc, argv, self);

	if (self < 0 || mios_log_start(self) <= 0)
		mios_die(MIOS_EXIT_FAILED, "journal: this instance is in no "
			 "ring; mios log prints its log");
	failed = open_all(sources, which, self, &w);
	print_until(sources, &w, self, INT64_MAX, w.log.lines);
	if (w.log.follow)
		failed += follow_all(sources, &w, self);
	return failed ? MIOS_EXIT_FAILED : MIOS_EXIT_OK;
}
