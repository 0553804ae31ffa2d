// SPDX-License-Identifier: GPL-2.0
/*
 * mios-dsm litmus: runs litmus files on the engine, in the explorer or the
 * simulator, and judges what was seen by the x86-TSO oracle.  litmus_options.c reads
 * the command line.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../libmios/cli.h"
#include "litmus_options.h"
#include "commands.h"
#include "explorer/runs.h"
#include "simulator/sim_litmus.h"
#include "simulator/simcore.h"

#define LITMUS_CUT	3	/* exit status: nothing wrong, not all seen */

struct result {
	uint64_t states, configs, of, cut;
	struct verdict worst;
	char where[200];
	struct lit_set seen;
};

static struct lit_test test;
static struct lit_set allowed;
static struct result result;
static struct judge judge;

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
	w->guesses = o->guesses;
	w->pins = o->pins;
	w->joins = o->joins;
	w->asks = o->asks;
	w->probowners = o->probowners;
	w->run = o->run;
	w->knobs = o->knobs;
}

static int one_config(struct world *w, const struct options *o)
{
	struct explored e;

	world_options(w, o);
	if (explore(w, &judge, o->states, o->trace ? stdout : NULL, &e))
		return 2;
	result.states += e.states;
	result.configs++;
	result.cut += !e.complete;
	if ((e.v.violated || e.v.limit) && !result.worst.violated) {
		result.worst = e.v;
		plan_name(w, result.where, sizeof(result.where));
	}
	return 0;
}

/* All that there are, whatever the options leave out. */
static uint64_t configs_count(struct plan p)
{
	struct world w = { .t = &test };
	uint64_t n = 1;

	p.thorough = true;
	for (plan_first(&p, &w); plan_next(&p, &w); n++)
		;
	return n;
}

static int on_explorer(const struct options *o)
{
	struct plan p = { .t = &test, .protocol = o->protocol,
			  .order = o->network, .thorough = o->thorough,
			  .spare = o->spare };
	struct world w = { .t = &test };

	p.mixed = o->protocol == DSM_PROTOCOLS;
	if (p.mixed)
		p.protocol = DSM_WUPLUS;
	result.of = configs_count(p);
	plan_first(&p, &w);
	do {
		if (one_config(&w, o))
			return 2;
		if (o->configs && result.configs == o->configs)
			break;
	} while (!result.worst.limit && (o->all || !result.worst.violated) &&
		 plan_next(&p, &w));
	return 0;
}

static const char *quantifier(const struct lit_test *t)
{
	return t->quant == Q_EXISTS ? "exists" :
		t->quant == Q_FORALL ? "forall" : "~exists";
}

/* Not a word is said of what has not been looked at. */
static bool is_cut(void)
{
	return result.cut || result.configs < result.of;
}

/* What has been proven, and what has not. */
static void report_cut(const struct options *o)
{
	unsigned long long cut = result.cut, whole = result.configs - cut;
	unsigned long long left = result.of - result.configs;

	if (result.configs < result.of)
		printf("  not looked at: %llu configurations, of other "
		       "placements, initial owners or copies%s\n", left,
		       o->configs || o->thorough ? "" : "; --thorough does");
	if (!cut)
		return;
	printf("  cut short: proven for %llu configurations; in %llu nothing is "
	       "known beyond the first %llu states\n", whole, cut,
	       (unsigned long long)o->states);
}

static void report(const char *path, const struct options *o,
		   uint64_t oracle_states)
{
	const struct verdict *e = &result.worst;
	int may, did;
	bool law = lit_verdict(&test, &allowed, &may);
	bool fact = lit_verdict(&test, &result.seen, &did);

	printf("%s %s: %s: TSO %s (%d of %d outcomes), seen %s (%d of %d)",
	       e->violated ? "VIOLATION" : is_cut() ? "CUT" : "OK", test.name,
	       quantifier(&test), law ? "yes" : "no", may, allowed.count,
	       fact ? "yes" : "no", did, result.seen.count);
	printf("; %llu", (unsigned long long)result.configs);
	if (!e->violated && result.configs < result.of)
		printf(" of %llu", (unsigned long long)result.of);
	printf(" %s, %llu %s", o->on ? "runs" : "configurations",
	       (unsigned long long)result.states,
	       o->on ? "events" : "states");
	if (result.cut)
		printf(", %llu cut short", (unsigned long long)result.cut);
	printf(" (oracle %llu)\n", (unsigned long long)oracle_states);
	if (!e->violated) {
		if (is_cut())
			report_cut(o);
		return;
	}
	printf("  %s: %s\n  %s\n", path, e->why, result.where);
	if (e->bad_outcome) {
		printf("  ");
		lit_print(stdout, &test, &e->bad);
		printf("\n");
	}
}

/* Seeded runs, over the simulator's network or as walks. */
static int on_runs(const struct options *o)
{
	struct runs r = { .t = &test, .judge = &judge, .runs = o->runs,
			  .seed = o->seed, .order = o->network,
			  .protocol = o->protocol, .net = &o->net,
			  .spare = o->spare,
			  .trace = o->trace && o->on == ON_WALK };
	int err;

	r.world.t = &test;
	world_options(&r.world, o);
	err = runs_all(&r, o->on == ON_SIM ? sim_litmus_one : walk_one);
	result.worst = r.v;
	result.configs = r.done;
	result.states = r.events;
	snprintf(result.where, sizeof(result.where), "%s", r.where);
	return err;
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
	err = lit_oracle(&test, &allowed, &states);
	if (err)
		return cli_error(err == -2 ? "%s: an address is that of no variable" :
				 err == -3 ? "%s: a loop without end" :
				 "%s: too many outcomes", path);
	judge.allowed = &allowed;
	judge.seen = &result.seen;
	err = o->on == ON_EXPLORER ? on_explorer(o) : on_runs(o);
	judge_free(&judge);
	if (err)
		return err;
	if (result.worst.limit)
		return cli_error("%s: no verdict: %s (%s)", path,
				 result.worst.why, result.where);
	report(path, o, states);
	return result.worst.violated ? 1 : is_cut() ? LITMUS_CUT : 0;
}

/* Which of two files' results the command ends with. */
static int worse(int a, int b)
{
	static const int rank[] = { 0, 2, 3, 1 };	/* LITMUS_CUT: least */

	return rank[a] > rank[b] ? a : b;
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
		.network = -1, .net = { .cpus = 2, .pages = W_PAGES,
			.latency = 8000, .mbits = 1000, .handle = 500,
			.lease = 1000000 } };
	int first = options_parse(&o, argc, argv), worst = 0;

	if (!first)
		return 2;
	if (o.help)
		return 0;
	if (!cli_create(o.transitions))
		return 2;
	for (int i = first; i < argc; i++) {
		worst = worse(worst, one_file(argv[i], &o));
		fflush(stdout);
	}
	if (o.transitions && transitions_write(o.transitions))
		return 2;
	return worst;
}
