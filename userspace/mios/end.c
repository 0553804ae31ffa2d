// SPDX-License-Identifier: GPL-2.0
/*
 * What "mios stop", "mios kill" and "mios restart" share: reading options and targets, asking
 * the kernel, saying how it went.  Several instances end in parallel
 * (parallel.c).
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "boot.h"
#include "end.h"
#include "libmios/libmios.h"
#include "parallel.h"

#define TIMEOUT_MAX	3600

enum { OPT_TIMEOUT = 256 };

/*
 * Every instance but 0 that is not down, for "all"; a kill also gives back
 * what is held for a dump.  Who is host in place of instance 0 does not end itself,
 * and keeps what is dead.
 */
static uint64_t instances_alive(const struct end_command *cmd)
{
	static struct mios_instance list[MIOS_MAX_INSTANCES];
	const int self = mios_self();
	uint64_t nodes = 0;
	int i, nr;

	nr = mios_instances_read(list, MIOS_MAX_INSTANCES);
	if (nr < 0)
		mios_die(MIOS_EXIT_FAILED, "%s: " MIOS_NO_SYSFS, cmd->name);
	for (i = 0; i < nr; i++)
		if (list[i].id && list[i].id != self &&
		    list[i].state != MIOS_STATE_DOWN &&
		    (list[i].state != MIOS_STATE_DEAD || !self) &&
		    (list[i].state != MIOS_STATE_HELD ||
		     cmd->ioctl == MIOS_IOC_KILL))
			nodes |= 1ULL << list[i].id;
	if (!nodes)
		printf("no instance runs beside instance %d\n", self);
	return nodes;
}

static uint64_t end_targets(const struct end_command *cmd, int argc,
			    char **argv, bool *all)
{
	uint64_t nodes;

	*all = mios_parse_targets(cmd->name, argc, argv, &nodes);
	if (*all)
		return instances_alive(cmd);
	if (nodes & 1 && mios_self())
		mios_die(MIOS_EXIT_FAILED, "%s 0: instance 0 ends by itself, and "
			 "its node stays as it is when it has died", cmd->name);
	if (nodes & 1)
		mios_die(MIOS_EXIT_FAILED, "%s 0: instance 0 hosts all others:"
			 " use poweroff or reboot to end the machine",
			 cmd->name);
	return nodes;
}

/* In a process of its own; returns the exit status. */
int end_one(const void *context, unsigned int instance)
{
	const struct end_context *c = context;
	struct mios_end end = {
		.instance = instance,
		.timeout_ms = c->seconds * 1000,
	};
	int fd = mios_device_open();

	if (!ioctl(fd, c->cmd->ioctl, &end)) {
		printf("instance %u: %s\n", instance, c->cmd->done);
		return MIOS_EXIT_OK;
	}
	if (errno == ETIMEDOUT && c->cmd->ioctl == MIOS_IOC_STOP)
		mios_error("mios", "%s %u: still running after %u s: wait "
			   "longer with --timeout, or end it with 'mios kill "
			   "%u'", c->cmd->name, instance, c->seconds, instance);
	else
		mios_error("mios", "%s %u: %s", c->cmd->name, instance,
			   mios_reason(fd, errno));
	return MIOS_EXIT_FAILED;
}

/*
 * Who has his root from another one ends before that, and is not forgotten: those
 * of @nodes that end first, or an end with a line.  A kill asks nobody.
 */
static uint64_t end_first(const struct end_command *cmd, uint64_t nodes)
{
	uint64_t served, server = 0, first = nodes;
	int i;

	if (cmd->ioctl == MIOS_IOC_KILL)
		return 0;
	if (cmd->work)		/* boots again, so a setting that is wrong is in its way */
		server = 1ULL << boot_server(0) & ~1ULL;
	if (nodes & server && nodes & ~server)
		mios_die(MIOS_EXIT_FAILED, "%s: instance %d is to serve the root of "
			 "others: 'mios %s %d' first", cmd->name,
			 __builtin_ctzll(server), cmd->name,
			 __builtin_ctzll(server));
	for (i = 1; i < MIOS_MAX_INSTANCES; i++) {
		if (!(nodes & 1ULL << i))
			continue;
		served = boot_served(i);
		if (served & ~nodes || (served && cmd->work))
			mios_die(MIOS_EXIT_FAILED, "%s %d: it serves the root of "
				 "instance %d: 'mios stop %d' first", cmd->name, i,
				 __builtin_ctzll(served), __builtin_ctzll(served));
		if (served)
			first &= ~(1ULL << i);
	}
	return first;
}

/* @all: of which one that does not end spares no other */
static int end_all(const struct end_command *cmd, uint64_t nodes, bool all,
		   unsigned int seconds, const struct output *output)
{
	const struct end_context context = { .cmd = cmd, .seconds = seconds };
	const struct parallel end = {
		.command = cmd->name,
		.what = "instance",
		.work = cmd->work ? cmd->work : end_one,
		.context = &context,
		.first = end_first(cmd, nodes),
		.anyway = all,
		.output = *output,
	};
	int i;

	close(mios_device_open());	/* says once what is missing */
	for (i = 1; i < MIOS_MAX_INSTANCES; i++)
		if (nodes & 1ULL << i)
			printf("instance %d: %s\n", i, cmd->doing);
	return parallel_run(&end, nodes);
}

int end_main(int argc, char **argv, const struct end_command *cmd)
{
	static const struct option longs[] = {
		{ "timeout", required_argument, NULL, OPT_TIMEOUT },
		OUTPUT_QUIET,
		OUTPUT_JSON,
		{ "help", no_argument, NULL, 'h' },
		{ }
	};
	struct output output = { };
	long timeout = cmd->timeout;
	uint64_t nodes;
	bool all;
	int c;

	while ((c = getopt_long(argc, argv, ":h" OUTPUT_LETTERS, longs, NULL)) != -1)
		switch (c) {
		case OPT_TIMEOUT:
			if (mios_number(optarg, 1, TIMEOUT_MAX, &timeout))
				mios_usage(cmd->name, "--timeout is a number "
					   "of seconds from 1 to %d",
					   TIMEOUT_MAX);
			break;
		default:
			if (output_option(&output, c))
				break;
			mios_other_option(cmd->name, cmd->usage, argv, c, longs);
		}
	output_begin(&output);
	nodes = end_targets(cmd, argc - optind, argv + optind, &all);
	return end_all(cmd, nodes, all, timeout, &output);
}
