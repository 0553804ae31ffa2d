// SPDX-License-Identifier: GPL-2.0
/*
 * What "mios stop" and "mios kill" share: reading the targets, asking the
 * kernel, saying how it went.  Several instances end in parallel, a process
 * each.  No locks.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "end.h"
#include "libmios/mios.h"

/* Every instance but 0 that is not down, for "all". */
static uint64_t instances_alive(const char *command)
{
	static struct mios_instance list[MIOS_MAX_INSTANCES];
	uint64_t nodes = 0;
	int i, nr;

	nr = mios_instances_read(list, MIOS_MAX_INSTANCES);
	if (nr < 0)
		mios_die(MIOS_EXIT_FAILED, "%s: " MIOS_NO_SYSFS, command);
	for (i = 0; i < nr; i++)
		if (list[i].id && list[i].state != MIOS_STATE_DOWN)
			nodes |= 1ULL << list[i].id;
	if (!nodes)
		printf("no instance runs beside instance 0\n");
	return nodes;
}

uint64_t end_targets(const char *command, int argc, char **argv)
{
	uint64_t nodes;

	if (mios_parse_targets(command, argc, argv, &nodes))
		return instances_alive(command);
	if (nodes & 1)
		mios_die(MIOS_EXIT_FAILED, "%s 0: instance 0 hosts all others:"
			 " use poweroff or reboot to end the machine",
			 command);
	return nodes;
}

static int end_one(const struct end_request *req, unsigned int instance)
{
	struct mios_end end = {
		.instance = instance,
		.timeout_ms = req->timeout_ms,
	};
	int fd = mios_device_open();

	if (!ioctl(fd, req->ioctl, &end)) {
		printf("instance %u: %s\n", instance, req->done);
		return MIOS_EXIT_OK;
	}
	if (errno == ETIMEDOUT && req->ioctl == MIOS_IOC_STOP)
		mios_error("mios", "%s %u: still running after %u s: wait longer with "
			  "--timeout, or end it with 'mios kill %u'",
			  req->command, instance, req->timeout_ms / 1000,
			  instance);
	else
		mios_error("mios", "%s %u: %s", req->command, instance,
			  mios_reason(fd, errno));
	return MIOS_EXIT_FAILED;
}

int end_all(const struct end_request *req, uint64_t nodes)
{
	int i, status, failed = 0;
	pid_t pid;

	close(mios_device_open());	/* says once what is missing */
	for (i = 1; i < MIOS_MAX_INSTANCES; i++) {
		if (!(nodes & 1ULL << i))
			continue;
		printf("instance %d: %s\n", i, req->doing);
		fflush(stdout);
		pid = fork();
		if (!pid)
			exit(end_one(req, i));
		if (pid < 0) {
			mios_error("mios", "%s %d: no process for it: %m", req->command,
				  i);
			failed++;
		}
	}
	while (wait(&status) > 0)
		failed += status != 0;
	return failed ? MIOS_EXIT_FAILED : MIOS_EXIT_OK;
}
