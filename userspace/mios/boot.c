// SPDX-License-Identifier: GPL-2.0
/*
 * mios boot: reads and checks kernel, initrd and command line, then boots
 * the named nodes in parallel (parallel.c).  Nothing is asked of the
 * kernel before every file has passed.  No locks.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "boot.h"
#include "libmios/mios.h"
#include "mios.h"
#include "parallel.h"

#define TIMEOUT_DEFAULT	120		/* seconds to the sync point */
#define TIMEOUT_MAX	3600

static const char usage[] =
"Usage: mios boot NODES|all [OPTION...]\n"
"Takes nodes out of instance 0 and starts a kernel of its own on each.\n"
"NODES is a list such as 1 or 1-3,5; all means every node that is not up.\n\n"
"  -k, --kernel=FILE    bzImage or ELF vmlinux (default: the running one's)\n"
"  -i, --initrd=FILE    initrd (default: one that mios-initrd makes)\n"
"  -a, --append=TEXT    add to the kernel command line\n"
"  -c, --reuse-cmdline  start from instance 0's command line, without what\n"
"                       describes its memory, CPUs and devices\n"
"  -r, --ring=NUMBER    ring to join (default 0)\n"
"      --timeout=SECS   how long a node may take to join, and then to finish\n"
"                       its init (default 120)\n"
"  -W, --no-wait        return once the nodes have joined, do not wait for\n"
"                       their init\n"
"  -g, --again          as the node was booted last; no other option\n"
"  -h, --help           print this\n";

struct options {
	const char *kernel, *initrd, *append;
	long ring, timeout;
	int reuse, no_wait, again;
	uint64_t nodes;
	int all;
};

enum { OPT_TIMEOUT = 256 };

static const struct option longs[] = {
	{ "kernel", required_argument, NULL, 'k' },
	{ "initrd", required_argument, NULL, 'i' },
	{ "append", required_argument, NULL, 'a' },
	{ "reuse-cmdline", no_argument, NULL, 'c' },
	{ "ring", required_argument, NULL, 'r' },
	{ "timeout", required_argument, NULL, OPT_TIMEOUT },
	{ "no-wait", no_argument, NULL, 'W' },
	{ "again", no_argument, NULL, 'g' },
	{ "help", no_argument, NULL, 'h' },
	{ }
};

static void take_option(int c, char **argv, struct options *opt)
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
	case 'h':
		mios_help(usage);
	default:
		mios_bad_option("boot", argv, c, longs);
	}
}

static void parse_options(int argc, char **argv, struct options *opt)
{
	int c, others = 0;

	while ((c = getopt_long(argc, argv, ":k:i:a:cr:Wgh", longs, NULL)) != -1) {
		take_option(c, argv, opt);
		others += c != 'g';
	}
	if (opt->again && others)
		mios_usage("boot", "--again takes the options of the last boot "
			   "and no others");
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
		if (inst.state == MIOS_STATE_UP)
			mios_die(MIOS_EXIT_FAILED, "boot %d: it is up already: "
				 "end it with 'mios stop %d' first", i, i);
	}
}

static const char *own_cmdline(char *buf, size_t len)
{
	FILE *file = fopen("/proc/cmdline", "re");

	if (!file || !fgets(buf, len, file))
		mios_die(MIOS_EXIT_FAILED, "boot: cannot read /proc/cmdline: "
			 "%m");
	fclose(file);
	return buf;
}

