// SPDX-License-Identifier: GPL-2.0
/*
 * mios-dsm sim: runs one pattern or all, under one policy or all, on one
 * number of nodes or several, and shows the results.
 */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../libmios/cli.h"
#include "commands.h"
#include "results/results.h"
#include "simulator/simcore.h"
#include "../../../mios/dsm/knobs.h"

static const char help[] =
"usage: mios-dsm sim [options]\n"
"  --policy ivy|giantvm|wu|wu+|wu-seq|auto|all (all)\n"
"  --pattern migratory|producer-consumer|read-mostly|lock|false-sharing|\n"
"            compile|pingpong|one-write|all (all but the last two)\n"
"  --nodes N[,N...]    1 to 256 (4)    --cpus N      per node (1)\n"
"  --pages N           (16)            --ops N       of each CPU (2000)\n"
"  --seed N            (1)             --run N       wu, wu+: writes in a row\n"
"                                                    that take a page (16)\n"
"  --topology switch|tree|ring         (switch)\n"
"  --latency NS        (8000)          --jitter NS   at most (0)\n"
"  --bandwidth MBIT    (1000)          --loss PPM, --duplicate PPM,\n"
"                                      --reorder PPM of the frames (0)\n"
"  --trap NS           wu, wu+: a trapped write (278: 250 cycles at 900 MHz)\n"
"  --fault NS          a page fault (2000)\n"
"  --think NS          between operations (2000; not pingpong, one-write)\n"
"  --handle NS         a message at its receiver (500)\n"
"  --no-hints          ask the manager always\n"
"  --shared            all nodes hold copies at first\n"
"  --sharers N         nodes 1 to N hold a copy of page 0 at first (0)\n"
"  --chunk N           pages in a row with the same manager (1)\n"
"  --window N          wu, wu+: slots of the merge buffer, a power of two\n"
"                      (8192)\n"
"  --lease NS          longest protection of a grant (1000000)\n"
"  --explain           auto: what nodes take pages for, and why\n"
"  --json FILE         results, - for standard output\n"
"  --plot FILE.svg     messages over nodes;  --plot-stall FILE.svg\n"
"  --quiet             no progress on the terminal\n"
"With jitter, faults, a tree or a ring wu and wu+ run on at most 32 nodes.\n"
"An option that would have no effect is refused.\n"
"Exit status: 0, 1 if memory ended wrong or nothing moves on, 2 a mistake.\n";

static const char *const policies[] = { "ivy", "giantvm", "wu", "wu+", "wu-seq",
	"auto", "all", NULL };
static const char *const patterns[] = { "migratory", "producer-consumer",
	"read-mostly", "lock", "false-sharing", "compile", "pingpong",
	"one-write", "all", NULL };

#define SWEEP_MAX	16
#define POINTS_MAX	1024

struct sim_options {
	struct sim_config c;
	u32 nodes[SWEEP_MAX];
	int sweep;
	struct cli_results files;
	struct plot_point messages[POINTS_MAX], stall[POINTS_MAX];
	int points;
	bool wrong, explain;
};

enum { POLICY = 256, PATTERN, NODES, CPUS, PAGES, OPS, SEED, RUN, TOPOLOGY,
	LATENCY, JITTER, BANDWIDTH, LOSS, DUPLICATE, REORDER, TRAP, FAULT,
	THINK, HANDLE, LEASE, NO_HINTS, JSON, PLOT, PLOT_STALL, QUIET, HELP,
	SHARED, SHARERS, CHUNK, WINDOW, NO_LEASE, NO_CAUSAL,
	EXPLAIN, NO_READERS, NO_CROWD };

