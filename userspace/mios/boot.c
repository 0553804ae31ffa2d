// SPDX-License-Identifier: GPL-2.0
/*
 * mios boot: makes a plan of what it is told (boot_plan.c), then boots the
 * named nodes in parallel (parallel.c).  Nothing is asked of the kernel before
 * every file has passed.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "boot.h"
#include "libmios/libmios.h"
#include "parallel.h"
#include "set.h"
#include "subcommands.h"

#define TIMEOUT_DEFAULT	120		/* seconds to the sync point */
#define TIMEOUT_MAX	3600

static const char usage[] =
"Usage: mios boot NODES|all [OPTION...]\n"
"       mios boot --configured [OPTION...]\n"
"Takes nodes out of instance 0 and starts a kernel of its own on each.\n"
"NODES is a list such as 1 or 1-3,5; all means every node that is not up.\n\n"
"  -k, --kernel=FILE    bzImage or ELF vmlinux (default: the running one's)\n"
"  -i, --initrd=FILE    initrd (default: one that mios-initrd makes)\n"
"  -a, --append=TEXT    add to the kernel command line\n"
"  -I, --init=NAME      the first process, busybox or systemd (default: what\n"
"                       mios set init says)\n"
"  -R, --root=WHERE     a root of its own, on a device that mios set give.N has:\n"
"                       /dev/..., LABEL=... or UUID=... there, or none (default:\n"
"                       what mios set root.N says)\n"
"  -c, --reuse-cmdline  start from instance 0's command line, without what\n"
"                       describes its memory, CPUs and devices\n"
"  -r, --ring=NUMBER    ring to join (default 0)\n"
"      --timeout=SECS   how long a node may take to join, and then to finish\n"
"                       its init (default 120)\n"
"  -W, --no-wait        return once the nodes have joined, do not wait for\n"
"                       their init\n"
"      --cpus=LIST      make part 1 first, of these CPUs, such as 4-7, and of so much\n"
"      --memory=SIZE    memory, where mios is not loaded yet: mios-boot(1)\n"
"  -g, --again          as the node was booted last; none of the options above\n"
"      --configured     the nodes that are to boot at start-up: see mios set\n"
"      --dry-run        check everything, print what would be booted, and take\n"
"                       no node\n"
OUTPUT_USAGE
"  -h, --help           print this\n";

enum { OPT_TIMEOUT = 256, OPT_DRY_RUN, OPT_CONFIGURED, OPT_CPUS, OPT_MEMORY };

static const struct option longs[] = {
	{ "kernel", required_argument, NULL, 'k' },
	{ "initrd", required_argument, NULL, 'i' },
	{ "append", required_argument, NULL, 'a' },
	{ "init", required_argument, NULL, 'I' },
	{ "root", required_argument, NULL, 'R' },
	{ "reuse-cmdline", no_argument, NULL, 'c' },
	{ "ring", required_argument, NULL, 'r' },
	{ "timeout", required_argument, NULL, OPT_TIMEOUT },
	{ "no-wait", no_argument, NULL, 'W' },
	{ "cpus", required_argument, NULL, OPT_CPUS },
	{ "memory", required_argument, NULL, OPT_MEMORY },
	{ "again", no_argument, NULL, 'g' },
	{ "configured", no_argument, NULL, OPT_CONFIGURED },
	{ "dry-run", no_argument, NULL, OPT_DRY_RUN },
	OUTPUT_QUIET,
	OUTPUT_JSON,
	{ "help", no_argument, NULL, 'h' },
	{ }
};

static void take_option(int c, char **argv, struct boot_options *opt)
{
	switch (c) {
	case 'k':
		opt->kernel = optarg;
		break;
	case 'i':
		opt->initrd = optarg;
		break;
	case 'a':
		opt->append = optarg;
		break;
	case 'I':
		if (setting_valid(setting_find("init"), optarg))
			mios_usage("boot", "--init is busybox or systemd");
		opt->init = optarg;
		break;
	case 'R':
		if (setting_valid(setting_root(1), optarg) ||
		    strlen(optarg) >= SET_VALUE)
			mios_usage("boot", "--root is " ROOT_FORM);
		opt->root = optarg;
		break;
	case 'c':
		opt->reuse = 1;
		break;
	case 'W':
		opt->no_wait = 1;
		break;
	case 'g':
		opt->again = 1;
		break;
	case 'r':
		if (mios_number(optarg, 0, MIOS_MAX_RINGS - 1, &opt->ring))
			mios_usage("boot", "--ring is a number from 0 to %d",
				   MIOS_MAX_RINGS - 1);
		break;
	case OPT_TIMEOUT:
		if (mios_number(optarg, 1, TIMEOUT_MAX, &opt->timeout))
			mios_usage("boot", "--timeout is a number of seconds "
				   "from 1 to %d", TIMEOUT_MAX);
		break;
	case OPT_CPUS:
		opt->cpus = optarg;
		break;
	case OPT_MEMORY:
		opt->memory = optarg;
		break;
	case OPT_CONFIGURED:
		opt->configured = 1;
		break;
	case OPT_DRY_RUN:
		opt->dry_run = 1;
		break;
	case 'h':
		mios_help(usage);
	default:
		mios_bad_option("boot", argv, c, longs);
	}
}

