// SPDX-License-Identifier: GPL-2.0
/*
 * The module mios: what an instance needs to be one of several.  The same
 * file serves instance 0, which starts the others, and every child, which
 * joins by loading it.  Read it as a table of contents.
 */
#include <linux/module.h>

#include <asm/mios.h>
#include <uapi/linux/mios_refusal.h>

#include "../arch/x86/lock_prefix.h"
#include "clock/clock.h"
#include "dev/dev.h"
#include "fence/fence.h"
#include "link/link.h"
#include "node/heads.h"
#include "node/node.h"
#include "pid/pid.h"
#include "proc/host_log.h"
#include "proc/sysfs.h"
#include "watch/watch.h"

static bool host(void)
{
	return !mios_manifest();
}

/* The nodes come first: the link makes room for as many, and asks for parts. */
static int __init mios_link_begin(void)
{
	struct mios_link_host as_host = {
		.pools = mios_node_pools(),
	};
	int err;

	if (!host())
		return mios_link_init(&mios_life_ops, NULL);
	mios_nodes_init();
	as_host.nr = mios_nodes_end();
	as_host.incarnation = mios_epoch_next(0);
	err = mios_link_init(&mios_life_ops, &as_host);
	if (err)
		mios_nodes_exit();
	return err;
}

static void mios_link_end(void)
{
	mios_link_exit();
	if (host())
		mios_nodes_exit();
}

/* The link, and what programs ask the others over it by a PID. */
static int __init mios_join(void)
{
	int err = mios_link_begin();

	if (err)
		return err;
	err = mios_pid_init();
	if (err)
		mios_link_end();
	return err;
}

static void mios_leave(void)
{
	mios_pid_exit();
	mios_link_end();
}

/* On instance 0: become able to start the others. */
static int __init mios_host_init(void)
{
	int last = MIOS_PIDS_EACH - 1;
	struct mios_host self;
	int err;

	mios_host_describe(&self);
	if (self.pid_last > last) {
		pr_err(MIOS_REFUSAL_PIDS "\n", last, last);
		return -EOPNOTSUPP;
	}
	if (!self.no_ipi_broadcast) {
		pr_err(MIOS_REFUSAL_IPI "\n");
		return -EOPNOTSUPP;
	}
	err = mios_cpus_init();
	if (err)
		return err;
	err = mios_memory_init();
	if (err)
		goto cpus;
	err = mios_life_init();
	if (err)
		goto memory;
	mios_host_watch();
	mios_heads_init();
	/* From now on a machine check may be another kernel's. */
	mios_host_share(true);
	return 0;

memory:
	mios_memory_exit();
cpus:
	mios_cpus_exit();
	return err;
}

/* All of them end. */
static void mios_host_exit(void)
{
	mios_host_unwatch();
	mios_heads_exit();
	mios_life_exit();
	mios_host_share(false);
	mios_memory_exit();
	mios_cpus_exit();
}

static int __init mios_init(void)
{
	int err;

	if (!mios_lock_prefix_works()) {
		pr_err(MIOS_REFUSAL_LOCK "\n");
		return -EOPNOTSUPP;
	}
	err = mios_join();
	if (err)
		return err;
	err = mios_stop_init();
	if (err)
		goto link;
	err = mios_alive_init();
	if (err)
		goto stop;
	err = mios_hostlog_follow();
	if (err)
		goto alive;
	err = mios_sysfs_init();
	if (err)
		goto hostlog;
	err = mios_clock_init();
	if (err)
		goto sysfs;
	err = host() ? mios_host_init() : 0;
	if (err)
		goto clock;
	err = mios_sleep_init();
	if (err)
		goto boot;
	err = mios_dev_init();
	if (err)
		goto sleep;
	return 0;

sleep:
	mios_sleep_exit();
boot:
	if (host())
		mios_host_exit();
clock:
	mios_clock_exit();
sysfs:
	mios_sysfs_exit();
hostlog:
	mios_hostlog_forget();
alive:
	mios_alive_exit();
stop:
	mios_stop_exit();
link:
	if (!host())
		mios_successor_exit();
	mios_leave();
	return err;
}

static void __exit mios_exit(void)
{
	mios_dev_exit();
	mios_sleep_exit();
	if (host())
		mios_host_exit();
	else
		mios_successor_exit();
	mios_clock_exit();
	mios_sysfs_exit();
	mios_hostlog_forget();
	mios_alive_exit();
	mios_stop_exit();
	mios_leave();
}

module_init(mios_init);
module_exit(mios_exit);

MODULE_DESCRIPTION("Several kernels on one machine");
MODULE_LICENSE("GPL");
MODULE_IMPORT_NS(MIOS);
