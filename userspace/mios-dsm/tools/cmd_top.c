// SPDX-License-Identifier: GPL-2.0
/*
 * mios-dsm top: what the nodes of a run do, again and again, from outside.
 */
#define _GNU_SOURCE
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../../libmios/cli.h"
#include "commands.h"
#include "results/run_watch.h"

static const char help[] =
"usage: mios-dsm top [options] [PID]\n"
"  --interval MS   between two looks, 10 to 60000 (1000)\n"
"  --count N       looks, then it ends (until the run does)\n"
"  --json          an object on a line for each look\n"
"PID is that of mios-dsm run; without it there must be one run only.\n"
"Exit status: 0 when the run or the looks have ended, 2 for a mistake.\n";

struct top {
	uint64_t interval, count;
	bool json, help;
	struct watch watch;
	struct node_stats before[STATS_NODES];
	uint64_t seen;		/* ns */
};

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

/* Of a second. */
static double rate(const struct top *t, uint64_t new, uint64_t old)
{
	uint64_t ns = now() - t->seen;

	return new > old ? (new - old) * 1e9 / (ns ? ns : 1) : 0;
}

/* States on their way to another one are one column. */
static uint64_t moving(const struct node_stats *s)
{
	uint64_t sum = 0;

	for (int i = DSM_IS; i < DSM_STATES; i++)
		sum += s->state[i];
	return sum;
}

static void row(const struct top *t, uint32_t i, const struct node_stats *s)
{
	const struct node_stats *b = &t->before[i];

	printf("%4u %8" PRIu64 " %8" PRIu64 " %8" PRIu64 " %8" PRIu64 " %6"
	       PRIu64 " %8" PRIu64 " %8" PRIu64 " %8.0f %8.0f %8.1f %9.0f %s\n",
	       i, s->state[DSM_I], s->state[DSM_S], s->state[DSM_O],
	       s->state[DSM_M], moving(s), s->mode[DSM_MODE_MW],
	       s->mode[DSM_MODE_SW],
	       rate(t, s->reads + s->writes, b->reads + b->writes),
	       rate(t, s->emulated, b->emulated),
	       rate(t, s->stall, b->stall) / 1e6,
	       rate(t, s->bytes, b->bytes) / 1024, s->finished ? "ended" : "");
}

static void object(const struct top *t, uint32_t i, const struct node_stats *s)
{
	const struct node_stats *b = &t->before[i];

	printf("%s{\"node\": %u", i == t->watch.head.first ? "" : ", ", i);
	for (int k = 0; k < DSM_STATES; k++)
		printf(", \"%s\": %" PRIu64, dsm_state_name[k], s->state[k]);
	for (int k = 0; k < DSM_MODES; k++)
		printf(", \"%s\": %" PRIu64, dsm_mode_name[k], s->mode[k]);
	printf(", \"faults_per_s\": %.0f, \"emulated_per_s\": %.0f, \"stall_ms_per_s\": %.1f, \"bytes_per_s\": %.0f, \"finished\": %s}",
	       rate(t, s->reads + s->writes, b->reads + b->writes),
	       rate(t, s->emulated, b->emulated),
	       rate(t, s->stall, b->stall) / 1e6, rate(t, s->bytes, b->bytes),
	       s->finished ? "true" : "false");
}

static void look(struct top *t)
{
	const struct stats_head *h = &t->watch.head;

	if (t->json)
		printf("{\"schema\": 1, \"ms\": %" PRIu64 ", \"nodes\": [",
		       (now() - h->begin) / 1000000);
	else
		printf("%smios-dsm run %d, %u pages, %.1f s\n%4s %8s %8s %8s %8s %6s %8s %8s %8s %8s %8s %9s\n",
		       isatty(STDOUT_FILENO) ? "\033[H\033[J" : "",
		       t->watch.pid, h->pages, (now() - h->begin) / 1e9, "node",
		       "none", "copies", "shared", "alone", "moving", "many w.",
		       "single w", "faults/s", "stores/s", "stall ms", "KiB/s");
	for (uint32_t i = h->first; i < h->end; i++) {
		struct node_stats s = *stats_node(t->watch.at, i);

		(t->json ? object : row)(t, i, &s);
		t->before[i] = s;
	}
	if (t->json)
		printf("]}\n");
	fflush(stdout);
	t->seen = now();
}

static bool parse(struct top *t, int argc, char **argv)
{
	enum { INTERVAL = 256, COUNT, JSON };
	static const struct option options[] = {
		{ "interval", required_argument, NULL, INTERVAL },
		{ "count", required_argument, NULL, COUNT },
		{ "json", no_argument, NULL, JSON },
		{ "help", no_argument, NULL, 'h' },
		{ }
	};
	uint64_t pid = 0;
	bool good = true;
	int c;

	while (good && (c = getopt_long(argc, argv, "h", options, NULL)) >= 0) {
		good = c != '?';
		if (c == INTERVAL)
			good = cli_number("--interval", optarg, 10, 60000,
					  &t->interval);
		if (c == COUNT)
			good = cli_number("--count", optarg, 1, 1 << 30,
					  &t->count);
		t->json |= c == JSON;
		t->help |= c == 'h';
	}
	if (good && optind < argc)
		good = cli_number("PID", argv[optind++], 1, 1 << 30, &pid);
	if (good && optind < argc) {
		cli_error("top: '%s' is too much", argv[optind]);
		good = false;
	}
	t->watch.pid = pid;
	return good;
}

int cmd_top(int argc, char **argv)
{
	struct top t = { .interval = 1000 };
	int err;

	if (!parse(&t, argc, argv))
		return 2;
	if (t.help) {
		fputs(help, stdout);
		return 0;
	}
	err = watch_open(&t.watch, t.watch.pid);
	if (err)
		return err;
	t.seen = t.watch.head.begin;
	for (uint64_t i = 0; watch_lives(&t.watch); i++) {
		look(&t);
		if (t.count && i + 1 == t.count)
			return 0;
		usleep(t.interval * 1000);
	}
	if (!t.json)
		printf("the run has ended\n");
	return 0;
}