void boot_options_parse(int argc, char **argv, struct boot_options *opt)
{
	int c, others = 0;

	opt->timeout = TIMEOUT_DEFAULT;
	while ((c = getopt_long(argc, argv, ":k:i:a:I:R:cr:Wgh" OUTPUT_LETTERS,
				longs, NULL)) != -1) {
		if (output_option(&opt->output, c))
			continue;
		take_option(c, argv, opt);
		others += c != 'g' && c != OPT_DRY_RUN &&
			  c != OPT_CONFIGURED;
	}
	if (opt->init && opt->root && strcmp(opt->root, "none"))
		mios_usage("boot", "--init chooses on instance 0's root: a root "
			   "of its own has its own first process");
	if (opt->again && others)
		mios_usage("boot", "--again takes the options of the last boot "
			   "and no others");
	if (opt->dry_run && (opt->output.json || opt->output.quiet))
		mios_usage("boot", "what --dry-run prints is for people: leave "
			   "--json and --quiet out");
}

/* Refused by the kernel when it looked for nodes; those behind it are not. */
static bool left_alone(const struct mios_instance *inst)
{
	return inst->state == MIOS_STATE_DOWN && !inst->memory;
}

/*
 * For "all".  What is up already is told and not a failure; of what is neither
 * up nor down the kernel says why it cannot be booted.
 */
static uint64_t nodes_not_up(void)
{
	static struct mios_instance list[MIOS_MAX_INSTANCES];
	uint64_t nodes = 0;
	int i, nr;

	nr = mios_instances_read(list, MIOS_MAX_INSTANCES);
	if (nr < 0)
		mios_die(MIOS_EXIT_FAILED, "boot: " MIOS_NO_SYSFS);
	for (i = 0; i < nr; i++) {
		if (!list[i].id)
			continue;
		if (list[i].state == MIOS_STATE_UP)
			printf("node %d: up already\n", list[i].id);
		else if (left_alone(&list[i]))
			printf("node %d: it can have no instance, dmesg says "
			       "why\n", list[i].id);
		else
			nodes |= 1ULL << list[i].id;
	}
	if (nr < 2)
		mios_die(MIOS_EXIT_FAILED, "boot: this machine has no node "
			 "beside node 0 that was set aside: see 'mios reserve'");
	return nodes;
}

/* Says early what the kernel would say later; it has the last word. */
static void check_nodes(uint64_t nodes)
{
	struct mios_instance inst;
	int i;

	for (i = 1; i < MIOS_MAX_INSTANCES; i++) {
		if (!(nodes & 1ULL << i))
			continue;
		if (mios_instance_read(i, &inst))
			mios_die(MIOS_EXIT_FAILED, "boot %d: there is no node "
				 "%d that was set aside: see 'mios status' and "
				 "'mios reserve'", i, i);
		if (left_alone(&inst))
			mios_die(MIOS_EXIT_FAILED, "boot %d: node %d can have "
				 "no instance, dmesg says why", i, i);
		if (inst.state == MIOS_STATE_UP)
			mios_die(MIOS_EXIT_FAILED, "boot %d: it is up already: "
				 "end it with 'mios stop %d' first", i, i);
	}
}

/*
 * What it is to begin with, before any file is read or made.  Of several each says so
 * itself, and keeps no other from booting.
 */
static void check_starts(const struct boot_options *opt, uint64_t nodes)
{
	int i;

	if (nodes & (nodes - 1))
		return;
	for (i = 1; i < MIOS_MAX_INSTANCES; i++) {
		if (!(nodes & 1ULL << i))
			continue;
		first_process(opt, i);
		boot_root(opt, i);
	}
}

static int boot_one(const void *plan, unsigned int node)
{
	return boot_node(plan, node);
}

/* With its own choices; so each node has a plan of its own. */
static int boot_one_again(const void *context, unsigned int node)
{
	return boot_planned(boot_recall(node), 1ULL << node, NULL);
}

static int show_one(const void *plan, unsigned int node)
{
	boot_plan_show(plan ? plan : boot_recall(node), node);
	return MIOS_EXIT_OK;
}

