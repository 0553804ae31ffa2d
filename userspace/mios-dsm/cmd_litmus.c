// SPDX-License-Identifier: GPL-2.0
/*
 * mios-dsm litmus: runs litmus files on the engine, in the explorer or the
 * simulator, and judges what was seen by the x86-TSO oracle.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "explore.h"
#include "knobs.h"
#include "simlit.h"

static const char help[] =
"usage: mios-dsm litmus [options] FILE.litmus...\n"
"  --on explorer|sim           every interleaving, or seeded runs (explorer)\n"
"  --protocol wi|wu|wu+|mixed  mixed: wu+ with every mix of modes (wi)\n"
"  --network fifo|causal|total order of delivery (what the protocol needs)\n"
"  --same-page                 all variables on one page\n"
"  --evictions N, --hints N    evictions, mode changes, at any time (0)\n"
"  --expiries N, --deaths N    leases that run out, nodes that die (0)\n"
"  --run N                     writes in a row that take a page (never)\n"
"  --states N                  most states per configuration (5000000)\n"
"  --configs N                 most configurations per file (all)\n"
"  --runs N, --seed N          with --on sim (1000, 1)\n"
"  --no-buffers                CPUs without store buffers\n"
"  --thorough                  all initial owners, even of many pages\n"
"  --all                       go on after a violation in a file\n"
"  --trace                     print the way to a violation\n"
"  --transitions FILE          write all changes of state that were seen\n"
"Exit status: 0 all OK, 1 a violation, 2 a usage error or a bad file.\n";

struct options {
	int on, protocol, network;
	bool same_page, thorough, all, trace, no_buffers;
	uint64_t evictions, hints, expiries, deaths, run, states, configs;
	uint64_t runs, seed, knobs;
	const char *transitions;
};

static const char *const protocols[] = { "wi", "wu", "wu+", "mixed", NULL };
static const char *const networks[] = { "fifo", "causal", "total", NULL };
static const char *const engines[] = { "explorer", "sim", NULL };

struct result {
	uint64_t states, configs, cut;
	struct explored worst;
	char where[160];
	struct lit_set seen;
};

static struct lit_test test;
static struct lit_set allowed;
static struct result result;

static void same_page(struct lit_test *t)
{
	for (int v = 0; v < t->vars; v++) {
		if (t->var[v].placed)
			continue;
		t->var[v].page = 0;
		t->var[v].offset = 64 * v;
	}
}

static void world_options(struct world *w, const struct options *o)
{
	w->no_buffers = o->no_buffers;
	w->evictions = o->evictions;
	w->hints = o->hints;
	w->deaths = o->deaths;
	w->expiries = o->expiries;
	w->run = o->run;
	w->knobs = o->knobs;
}

static int one_config(struct world *w, const struct options *o)
{
	struct explored e;

	world_options(w, o);
	if (explore(w, &allowed, &result.seen, o->states,
		    o->trace ? stdout : NULL, &e))
		return 2;
	result.states += e.states;
	result.configs++;
	result.cut += !e.complete;
	if (e.violated && !result.worst.violated) {
		result.worst = e;
		plan_name(w, result.where, sizeof(result.where));
	}
	return 0;
}

static int on_explorer(const struct options *o)
{
	struct plan p = { .t = &test, .protocol = o->protocol,
			  .order = o->network, .thorough = o->thorough };
	struct world w = { .t = &test };

	p.mixed = o->protocol == 3;
	if (p.mixed)
		p.protocol = DSM_WUPLUS;
	plan_first(&p, &w);
	do {
		if (one_config(&w, o))
			return 2;
		if (o->configs && result.configs == o->configs)
			break;
	} while ((o->all || !result.worst.violated) && plan_next(&p, &w));
	return 0;
}

static const char *quantifier(const struct lit_test *t)
{
	return t->quant == Q_EXISTS ? "exists" :
		t->quant == Q_FORALL ? "forall" : "~exists";
}

static void report(const char *path, const struct options *o,
		   uint64_t oracle_states)
{
	const struct explored *e = &result.worst;
	int may, did;
	bool law = lit_verdict(&test, &allowed, &may);
	bool fact = lit_verdict(&test, &result.seen, &did);

	printf("%s %s: %s: TSO %s (%d of %d outcomes), seen %s (%d of %d)",
	       e->violated ? "VIOLATION" : "OK", test.name,
	       quantifier(&test), law ? "yes" : "no", may, allowed.count,
	       fact ? "yes" : "no", did, result.seen.count);
	printf("; %llu configurations, %llu states",
	       (unsigned long long)result.configs,
	       (unsigned long long)result.states);
	if (result.cut)
		printf(", %llu cut short", (unsigned long long)result.cut);
	printf(" (oracle %llu)\n", (unsigned long long)oracle_states);
	if (!e->violated)
		return;
	printf("  %s: %s\n  %s\n", path, e->why, result.where);
	if (e->bad_outcome) {
		printf("  ");
		lit_print(stdout, &test, &e->bad);
		printf("\n");
	}
	if (o->on)
		printf("  seed %llu\n", (unsigned long long)o->seed);
}

static int one_file(const char *path, const struct options *o)
{
	uint64_t states = 0;
	int err;

	if (lit_parse(&test, path))
		return 2;
	if (o->same_page)
		same_page(&test);
	memset(&result, 0, sizeof(result));
	if (lit_oracle(&test, &allowed, &states))
		return cli_error("%s: too many outcomes", path);
	if (o->on == 1) {
		struct simlit sl = { .t = &test, .allowed = &allowed,
			.seen = &result.seen, .runs = o->runs,
			.seed = o->seed, .order = o->network,
			.protocol = o->protocol };

		sl.world.t = &test;
		world_options(&sl.world, o);
		err = simlit_run(&sl);
		result.worst = sl.worst;
		result.configs = sl.configs;
		result.states = sl.events;
		snprintf(result.where, sizeof(result.where), "%s", sl.where);
	} else {
		err = on_explorer(o);
	}
	if (err)
		return err;
	report(path, o, states);
	return result.worst.violated;
}

enum { ON = 256, PROTOCOL, NETWORK, SAME_PAGE, EVICTIONS, HINTS, EXPIRIES,
	DEATHS, RUN, STATES, CONFIGS, RUNS, SEED, NO_BUFFERS, THOROUGH, ALL,
	TRACE, TRANSITIONS, KNOBS, HELP };

static const struct option longopts[] = {
	{ "on", 1, NULL, ON }, { "protocol", 1, NULL, PROTOCOL },
	{ "network", 1, NULL, NETWORK }, { "same-page", 0, NULL, SAME_PAGE },
	{ "evictions", 1, NULL, EVICTIONS }, { "hints", 1, NULL, HINTS },
	{ "expiries", 1, NULL, EXPIRIES }, { "deaths", 1, NULL, DEATHS },
	{ "run", 1, NULL, RUN }, { "states", 1, NULL, STATES },
	{ "configs", 1, NULL, CONFIGS }, { "runs", 1, NULL, RUNS },
	{ "seed", 1, NULL, SEED }, { "no-buffers", 0, NULL, NO_BUFFERS },
	{ "thorough", 0, NULL, THOROUGH }, { "all", 0, NULL, ALL },
	{ "trace", 0, NULL, TRACE },
	{ "transitions", 1, NULL, TRANSITIONS },
#ifdef DSM_KNOBS
	{ "break", 1, NULL, KNOBS },
#endif
	{ "help", 0, NULL, HELP }, { NULL, 0, NULL, 0 },
};

#ifdef DSM_KNOBS
static const char *const knob_names[] = { "flush", "n1", "mask",
	"single-writer", "lease", "inv-ack", "old-copy", "stale-copy", NULL };
#endif

static bool option(int c, struct options *o)
{
	int bit = 0;

	(void)bit;
	switch (c) {
	case ON:
		return cli_choice("--on", optarg, engines, &o->on);
	case PROTOCOL:
		return cli_choice("--protocol", optarg, protocols,
				  &o->protocol);
	case NETWORK:
		return cli_choice("--network", optarg, networks,
				  &o->network);
	case EVICTIONS:
		return cli_number("--evictions", optarg, 0, 9, &o->evictions);
	case HINTS:
		return cli_number("--hints", optarg, 0, 9, &o->hints);
	case EXPIRIES:
		return cli_number("--expiries", optarg, 0, 9, &o->expiries);
	case DEATHS:
		return cli_number("--deaths", optarg, 0, 1, &o->deaths);
	case RUN:
		return cli_number("--run", optarg, 1, 1000, &o->run);
	case STATES:
		return cli_number("--states", optarg, 1, 1ULL << 40,
				  &o->states);
	case CONFIGS:
		return cli_number("--configs", optarg, 1, 1 << 20,
				  &o->configs);
	case RUNS:
		return cli_number("--runs", optarg, 1, 1ULL << 40, &o->runs);
	case SEED:
		return cli_number("--seed", optarg, 0, ~0ULL, &o->seed);
	case TRANSITIONS:
		o->transitions = optarg;
		return true;
#ifdef DSM_KNOBS
	case KNOBS:
		if (!cli_choice("--break", optarg, knob_names, &bit))
			return false;
		o->knobs |= 1u << bit;
		return true;
#endif
	}
	o->same_page |= c == SAME_PAGE;
	o->no_buffers |= c == NO_BUFFERS;
	o->thorough |= c == THOROUGH;
	o->all |= c == ALL;
	o->trace |= c == TRACE;
	return true;
}

static int transitions_write(const char *path)
{
	FILE *f = fopen(path, "w");
	bool bad;

	if (!f)
		return cli_error("%s: %s", path, strerror(errno));
	world_transitions(f);
	bad = ferror(f);
	if (fclose(f) || bad)
		return cli_error("%s: cannot write: %s", path,
				 strerror(errno));
	return 0;
}

int cmd_litmus(int argc, char **argv)
{
	struct options o = { .states = 5000000, .runs = 1000, .seed = 1,
			     .network = -1 };
	int c, worst = 0;

	while ((c = getopt_long(argc, argv, "h", longopts, NULL)) != -1) {
		if (c == HELP || c == 'h') {
			fputs(help, stdout);
			return 0;
		}
		if (c == '?' || !option(c, &o))
			return 2;
	}
	if (optind == argc)
		return cli_error("litmus: no file; try mios-dsm litmus --help");
	if (o.network < 0)
		o.network = o.protocol ? DSM_ORDER_CAUSAL : DSM_ORDER_FIFO;
	for (int i = optind; i < argc; i++) {
		int err = one_file(argv[i], &o);

		if (err > worst)
			worst = err;
		fflush(stdout);
	}
	if (o.transitions && transitions_write(o.transitions))
		return 2;
	return worst;
}