static const struct option longopts[] = {
	{ "policy", 1, NULL, POLICY }, { "pattern", 1, NULL, PATTERN },
	{ "nodes", 1, NULL, NODES }, { "cpus", 1, NULL, CPUS },
	{ "pages", 1, NULL, PAGES }, { "ops", 1, NULL, OPS },
	{ "seed", 1, NULL, SEED }, { "run", 1, NULL, RUN },
	{ "topology", 1, NULL, TOPOLOGY }, { "latency", 1, NULL, LATENCY },
	{ "jitter", 1, NULL, JITTER }, { "bandwidth", 1, NULL, BANDWIDTH },
	{ "loss", 1, NULL, LOSS }, { "duplicate", 1, NULL, DUPLICATE },
	{ "reorder", 1, NULL, REORDER }, { "trap", 1, NULL, TRAP },
	{ "fault", 1, NULL, FAULT }, { "think", 1, NULL, THINK },
	{ "handle", 1, NULL, HANDLE }, { "lease", 1, NULL, LEASE },
	{ "no-hints", 0, NULL, NO_HINTS }, { "json", 1, NULL, JSON },
	{ "plot", 1, NULL, PLOT }, { "plot-stall", 1, NULL, PLOT_STALL },
	{ "quiet", 0, NULL, QUIET }, { "shared", 0, NULL, SHARED },
	{ "window", 1, NULL, WINDOW },
	{ "sharers", 1, NULL, SHARERS }, { "chunk", 1, NULL, CHUNK },
	{ "explain", 0, NULL, EXPLAIN },
#ifdef DSM_KNOBS
	{ "break-readers", 0, NULL, NO_READERS },
	{ "break-crowd", 0, NULL, NO_CROWD },
	{ "break-lease", 0, NULL, NO_LEASE },
	{ "break-causal", 0, NULL, NO_CAUSAL },
#endif
	{ "help", 0, NULL, HELP }, { NULL, 0, NULL, 0 },
};

/* Options that are a number and nothing else. */
static bool number(int c, struct sim_config *s, bool *known)
{
	static const struct { int c; const char *name; uint64_t low, high; }
	limit[] = {
		{ OPS, "--ops", 1, 1ULL << 32 },
		{ SEED, "--seed", 0, ~0ULL }, { RUN, "--run", 1, 60000 },
		{ LATENCY, "--latency", 100, 1000000000 },
		{ JITTER, "--jitter", 0, 1000000000 },
		{ BANDWIDTH, "--bandwidth", 1, 10000000 },
		{ LOSS, "--loss", 0, 500000 },
		{ DUPLICATE, "--duplicate", 0, 500000 },
		{ REORDER, "--reorder", 0, 500000 },
		{ TRAP, "--trap", 0, 1000000000 },
		{ FAULT, "--fault", 0, 1000000000 },
		{ THINK, "--think", 1, 1000000000 },
		{ HANDLE, "--handle", 0, 1000000000 },
		{ LEASE, "--lease", 1, 1ULL << 40 },
		{ WINDOW, "--window", 2, 1 << 20 },
	};
	uint64_t *at[] = { &s->ops, &s->seed, &s->run, &s->latency,
		&s->jitter, &s->mbits, &s->loss, &s->twice, &s->reorder,
		&s->trap, &s->fault, &s->think, &s->handle, &s->lease,
		&s->window };

	for (size_t i = 0; i < sizeof(limit) / sizeof(*limit); i++) {
		if (limit[i].c != c)
			continue;
		*known = true;
		return cli_number(limit[i].name, optarg, limit[i].low,
				  limit[i].high, at[i]);
	}
	return true;
}

