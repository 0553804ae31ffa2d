// SPDX-License-Identifier: GPL-2.0
/*
 * Reads the command line of mios-dsm litmus.  Called by cmd_litmus.c.
 */
#include <getopt.h>
#include <stdio.h>

#include "../../libmios/cli.h"
#include "litmus_options.h"
#include "../../../mios/dsm/knobs.h"

static const char help[] =
"usage: mios-dsm litmus [options] FILE.litmus...\n"
"  --on explorer|sim|walk      every interleaving; seeded runs over the\n"
"                              simulator's network; random walks (explorer)\n"
"  --protocol wi|wu|wu+|wu-seq|mixed  mixed: wu+ with every mix of modes (wi)\n"
"  --network fifo|causal|total order of delivery (what the protocol needs;\n"
"                              not for sim: it follows from the faults)\n"
"  --same-page                 all variables on one page\n"
"  --spare                     one node more, which runs no thread\n"
"  --evictions N, --hints N    evictions, mode changes, at any time (0)\n"
"  --deaths N                  nodes that die, up to 2 (0)\n"
"  --joins N                   nodes born again after their death (0)\n"
"  --guesses N                 owners that a node guesses wrong (0)\n"
"  --pins N                    pages pinned for a while (0)\n"
"  --asks N                    pages a node may ask for at once (6 / nodes)\n"
"  --news N                    owners told in each answer, up to 4 (0)\n"
"  --run N                     writes in a row that take a page (never;\n"
"                              not for wi)\n"
"  --no-buffers                CPUs without store buffers\n"
"  --transitions FILE          write all changes of state that were seen\n"
"with --on explorer:\n"
"  --states N                  most states per configuration (5000000)\n"
"  --configs N                 most configurations per file (all)\n"
"  --thorough                  all initial owners and copies; else, of many\n"
"                              pages, some only, and the verdict is CUT\n"
"  --all                       go on after a violation in a file\n"
"with --on explorer and walk:\n"
"  --trace                     print the way to a violation\n"
"  --expiries N                leases that run out (0)\n"
"with --on sim and walk:\n"
"  --runs N, --seed N          (1000, 1)\n"
"with --on sim:\n"
"  --latency NS (8000)         --jitter NS (8000 with wi, else 0)\n"
"  --loss PPM, --duplicate PPM, --reorder PPM of the frames (0)\n"
"  --bandwidth MBIT (1000)     --topology switch|tree|ring (switch)\n"
"Any other use of an option is refused.\n"
"Exit status: 0 all OK, 1 a violation, 2 a usage error, a bad file or one that\n"
"is too large for a verdict, 3 nothing wrong, but not all looked at (CUT).\n";

static const char *const protocols[] = { "wi", "wu", "wu+", "wu-seq", "mixed",
	NULL };
static const char *const networks[] = { "fifo", "causal", "total", NULL };
static const char *const places[] = { "explorer", "sim", "walk", NULL };

enum { ON = 256, PROTOCOL, NETWORK, SAME_PAGE, SPARE, EVICTIONS, HINTS,
	EXPIRIES, DEATHS, JOINS, GUESSES, PINS, ASKS, NEWS, RUN, STATES, CONFIGS, RUNS,
	SEED, NO_BUFFERS, THOROUGH, ALL, TRACE, TRANSITIONS, KNOBS, HELP,
	LATENCY, JITTER, LOSS, DUPLICATE, REORDER, BANDWIDTH, TOPOLOGY,
	NO_CAUSAL };

static const struct option longopts[] = {
	{ "on", 1, NULL, ON }, { "protocol", 1, NULL, PROTOCOL },
	{ "network", 1, NULL, NETWORK }, { "same-page", 0, NULL, SAME_PAGE },
	{ "spare", 0, NULL, SPARE },
	{ "evictions", 1, NULL, EVICTIONS }, { "hints", 1, NULL, HINTS },
	{ "expiries", 1, NULL, EXPIRIES }, { "deaths", 1, NULL, DEATHS },
	{ "joins", 1, NULL, JOINS }, { "guesses", 1, NULL, GUESSES }, { "pins", 1, NULL, PINS },
	{ "asks", 1, NULL, ASKS },
	{ "news", 1, NULL, NEWS }, { "run", 1, NULL, RUN },
	{ "states", 1, NULL, STATES },
	{ "configs", 1, NULL, CONFIGS }, { "runs", 1, NULL, RUNS },
	{ "seed", 1, NULL, SEED }, { "no-buffers", 0, NULL, NO_BUFFERS },
	{ "thorough", 0, NULL, THOROUGH }, { "all", 0, NULL, ALL },
	{ "trace", 0, NULL, TRACE },
	{ "transitions", 1, NULL, TRANSITIONS },
	{ "latency", 1, NULL, LATENCY }, { "jitter", 1, NULL, JITTER },
	{ "loss", 1, NULL, LOSS }, { "duplicate", 1, NULL, DUPLICATE },
	{ "reorder", 1, NULL, REORDER },
	{ "bandwidth", 1, NULL, BANDWIDTH },
	{ "topology", 1, NULL, TOPOLOGY },
#ifdef DSM_KNOBS
	{ "break", 1, NULL, KNOBS }, { "break-causal", 0, NULL, NO_CAUSAL },
#endif
	{ "help", 0, NULL, HELP }, { NULL, 0, NULL, 0 },
};

