// SPDX-License-Identifier: GPL-2.0
/*
 * From the options of mios boot to a plan: reads and checks kernel, initrd and
 * command line.  Whatever does not pass ends the command before the kernel has
 * been asked for anything.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "boot.h"
#include "libmios/libmios.h"

static const char *own_cmdline(char *buf, size_t len)
{
	FILE *file = fopen("/proc/cmdline", "re");

	if (!file || !fgets(buf, len, file))
		mios_die(MIOS_EXIT_FAILED, "boot: cannot read /proc/cmdline: "
			 "%m");
	fclose(file);
	return buf;
}

struct boot_plan *boot_plan_make(const struct boot_options *opt)
{
	struct boot_plan *plan = calloc(1, sizeof(*plan));
	char own[LOADER_CMDLINE_MAX];
	struct loader_error err;

	if (!plan)
		mios_die(MIOS_EXIT_FAILED, "boot: no memory left");
	if (cmdline_build(plan->cmdline, sizeof(plan->cmdline),
			  opt->reuse ? own_cmdline(own, sizeof(own)) : NULL,
			  opt->append, &err))
		mios_die(MIOS_EXIT_FAILED, "boot: %s", err.text);
	/* The kernel asks for CAP_SYS_BOOT; an initrd cannot be made either. */
	if (geteuid())
		mios_die(MIOS_EXIT_FAILED, "boot: not permitted: it needs "
			 "CAP_SYS_BOOT (run it as root)");
	plan->kernel_path = opt->kernel ? opt->kernel : default_kernel();
	if (loader_file_read(&plan->kernel, plan->kernel_path, "kernel",
			     &err) ||
	    image_check(&plan->kernel, &plan->image, &err))
		mios_die(MIOS_EXIT_FAILED, "boot: %s", err.text);
	if (strlen(plan->cmdline) > plan->image.cmdline_max)
		mios_die(MIOS_EXIT_FAILED, "boot: the command line has %zu "
			 "characters, this kernel takes %u: shorten --append",
			 strlen(plan->cmdline), plan->image.cmdline_max);
	plan->initrd_path = opt->initrd ? opt->initrd :
			    default_initrd(plan->image.release);
	if (loader_file_read(&plan->initrd, plan->initrd_path, "initrd", &err))
		mios_die(MIOS_EXIT_FAILED, "boot: %s", err.text);
	plan->ring = opt->ring;
	/* Only of our own initrd is it known what it starts. */
	plan->wait = !opt->no_wait && !opt->initrd;
	plan->timeout_ms = opt->timeout * 1000;
	plan->options = *opt;
	return plan;
}

/* @memory: what the node has */
void boot_plan_fits(const struct boot_plan *plan, unsigned int node, uint64_t memory)
{
	const uint64_t files = plan->image.memsz + plan->initrd.size;

	if (files > memory)
		mios_die(MIOS_EXIT_FAILED, "boot %u: too large for the node: kernel "
			 "and initrd want %llu MiB, it has %llu", node,
			 (unsigned long long)(files + 0xfffff) >> 20,
			 (unsigned long long)memory >> 20);
}

/*
 * A plan that cannot fit would only be refused once the node has been emptied,
 * and a large initrd keeps instance 0 from having room for what lives there.
 */
void boot_plan_check(const struct boot_plan *plan, uint64_t nodes)
{
	struct mios_instance inst;
	int i;

	for (i = 1; i < MIOS_MAX_INSTANCES; i++)
		if (nodes & 1ULL << i && !mios_instance_read(i, &inst))
			boot_plan_fits(plan, i, inst.memory);
}

/* What --dry-run prints of a node. */
void boot_plan_show(const struct boot_plan *plan, unsigned int node)
{
	const char *root = boot_root(&plan->options, node);
	char kernel[32], initrd[32], served[32];

	snprintf(served, sizeof(served), "that of instance %u",
		 boot_server(plan->ring));
	mios_size_text(plan->kernel.size, kernel, sizeof(kernel));
	mios_size_text(plan->initrd.size, initrd, sizeof(initrd));
	printf("node %u: would boot Linux %s into ring %u, waiting for %s\n"
	       "  kernel        %s (%s)\n"
	       "  initrd        %s (%s)\n"
	       "  root          %s\n"
	       "  command line  %s\n", node, plan->image.release, plan->ring,
	       plan->wait ? "its init" : "it to join",
	       plan->kernel_path, kernel, plan->initrd_path, initrd,
	       root ? root : served,
	       plan->cmdline);
}