static bool option(int c, struct sim_options *o)
{
	bool known = false, good = number(c, &o->c, &known);
	uint64_t v;

	if (!good || known)
		return good;
	switch (c) {
	case POLICY:
		return cli_choice("--policy", optarg, policies, &o->c.policy);
	case PATTERN:
		return cli_choice("--pattern", optarg, patterns,
				  &o->c.pattern);
	case TOPOLOGY:
		return cli_choice("--topology", optarg, sim_topology_name,
				  &o->c.topology);
	case NODES:
		o->sweep = cli_numbers("--nodes", optarg, 1, DSM_NODES_MAX,
				       o->nodes, SWEEP_MAX);
		return o->sweep;
	case CPUS:
		if (!cli_number("--cpus", optarg, 1, DSM_CPUS_MAX, &v))
			return false;
		o->c.cpus = v;
		return true;
	case PAGES:
		if (!cli_number("--pages", optarg, 1, 65536, &v))
			return false;
		o->c.pages = v;
		return true;
	case SHARERS:
		if (!cli_number("--sharers", optarg, 0, 255, &v))
			return false;
		o->c.sharers = v;
		return true;
	case CHUNK:
		if (!cli_number("--chunk", optarg, 1, 65536, &v))
			return false;
		o->c.chunk = v;
		return true;
	case JSON:
		o->files.json = optarg;
		return true;
	case PLOT:
		o->files.plot = optarg;
		return true;
	case PLOT_STALL:
		o->files.other_plot = optarg;
		return true;
	}
	o->c.hints &= c != NO_HINTS;
	o->c.progress &= c != QUIET;
	o->c.seed_shared |= c == SHARED;
	o->c.no_lease |= c == NO_LEASE;
	o->c.no_causal |= c == NO_CAUSAL;
	o->explain |= c == EXPLAIN;
	o->c.knobs |= c == NO_READERS ? DSM_KNOB_NO_READERS : 0;
	o->c.knobs |= c == NO_CROWD ? DSM_KNOB_NO_CROWD : 0;
	return true;
}

static int one_result(struct sim_options *o, const struct sim_config *c,
		      bool first)
{
	struct sim_result r;
	int err = sim_run(c, &r);

	if (err)
		return err;
	if (o->files.out != stdout)
		sim_table_row(stdout, c, &r);
	if (o->files.out != stdout && o->explain && c->policy == POL_AUTO)
		sim_explain(stdout, &r);
	if (o->files.out) {
		fprintf(o->files.out, first ? "[\n" : ",\n");
		sim_json(o->files.out, c, &r);
	}
	if (r.wrong) {
		o->wrong = true;
		cli_error("sim: %s under %s ended with wrong memory",
			  sim_pattern_name[c->pattern],
			  sim_policy_name[c->policy]);
	}
	if (o->points < POINTS_MAX) {
		o->messages[o->points].x = o->stall[o->points].x = c->nodes;
		o->messages[o->points].series = o->stall[o->points].series =
			c->policy;
		o->messages[o->points].y = r.messages;
		o->stall[o->points++].y = r.stall_time / 1000;
	}
	return 0;
}

static int all_results(struct sim_options *o)
{
	struct sim_config c = o->c;
	bool every = o->c.pattern == PATTERNS, first = true;
	int err;

	for (int t = 0; t < PATTERNS; t++) {
		if (every ? t >= PAT_PINGPONG : t != o->c.pattern)
			continue;
		for (int p = 0; p < POLICIES; p++) {
			if (o->c.policy != POLICIES && p != o->c.policy)
				continue;
			for (int n = 0; n < o->sweep; n++) {
				c.pattern = t;
				c.policy = p;
				c.nodes = o->nodes[n];
				err = one_result(o, &c, first);
				if (err)
					return err;
				first = false;
			}
		}
	}
	return 0;
}

static int finish(struct sim_options *o)
{
	if (o->files.plot && plot_write(o->files.plot, "Messages", "nodes", "messages",
				  sim_policy_name, o->messages, o->points))
		return 2;
	if (o->files.other_plot && plot_write(o->files.other_plot, "Stall time, all CPUs",
					"nodes", "microseconds",
					sim_policy_name, o->stall, o->points))
		return 2;
	if (!o->files.out)
		return 0;
	fprintf(o->files.out, "\n]\n");
	return cli_close(o->files.out, o->files.json);
}

#define BIT(c)		(1ULL << ((c) - POLICY))