/* One after the other; what --again would do a process finds out. */
static int dry_run(const struct boot_plan *plan, uint64_t nodes)
{
	const struct parallel show = {
		.command = "boot",
		.what = "node",
		.work = show_one,
		.context = plan,
	};
	int i, failed = 0;

	for (i = 1; i < MIOS_MAX_INSTANCES; i++)
		if (nodes & 1ULL << i)
			failed += parallel_run(&show, 1ULL << i) != 0;
	return failed ? MIOS_EXIT_FAILED : MIOS_EXIT_OK;
}

/*
 * Boots nodes by a plan: in parallel as @output says, or where that is NULL
 * the one node, in this process.
 */
int boot_planned(struct boot_plan *plan, uint64_t nodes,
		 const struct output *output)
{
	struct parallel boot = {
		.command = "boot",
		.what = "node",
		.work = boot_one,
		.context = plan,
		.first = 1ULL << boot_server(plan->ring) & ~1ULL,
	};
	int ret;

	/* Who is host in place of instance 0 is set up, if it serves a root. */
	if (!mios_self()) {
		if (plan->wait)
			wait_for_host_setup();
		add_address(plan->ring);
	}
	if (output) {
		boot.output = *output;
		ret = parallel_run(&boot, nodes);
	} else {
		ret = boot_node(plan, __builtin_ctzll(nodes));
	}
	if (!mios_self())
		update_names(plan->ring);
	return ret;
}

static int boot_again(uint64_t nodes, const struct output *output)
{
	const struct parallel again = {
		.command = "boot",
		.what = "node",
		.work = boot_one_again,
		.first = 1ULL << boot_server(0) & ~1ULL,
		.output = *output,
	};

	return parallel_run(&again, nodes);
}

/*
 * The nodes of the setting "boot", as with "all" without those that are up.
 * One that does not exist must not keep the others from booting.
 */
static uint64_t nodes_configured(int *failed)
{
	struct mios_instance inst;
	uint64_t nodes, exist = 0;
	int i, all = setting_boot(&nodes);

	if (all < 0)
		exit(MIOS_EXIT_FAILED);
	if (all)
		return nodes_not_up();
	for (i = 1; i < MIOS_MAX_INSTANCES; i++) {
		if (!(nodes & 1ULL << i))
			continue;
		if (mios_instance_read(i, &inst)) {
			mios_error("mios", "boot %d: there is no node %d that "
				   "was set aside", i, i);
			*failed = 1;
		} else if (inst.state == MIOS_STATE_UP) {
			printf("node %d: up already\n", i);
		} else {
			exist |= 1ULL << i;
		}
	}
	return exist;
}

static uint64_t targets(int argc, char **argv, int configured, int *failed)
{
	uint64_t nodes = 0;
	int all = 0;

	if (configured && argc)
		mios_usage("boot", "--configured knows the nodes: leave '%.40s' "
			   "out", argv[0]);
	if (!configured)
		all = mios_parse_targets("boot", argc, argv, &nodes);
	if (nodes & 1)
		mios_die(MIOS_EXIT_FAILED, "boot 0: node 0 runs instance 0, "
			 "which booted first: choose another node");
	/* Without device or rights there is no point in reading files. */
	close(mios_device_open());
	if (mios_self() > 0 && mios_host() != mios_self())
		mios_die(MIOS_EXIT_FAILED, "boot: this is instance %d: only "
			 "instance 0 boots others, or who is host in its place",
			 mios_self());
	if (configured)
		nodes = nodes_configured(failed);
	else if (all)
		nodes = nodes_not_up();
	check_nodes(nodes);
	return nodes;
}

/* All that is booted with, before any node or memory is asked for. */
static struct boot_plan *plan_make(const struct boot_options *opt, uint64_t nodes)
{
	check_starts(opt, nodes);
	return boot_plan_make(opt);
}

int cmd_boot(int argc, char **argv)
{
	struct boot_options opt = { };
	struct boot_plan *plan = NULL;
	int ret, failed = 0;
	uint64_t nodes;

	setvbuf(stdout, NULL, _IOLBF, 0);
	boot_options_parse(argc, argv, &opt);
	output_begin(&opt.output);
	if (opt.cpus || opt.memory) {
		boot_part_check(&opt, argc - optind, argv + optind);
		plan = plan_make(&opt, 1ULL << 1);
		boot_part(plan);
	}
	nodes = targets(argc - optind, argv + optind, opt.configured, &failed);
	if (!opt.again && nodes) {
		if (!plan)
			plan = plan_make(&opt, nodes);
		boot_plan_check(plan, nodes);
	}
	if (opt.dry_run)
		ret = dry_run(plan, nodes);
	else if (opt.again || !nodes)
		ret = boot_again(nodes, &opt.output);
	else
		ret = boot_planned(plan, nodes, &opt.output);
	return failed ? MIOS_EXIT_FAILED : ret;
}
