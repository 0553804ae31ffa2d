// SPDX-License-Identifier: GPL-2.0
/*
 * mios-lock sim: runs each lock that is asked for with each number of
 * contenders, and shows the results.
 */
#include <getopt.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "../libmios/cli.h"
#include "../libmios/plot.h"
#include "commands.h"
#include "show.h"

static const char help[] =
"usage: mios-lock sim [options]\n"
"  --lock KIND[,KIND...]  tas|ttas|ticket|queue|sleep|register|reglock (all)\n"
"  --contenders N[,N...]  1 to 2048 (2,4,8,16,32,64)\n"
"  --rounds N             how often the lock is had while counting (1000)\n"
"  --hold NS              how long it is held, half of that more or less (200)\n"
"  --think NS             before it is wanted again, likewise (0)\n"
"  --seed N               of these times (1)\n"
"What it costs:\n"
"  --hit NS               an access to what the own cache has (2)\n"
"  --transfer NS          a line comes, or may be changed from now on (200)\n"
"  --occupancy NS         until memory can send it to the next reader (20)\n"
"  --invalidate NS        more for each copy that a change takes away (10)\n"
"  --register NS          an uncached read, there and back (1000)\n"
"  --service NS           what the register needs for each access (20)\n"
"  --ipi NS               until a sleeper that is woken runs (2000)\n"
"Results:\n"
"  --json FILE            - for standard output, instead of the table\n"
"  --plot FILE.svg        nanoseconds of a hand-over, over contenders\n"
"  --plot-messages FILE.svg  transfers, invalidations, register reads and IPIs\n"
"  --quiet                no progress on the terminal\n"
"Each is for one hand-over, on the average; the time that it is held is left out.\n"
"Exit status: 0, 1 if two had the lock or nobody could go on, 2 a mistake.\n";

#define SWEEP_MAX	16
#define POINTS_MAX	(SWEEP_MAX * LOCK_KINDS)
#define PROGRESS_AFTER	2

struct sim_options {
	struct sim_config c;
	bool kind[LOCK_KINDS];
	u32 contenders[SWEEP_MAX];
	u32 sweep;
	struct cli_results files;
	bool progress;
	time_t began;
	struct plot_point cost[POINTS_MAX], messages[POINTS_MAX];
	u32 points;
};

/* Numbers come first, in the order of limits[]. */
enum { ROUNDS = 256, HOLD, THINK, SEED, HIT, TRANSFER, OCCUPANCY, INVALIDATE,
	REGISTER, SERVICE, IPI, LOCK, CONTENDERS, JSON, PLOT, PLOT_MESSAGES,
	QUIET };

static const struct option longopts[] = {
	{ "rounds", 1, NULL, ROUNDS }, { "hold", 1, NULL, HOLD },
	{ "think", 1, NULL, THINK }, { "seed", 1, NULL, SEED },
	{ "hit", 1, NULL, HIT }, { "transfer", 1, NULL, TRANSFER },
	{ "occupancy", 1, NULL, OCCUPANCY },
	{ "invalidate", 1, NULL, INVALIDATE },
	{ "register", 1, NULL, REGISTER }, { "service", 1, NULL, SERVICE },
	{ "ipi", 1, NULL, IPI }, { "lock", 1, NULL, LOCK },
	{ "contenders", 1, NULL, CONTENDERS }, { "json", 1, NULL, JSON },
	{ "plot", 1, NULL, PLOT }, { "plot-messages", 1, NULL, PLOT_MESSAGES },
	{ "quiet", 0, NULL, QUIET }, { "help", 0, NULL, 'h' },
	{ NULL, 0, NULL, 0 },
};

#define SECOND	1000000000ull

static bool number(int c, struct sim_config *s)
{
	static const struct {
		u64 low, high;
	} limits[] = {
		{ 1, 100000000 }, { 0, SECOND }, { 0, SECOND }, { 0, ~0ull },
		{ 1, SECOND }, { 1, SECOND }, { 1, SECOND }, { 0, SECOND },
		{ 1, SECOND }, { 0, SECOND }, { 0, SECOND },
	};
	u64 *at[] = { &s->rounds, &s->hold, &s->think, &s->seed, &s->cost.hit,
		&s->cost.transfer, &s->cost.occupancy, &s->cost.invalidate,
		&s->cost.reg, &s->cost.service, &s->cost.ipi };
	uint64_t value;
	char name[16] = "--";

	strcat(name, longopts[c - ROUNDS].name);
	if (!cli_number(name, optarg, limits[c - ROUNDS].low,
			limits[c - ROUNDS].high, &value))
		return false;
	*at[c - ROUNDS] = value;
	return true;
}

static bool locks_parse(struct sim_options *o, char *list)
{
	char *word;
	int kind;

	memset(o->kind, 0, sizeof(o->kind));
	while ((word = strsep(&list, ","))) {
		if (!cli_choice("--lock", word, lock_name, &kind))
			return false;
		o->kind[kind] = true;
	}
	return true;
}

