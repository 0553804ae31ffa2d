// SPDX-License-Identifier: GPL-2.0
/*
 * Boots one node: takes it, hands over the segments, starts it, and says
 * how far it is.  Runs in a process per node, so that several come up in
 * parallel; the claim is the open file's, so a process that dies gives its
 * node back.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "boot.h"
#include "libmios/libmios.h"
#include "set.h"

#define WRITER_SECONDS	600	/* far longer than any claim takes */

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

/*
 * Closing gives the node back, which takes its time: so it comes first, and
 * the line that tells why is the last one.
 */
static int failed(int fd, unsigned int node, int err, const char *what)
{
	const char *why = mios_reason(fd, err);

	close(fd);
	mios_error("mios", "boot %u: %s: %s", node, what, why);
	return MIOS_EXIT_FAILED;
}

/* For these the kernel's own line says everything. */
static int claim_failed(int fd, unsigned int node, int err)
{
	char holder[64];

	if (err != ENODEV && err != EEXIST && err != EBUSY)
		return failed(fd, node, err, "cannot take the node");
	frame_holder(mios_reason_frame(fd), holder, sizeof(holder));
	mios_error("mios", "boot %u: %s%s%s", node, mios_reason(fd, err),
		   holder[0] ? "; it belongs to " : "", holder);
	return MIOS_EXIT_FAILED;
}

/* What is this instance's alone: LOADER_CMDLINE_MAX bytes. */
static int own_cmdline(const struct boot_plan *plan, unsigned int instance,
		       char *text)
{
	int may = setting_successor(instance);
	int len;

	if (may < 0)
		return may;
	len = snprintf(text, LOADER_CMDLINE_MAX, "%s%s", plan->cmdline,
		       may ? "" : " mios.successor=0");
	if (len < LOADER_CMDLINE_MAX && (size_t)len <= plan->image.cmdline_max)
		return 0;
	mios_error("mios", "boot %u: its command line has %d characters, which "
		   "are too many: shorten --append", instance, len);
	return -E2BIG;
}

static int load(int fd, const struct boot_plan *plan,
		const struct loader_file *initrd, const struct mios_claim *claim)
{
	char cmdline[LOADER_CMDLINE_MAX];
	struct loader_layout *layout;
	struct loader_error err;
	struct mios_load args;
	int ret;

	if (own_cmdline(plan, claim->instance, cmdline)) {
		close(fd);
		return MIOS_EXIT_FAILED;
	}
	layout = malloc(sizeof(*layout));
	if (!layout)
		return failed(fd, claim->instance, ENOMEM, "cannot load it");
	ret = image_layout(&plan->image, initrd->data ? initrd : NULL, cmdline,
			   claim->load_base, claim->load_size, layout, &err);
	if (ret) {
		close(fd);
		mios_error("mios", "boot %u: %s", claim->instance, err.text);
		free(layout);
		return MIOS_EXIT_FAILED;
	}
	args = (struct mios_load) {
		.segments = (uintptr_t)layout->segments,
		.nr_segments = layout->nr_segments,
		.entry = layout->entry,
		.zero_page = layout->zero_page,
	};
	ret = ioctl(fd, MIOS_IOC_LOAD, &args) ? errno : 0;
	free(layout);
	return ret ? failed(fd, claim->instance, ret, "cannot load it") : 0;
}

/*
 * A page of a file on a server cannot move between its change and the server's
 * word that it is kept, which may be half a minute: longer than the node's
 * memory is waited for.  So all changes are sent on, again and again as files
 * are written meanwhile, our own output perhaps.  By a process of its own, as
 * a server that is gone would hold it for long; it must not have the claim.
 */
static pid_t writer_start(void)
{
	const pid_t self = getpid();
	pid_t pid = fork();
	int i;

	if (pid)
		return pid;
	mios_end_with(self, SIGKILL);
	for (i = 0; i < WRITER_SECONDS; i++) {
		sync();
		sleep(1);
	}
	_exit(0);
}

/*
 * Waits as far as was asked for.  An instance whose root is on a device of its own
 * waits for that itself, once it has joined: so it is given it at once.
 */
static int finish(const struct boot_plan *plan, unsigned int node, bool own_root)
{
	int ret = 0;

	if (own_root) {
		ret = boot_wait_network(plan, node);
		if (!ret)
			ret = boot_give(node, true);
	}
	if (!ret && plan->wait)
		ret = boot_wait(plan, node, own_root);
	if (!ret && !own_root)
		ret = boot_give(node, plan->wait);
	return ret;
}

/* The node is the open file's then, which it returns; -1, with a line: it is not. */
static int take(const struct boot_plan *plan, unsigned int node,
		struct mios_claim *claim)
{
	pid_t writer = writer_start();
	int fd = mios_device_open();
	int err;

	*claim = (struct mios_claim){ .instance = node, .ring = plan->ring };
	err = ioctl(fd, MIOS_IOC_CLAIM, claim) ? errno : 0;
	if (writer > 0)
		kill(writer, SIGKILL);
	if (!err)
		return fd;
	claim_failed(fd, node, err);
	return -1;
}

static int start(int fd, const struct boot_plan *plan, unsigned int node)
{
	struct mios_start args = { .timeout_ms = plan->timeout_ms };

	if (!ioctl(fd, MIOS_IOC_START, &args))
		return 0;
	return failed(fd, node, errno, errno == ETIMEDOUT ?
		      "it did not join its ring in time and was undone" :
		      "cannot start it");
}

/*
 * Without what an instance has from instance 0: key, network, settings, devices; and
 * nothing of it is remembered.
 */
int boot_bare(const struct boot_plan *plan, unsigned int node,
	      struct boot_times *times)
{
	double began = now(), taken, loaded;
	struct mios_claim claim;
	int fd, ret;

	fd = take(plan, node, &claim);
	if (fd < 0)
		return MIOS_EXIT_FAILED;
	taken = now();
	ret = load(fd, plan, &plan->initrd, &claim);
	loaded = now();
	if (!ret)
		ret = start(fd, plan, node);
	*times = (struct boot_times){
		taken - began, loaded - taken, now() - loaded
	};
	return ret;
}

int boot_node(const struct boot_plan *plan, unsigned int node)
{
	const struct boot_start how = boot_start(plan, node);
	struct loader_file initrd;
	struct mios_claim claim;
	double began = now();
	char size[32];
	int fd, ret;

	add_key(&plan->initrd, &initrd, plan->wait, &how);
	printf("node %u: taking its CPUs and memory%s\n", node,
	       mios_self() ? "" : " from instance 0");
	fd = take(plan, node, &claim);
	if (fd < 0)
		return MIOS_EXIT_FAILED;
	boot_remember(plan, node);
	boot_served_remember(how.root ? node : how.server, node);
	mios_size_text(claim.load_size, size, sizeof(size));
	printf("node %u: loading Linux %s into %s, %u CPUs\n", node,
	       plan->image.release, size, claim.nr_cpus);
	ret = load(fd, plan, &initrd, &claim);
	if (initrd.data != plan->initrd.data)
		free(initrd.data);
	if (ret)
		return ret;
	printf("node %u: starting\n", node);
	ret = start(fd, plan, node);
	if (ret)
		return ret;
	printf("node %u: joined ring %u after %.1f s (boot number %u)\n", node,
	       plan->ring, now() - began, claim.incarnation);
	ret = finish(plan, node, how.root);
	if (!ret && plan->wait)
		printf("node %u: ready after %.1f s\n", node, now() - began);
	return ret;
}