/* Options that would have no effect. */
static int useless(const struct sim_config *c, uint64_t given)
{
	const struct {
		bool when;
		uint64_t options;
		const char *with, *what;
	} no[] = {
		{ c->policy < POL_WU, BIT(RUN) | BIT(WINDOW) | BIT(TRAP),
		  "--policy ", sim_policy_name[c->policy] },
		{ c->policy != POL_AUTO && c->policy != POLICIES, BIT(EXPLAIN),
		  "--policy ", sim_policy_name[c->policy] },
		{ c->policy == POL_AUTO, BIT(RUN), "--policy ",
		  sim_policy_name[POL_AUTO] },
		{ c->pattern == PAT_ONE_WRITE, BIT(OPS) | BIT(THINK),
		  "--pattern ", sim_pattern_name[PAT_ONE_WRITE] },
		{ c->pattern == PAT_PINGPONG, BIT(THINK),
		  "--pattern ", sim_pattern_name[PAT_PINGPONG] },
		{ c->seed_shared, BIT(SHARERS), "--shared", "" },
	};

	for (size_t i = 0; i < sizeof(no) / sizeof(*no); i++)
		for (const struct option *l = longopts; l->name; l++)
			if (no[i].when && no[i].options & given & BIT(l->val))
				return cli_error("sim: --%s is not for %s%s",
						 l->name, no[i].with,
						 no[i].what);
	return 0;
}

static int impossible(const struct sim_options *o)
{
	struct sim_config c = o->c;

	if (c.window & (c.window - 1))
		return cli_error("sim: a window of %llu is no power of two",
				 (unsigned long long)c.window);
	for (int n = 0; n < o->sweep; n++) {
		c.nodes = o->nodes[n];
		if (c.policy == POLICIES)
			c.policy = POL_WUPLUS;
		if (c.policy >= POL_WU && c.window < 2 * c.nodes)
			return cli_error("sim: %u nodes need a window of %u",
					 c.nodes, 2 * c.nodes);
		if (!sim_good(&c))
			return cli_error("sim: a cluster of %u nodes, %u CPUs and %u pages is impossible",
					 c.nodes, c.cpus, c.pages);
		if (c.topology == TOPO_RING && c.nodes < 3)
			return cli_error("sim: a ring needs 3 nodes");
		if (c.sharers >= c.nodes)
			return cli_error("sim: %u sharers do not fit %u nodes",
					 c.sharers, c.nodes);
		if ((c.pattern == PAT_COMPILE || c.pattern == PATTERNS) &&
		    c.pages < 4)
			return cli_error("sim: compile needs 4 pages");
		if (sim_stamp(&c) && c.nodes > CAUSAL_NODES)
			return cli_error("sim: wu and wu+ run on at most %d nodes of this network",
					 CAUSAL_NODES);
	}
	return 0;
}

int cmd_sim(int argc, char **argv)
{
	static struct sim_options o = {
		.c = { .cpus = 1, .pages = 16, .policy = POLICIES,
		       .pattern = PATTERNS, .ops = 2000, .seed = 1,
		       .latency = 8000, .mbits = 1000, .trap = 278,
		       .fault = 2000, .think = 2000, .handle = 500,
		       .run = 16, .lease = 1000000, .window = 8192, .hints = true,
		       .progress = true },
		.nodes = { 4 }, .sweep = 1,
		.files = { .option = "--plot-stall" },
	};
	uint64_t given = 0;
	int c, err;

	o.c.progress = isatty(2);
	while ((c = getopt_long(argc, argv, "h", longopts, NULL)) != -1) {
		if (c == HELP || c == 'h') {
			fputs(help, stdout);
			return 0;
		}
		if (c == '?' || !option(c, &o))
			return 2;
		given |= BIT(c);
	}
	if (optind < argc)
		return cli_error("sim: unexpected '%s'", argv[optind]);
	if (useless(&o.c, given) || impossible(&o) || cli_results_create(&o.files))
		return 2;
	if (o.files.out != stdout)
		sim_table_head(stdout);
	err = all_results(&o);
	if (!err)
		err = finish(&o);
	return err ? err : o.wrong;
}