static bool option(int c, struct sim_options *o)
{
	switch (c) {
	case LOCK:
		return locks_parse(o, optarg);
	case CONTENDERS:
		o->sweep = cli_numbers("--contenders", optarg, 1,
				       CONTENDERS_MAX, o->contenders,
				       SWEEP_MAX);
		return o->sweep;
	case JSON:
		o->files.json = optarg;
		return true;
	case PLOT:
		o->files.plot = optarg;
		return true;
	case PLOT_MESSAGES:
		o->files.other_plot = optarg;
		return true;
	case QUIET:
		o->progress = false;
		return true;
	case '?':
		return false;
	}
	return number(c, &o->c);
}

static int options_parse(struct sim_options *o, int argc, char **argv)
{
	int c;

	while ((c = getopt_long(argc, argv, "h", longopts, NULL)) != -1) {
		if (c == 'h') {
			fputs(help, stdout);
			return 1;
		}
		if (!option(c, o))
			return 2;
	}
	if (optind < argc)
		return cli_error("sim: unexpected '%s'", argv[optind]);
	/* What is begun with a copy ends before another can change it. */
	if (o->c.cost.hit >= o->c.cost.transfer)
		return cli_error("sim: a hit costs less than a transfer");
	return 0;
}

static void progress(const struct sim_options *o, const struct sim_config *c)
{
	if (o->progress && time(NULL) - o->began >= PROGRESS_AFTER)
		fprintf(stderr, "mios-lock: %s, %u contenders ...\n",
			lock_name[c->kind], c->contenders);
}

static void remember(struct sim_options *o, const struct sim_config *c,
		     const struct sim_result *r)
{
	const struct sim_counts *n = &r->counts;
	struct plot_point *cost = &o->cost[o->points];
	struct plot_point *messages = &o->messages[o->points++];

	cost->x = messages->x = c->contenders;
	cost->series = messages->series = c->kind;
	cost->y = show_cost(c, r);
	messages->y = (n->transfers + n->invalidations + n->register_reads +
		       n->register_writes + n->ipis) / c->rounds;
}

static int one_result(struct sim_options *o, const struct sim_config *c)
{
	struct sim_result r;
	int err;

	progress(o, c);
	err = sim_run(c, &r);
	if (err == -ENOMEM)
		return cli_error("sim: %s", strerror(-err));
	if (err) {
		cli_error("sim: %s, %u contenders: %s", lock_name[c->kind],
			  c->contenders, err == -EILSEQ ?
			  "two had the lock at a time" : "nobody can go on");
		return 1;
	}
	if (o->files.json) {
		fputs(o->points ? ",\n" : "[\n", o->files.out);
		show_json(o->files.out, c, &r);
	}
	if (o->files.out != stdout)
		show_row(stdout, c, &r);
	remember(o, c, &r);
	return 0;
}

static int all_results(struct sim_options *o)
{
	struct sim_config c = o->c;
	int kind, err;
	u32 i;

	o->began = time(NULL);
	if (o->files.out != stdout)
		show_head(stdout);
	for (kind = 0; kind < LOCK_KINDS; kind++) {
		for (i = 0; o->kind[kind] && i < o->sweep; i++) {
			c.kind = kind;
			c.contenders = o->contenders[i];
			if (c.contenders > lock_contenders_max(kind))
				continue;
			err = one_result(o, &c);
			if (err)
				return err;
		}
	}
	if (!o->points)
		return cli_error("sim: %s: at most %u contenders",
				 lock_name[LOCK_REGLOCK],
				 lock_contenders_max(LOCK_REGLOCK));
	return 0;
}

static int finish(struct sim_options *o)
{
	if (o->files.plot &&
	    plot_write(o->files.plot, "A hand-over", "contenders", "nanoseconds",
		       lock_name, o->cost, o->points))
		return 2;
	if (o->files.other_plot &&
	    plot_write(o->files.other_plot, "Messages of a hand-over",
		       "contenders", "messages", lock_name, o->messages,
		       o->points))
		return 2;
	if (!o->files.json)
		return 0;
	fputs("\n]\n", o->files.out);
	return cli_close(o->files.out, o->files.json);
}

int cmd_sim(int argc, char **argv)
{
	static struct sim_options o = {
		.c = { .rounds = 1000, .hold = 200, .seed = 1,
		       .cost = { .hit = 2, .transfer = 200, .occupancy = 20,
				 .invalidate = 10, .reg = 1000, .service = 20,
				 .ipi = 2000 } },
		.contenders = { 2, 4, 8, 16, 32, 64 }, .sweep = 6,
		.files = { .option = "--plot-messages" },
		.kind = { [0 ... LOCK_KINDS - 1] = true },
	};
	int err;

	o.progress = isatty(2);
	err = options_parse(&o, argc, argv);
	if (err)
		return err == 1 ? 0 : err;
	if (cli_results_create(&o.files))
		return 2;
	err = all_results(&o);
	return err ? err : finish(&o);
}