static void make_plan(const struct options *opt, struct boot_plan *plan)
{
	char own[LOADER_CMDLINE_MAX];
	struct loader_error err;
	const char *path;

	if (cmdline_build(plan->cmdline, sizeof(plan->cmdline),
			  opt->reuse ? own_cmdline(own, sizeof(own)) : NULL,
			  opt->append, &err))
		mios_die(MIOS_EXIT_FAILED, "boot: %s", err.text);
	/* The kernel asks for CAP_SYS_BOOT; an initrd cannot be made either. */
	if (geteuid())
		mios_die(MIOS_EXIT_FAILED, "boot: not permitted: it needs "
			 "CAP_SYS_BOOT (run it as root)");
	path = opt->kernel ? opt->kernel : default_kernel();
	if (loader_file_read(&plan->kernel, path, "kernel", &err) ||
	    image_check(&plan->kernel, &plan->image, &err))
		mios_die(MIOS_EXIT_FAILED, "boot: %s", err.text);
	if (strlen(plan->cmdline) > plan->image.cmdline_max)
		mios_die(MIOS_EXIT_FAILED, "boot: the command line has %zu "
			 "characters, this kernel takes %u: shorten --append",
			 strlen(plan->cmdline), plan->image.cmdline_max);
	path = opt->initrd ? opt->initrd : default_initrd(plan->image.release);
	if (loader_file_read(&plan->initrd, path, "initrd", &err))
		mios_die(MIOS_EXIT_FAILED, "boot: %s", err.text);
	plan->ring = opt->ring;
	/* Only of our own initrd is it known what it starts. */
	plan->wait = !opt->no_wait && !opt->initrd;
	plan->timeout_ms = opt->timeout * 1000;
}

/*
 * A plan that cannot fit would only be refused once the node has been emptied,
 * and a large initrd keeps instance 0 from having room for what lives there.
 */
static void check_fits(const struct boot_plan *plan, uint64_t nodes)
{
	const uint64_t files = plan->image.memsz + plan->initrd.size;
	struct mios_instance inst;
	int i;

	for (i = 1; i < MIOS_MAX_INSTANCES; i++) {
		if (!(nodes & 1ULL << i) || mios_instance_read(i, &inst))
			continue;
		if (files > inst.memory)
			mios_die(MIOS_EXIT_FAILED, "boot %d: too large for the "
				 "node: kernel and initrd want %llu MiB, it "
				 "has %llu", i,
				 (unsigned long long)(files + 0xfffff) >> 20,
				 (unsigned long long)inst.memory >> 20);
	}
}

static int boot_one(const void *plan, unsigned int node)
{
	return boot_node(plan, node);
}

int cmd_boot(int argc, char **argv)
{
	struct options opt = { .timeout = TIMEOUT_DEFAULT };
	struct parallel boot = {
		.command = "boot",
		.what = "node",
		.work = boot_one,
	};
	struct boot_plan *plan;
	int ret;

	setvbuf(stdout, NULL, _IOLBF, 0);
	parse_options(argc, argv, &opt);
	opt.all = mios_parse_targets("boot", argc - optind, argv + optind,
				     &opt.nodes);
	if (opt.nodes & 1)
		mios_die(MIOS_EXIT_FAILED, "boot 0: node 0 runs instance 0, "
			 "which booted first: choose another node");
	/* Without device or rights there is no point in reading files. */
	close(mios_device_open());
	if (mios_self() > 0)
		mios_die(MIOS_EXIT_FAILED, "boot: this is instance %d: only "
			 "instance 0 boots others", mios_self());
	if (opt.all)
		opt.nodes = nodes_not_up();
	if (!opt.nodes)
		return MIOS_EXIT_OK;
	check_nodes(opt.nodes);
	if (opt.again)
		return boot_again(opt.nodes);
	plan = calloc(1, sizeof(*plan));
	if (!plan)
		mios_die(MIOS_EXIT_FAILED, "boot: no memory left");
	make_plan(&opt, plan);
	check_fits(plan, opt.nodes);
	/* Sorted by now: the options stand before the nodes. */
	plan->options = argv + 1;
	plan->nr_options = optind - 1;
	if (plan->wait)
		wait_for_host_setup();
	add_key(&plan->initrd, plan->wait);
	boot.context = plan;
	ret = parallel_run(&boot, opt.nodes);
	update_names(plan->ring);
	return ret;
}