#ifdef DSM_KNOBS
static const char *const knob_names[] = { "flush", "n1", "mask",
	"single-writer", "lease", "inv-ack", "old-copy", "stale-copy",
	"seat", "loss", "ahead", "round", "wait", "level", NULL };
#endif

/* Options that are a number and nothing else. */
static bool number(int c, struct options *o, bool *known)
{
	struct { int c; const char *name; uint64_t low, high, *at; } table[] = {
		{ EVICTIONS, "--evictions", 0, 9, &o->evictions },
		{ HINTS, "--hints", 0, 9, &o->hints },
		{ EXPIRIES, "--expiries", 0, 9, &o->expiries },
		{ DEATHS, "--deaths", 0, 2, &o->deaths },
		{ JOINS, "--joins", 0, 2, &o->joins },
		{ GUESSES, "--guesses", 0, 9, &o->guesses },
		{ PINS, "--pins", 0, 9, &o->pins },
		{ ASKS, "--asks", 1, 9, &o->asks },
		{ NEWS, "--news", 0, 4, &o->probowners },
		{ RUN, "--run", 1, 1000, &o->run },
		{ STATES, "--states", 1, 1ULL << 40, &o->states },
		{ CONFIGS, "--configs", 1, 1 << 20, &o->configs },
		{ RUNS, "--runs", 1, 1ULL << 40, &o->runs },
		{ SEED, "--seed", 0, ~0ULL, &o->seed },
		{ LATENCY, "--latency", 100, 10000000, &o->net.latency },
		{ JITTER, "--jitter", 0, 10000000, &o->net.jitter },
		{ LOSS, "--loss", 0, 500000, &o->net.loss },
		{ DUPLICATE, "--duplicate", 0, 500000, &o->net.twice },
		{ REORDER, "--reorder", 0, 500000, &o->net.reorder },
		{ BANDWIDTH, "--bandwidth", 1, 10000000, &o->net.mbits },
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
		if (table[i].c != c)
			continue;
		*known = true;
		return cli_number(table[i].name, optarg, table[i].low,
				  table[i].high, table[i].at);
	}
	return true;
}

static bool option(int c, struct options *o)
{
	bool known = false;
	int bit = 0;

	(void)bit;
	if (!number(c, o, &known))
		return false;
	if (known)
		return true;
	switch (c) {
	case ON:
		return cli_choice("--on", optarg, places, &o->on);
	case PROTOCOL:
		return cli_choice("--protocol", optarg, protocols,
				  &o->protocol);
	case NETWORK:
		return cli_choice("--network", optarg, networks,
				  &o->network);
	case TOPOLOGY:
		return cli_choice("--topology", optarg, sim_topology_name,
				  &o->net.topology);
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
	o->spare |= c == SPARE;
	o->no_buffers |= c == NO_BUFFERS;
	o->thorough |= c == THOROUGH;
	o->all |= c == ALL;
	o->trace |= c == TRACE;
	o->net.no_causal |= c == NO_CAUSAL;
	return true;
}

#define BIT(c)		(1ULL << ((c) - ON))
#define WIRE		(BIT(LATENCY) | BIT(JITTER) | BIT(LOSS) | \
			 BIT(DUPLICATE) | BIT(REORDER) | BIT(BANDWIDTH) | \
			 BIT(TOPOLOGY))

/*
 * What would have no effect there.  In the simulator the order of delivery
 * follows from the wire's faults and leases run out with its clock; runs try
 * all clusters in turn and end with the first violation.
 */
static const uint64_t useless[] = {
	[ON_EXPLORER] = WIRE | BIT(RUNS) | BIT(SEED),
	[ON_SIM] = BIT(STATES) | BIT(CONFIGS) | BIT(THOROUGH) | BIT(ALL) |
		BIT(TRACE) | BIT(NETWORK) | BIT(EXPIRIES) | BIT(JOINS),
	[ON_WALK] = WIRE | BIT(STATES) | BIT(CONFIGS) | BIT(THOROUGH) |
		BIT(ALL),
};

/* What follows from the rest, and what does not go together. */
static bool options_settle(struct options *o, uint64_t given)
{
	for (const struct option *l = longopts; l->name; l++) {
		if (!(useless[o->on] & given & BIT(l->val)))
			continue;
		cli_error("litmus: --%s is not for --on %s", l->name,
			  places[o->on]);
		return false;
	}
	if (given & BIT(RUN) && !o->protocol) {
		cli_error("litmus: --run is not for --protocol wi");
		return false;
	}
	if (!(given & BIT(JITTER)) && !o->protocol && o->on == ON_SIM)
		o->net.jitter = 8000;
	if (o->network < 0)
		o->network = o->protocol ? DSM_ORDER_CAUSAL : DSM_ORDER_FIFO;
	return true;
}

int options_parse(struct options *o, int argc, char **argv)
{
	uint64_t given = 0;
	int c;

	while ((c = getopt_long(argc, argv, "h", longopts, NULL)) != -1) {
		if (c == HELP || c == 'h') {
			fputs(help, stdout);
			o->help = true;
			return argc;
		}
		if (c == '?' || !option(c, o))
			return 0;
		given |= BIT(c);
	}
	if (optind == argc) {
		cli_error("litmus: no file; try mios-dsm litmus --help");
		return 0;
	}
	return options_settle(o, given) ? optind : 0;
}
