// SPDX-License-Identifier: GPL-2.0
/*
 * mios-vmm: one virtual machine over several nodes.  mios-dsm run starts it on
 * each; what each does at the start is one list here, in this order.
 */
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../libmios/cli.h"
#include "../mios-dsm/runtime/mios_dsm.h"
#include "bus.h"
#include "clock.h"
#include "cpu.h"
#include "disk.h"
#include "end.h"
#include "memory.h"
#include "net.h"
#include "state.h"
#include "worker.h"

static const char help[] =
"usage: mios-dsm run -n N --memory MIB mios-vmm [options]\n"
"One virtual machine over N nodes, see mios-vmm(1).\n"
"  --kernel FILE   Linux, a bzImage for x86-64\n"
"  --initrd FILE   and its first root\n"
"  --disk FILE[,ro]  a raw image as a disk, /dev/vda and so on; ro: only read\n"
"  --net TAP       an interface of this host as the guest's network\n"
"  --append WORDS  more for its command line\n"
"  --real FILE     instead of a kernel: code that begins in real mode at 0x7c00\n"
"  --cpus-each N   CPUs at each node, 1 to 8 (1)\n"
"  --memory-each MIB  of the guest at each node (64)\n"
"  --quantum US    of a processor that a CPU has a page for (200)\n"
"  --slow N        the guest's clock goes N times slower (1); for emulated hosts\n"
"  --unsafe-shadow-paging  for tests alone: where this KVM has no NPT or EPT\n"
"Exit status: 0 if the guest ended in order, 1 if it could not go on, 2 for a\n"
"mistake here, else the byte that it wrote to port 0x600.\n";

struct options {
	struct boot boot;
	struct kvm_needs needs;
	struct disks disks;
	const char *tap;
	uint64_t cpus_each, mib, quantum, slow;
	bool help;
};

static struct shape shape;

int say(const char *fmt, ...)
{
	char text[512];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	/* One write: nodes share a terminal. */
	dprintf(STDERR_FILENO, "mios-vmm: node %u: %s\n", shape.self, text);
	return -1;
}

enum { KERNEL = 256, INITRD, DISK, NET, APPEND, REAL, CPUS, MEMORY, QUANTUM, SLOW, SHADOW };

static bool disk_take(struct disks *d, const char *what)
{
	if (d->count == DISKS_MAX) {
		cli_error("more than %d times --disk", DISKS_MAX);
		return false;
	}
	d->what[d->count++] = what;
	return true;
}

static bool option_take(struct options *o, int c)
{
	switch (c) {
	case KERNEL:
		o->boot.kernel = optarg;
		return true;
	case INITRD:
		o->boot.initrd = optarg;
		return true;
	case DISK:
		return disk_take(&o->disks, optarg);
	case NET:
		if (o->tap)
			cli_error("--net twice: a guest has one network");
		else
			o->tap = optarg;
		return o->tap == optarg;
	case APPEND:
		o->boot.append = optarg;
		return true;
	case REAL:
		o->boot.real = optarg;
		o->needs.real = true;
		return true;
	case CPUS:
		return cli_number("--cpus-each", optarg, 1, VMM_CPUS_EACH,
				  &o->cpus_each);
	case MEMORY:
		return cli_number("--memory-each", optarg, 2,
				  VMM_RAM_END / VMM_MIB, &o->mib);
	case QUANTUM:
		return cli_number("--quantum", optarg, 1,
				  MIOS_DSM_QUANTUM_MAX / 1000, &o->quantum);
	case SLOW:
		return cli_number("--slow", optarg, 1, 1000, &o->slow);
	case SHADOW:
		o->needs.shadow = true;
		return true;
	}
	o->help |= c == 'h';
	return c == 'h';
}

static bool parse(struct options *o, int argc, char **argv)
{
	static const struct option options[] = {
		{ "kernel", required_argument, NULL, KERNEL },
		{ "initrd", required_argument, NULL, INITRD },
		{ "disk", required_argument, NULL, DISK },
		{ "net", required_argument, NULL, NET },
		{ "append", required_argument, NULL, APPEND },
		{ "real", required_argument, NULL, REAL },
		{ "cpus-each", required_argument, NULL, CPUS },
		{ "memory-each", required_argument, NULL, MEMORY },
		{ "quantum", required_argument, NULL, QUANTUM },
		{ "slow", required_argument, NULL, SLOW },
		{ "unsafe-shadow-paging", no_argument, NULL, SHADOW },
		{ "help", no_argument, NULL, 'h' },
		{ }
	};
	int c;

	while ((c = getopt_long(argc, argv, "h", options, NULL)) >= 0)
		if (!option_take(o, c))
			return false;
	if (o->help)
		return true;
	if (optind < argc)
		cli_error("'%s' is no option: try mios-vmm --help", argv[optind]);
	else if (!o->boot.kernel == !o->boot.real)
		cli_error("one of --kernel and --real is needed: try mios-vmm --help");
	else
		return true;
	return false;
}

/* What the guest is, on every node. */
static int shape_set(const struct options *o)
{
	shape.nodes = mios_dsm_nodes();
	shape.self = mios_dsm_node();
	shape.cpus_each = o->cpus_each;
	shape.virtio = o->disks.count + !!o->tap;
	shape.each = o->mib * VMM_MIB;
	shape.slow = o->slow;
	if (shape_cpu(&shape, shape.nodes - 1, shape.cpus_each - 1) > 254)
		return say("more CPUs than an APIC can name: fewer nodes, or --cpus-each");
	if (shape.nodes * shape.each > VMM_RAM_END)
		return say("more memory than 3 GiB, where devices begin: a smaller --memory-each");
	return 0;
}

/* Those of node 0 for which files of its host are opened. */
static int devices_start(const struct options *o)
{
	return disks_start(&o->disks) ||
		(o->tap && net_open(o->disks.count, o->tap)) ? -1 : 0;
}

/* Everything that may not be there is asked for before the guest begins. */
static int start(struct options *o)
{
	uint64_t khz;

	if (shape_set(o) || kvm_open(&o->needs) ||
	    (!shape.self && devices_start(o)) || route_start(&shape) ||
	    memory_take(&shape) || kvm_memory(&shape) || kvm_khz(&khz) ||
	    clock_alike(&shape, khz))
		return -1;
	clock_start(khz);
	if (bus_start(&shape) ||
	    (!shape.self && boot_load(&o->boot, &shape, khz)))
		return -1;
	return cpus_start(&shape, &o->boot, o->quantum * 1000) ||
		state_start(&shape) ? -1 : 0;
}

int main(int argc, char **argv)
{
	struct options o = {
		.boot.append = "", .cpus_each = 1, .mib = 64, .quantum = 200,
		.slow = 1,
	};
	int status;

	cli_program = "mios-vmm";
	if (!parse(&o, argc, argv))
		return 2;
	if (o.help) {
		fputs(help, stdout);
		return cli_flush();
	}
	state_deaf();
	if (mios_dsm_start() || start(&o))
		return END_FAULT;
	status = end_await();
	cpus_stop();
	workers_stop();
	if (mios_dsm_finish() && !status)
		status = END_FAULT;
	return status;
}
