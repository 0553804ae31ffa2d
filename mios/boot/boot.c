// SPDX-License-Identifier: GPL-2.0
/*
 * Setting up and taking down what instance 0 needs to start others, in order.
 * Called by mios/main.c after the link is up.
 */
#include <linux/pid.h>
#include <linux/threads.h>

#include "boot.h"
#include "heads.h"

/**
 * mios_boot_init - become able to start instances
 *
 * Return: 0; -EBUSY if a task has a PID that belongs to another instance.
 */
int mios_boot_init(void)
{
	int last = PID_MAX_LIMIT / MIOS_MAX_INSTANCES - 1;
	int err;

	err = pid_set_range(1, last);
	if (err) {
		pr_err("a task has a PID above %d, which are for other instances: boot with sysctl.kernel.pid_max=%d\n",
		       last, last);
		return err;
	}
	err = mios_cpus_init();
	if (err)
		return err;
	mios_nodes_init();
	err = mios_memory_init();
	if (err)
		goto nodes;
	err = mios_life_init();
	if (err)
		goto memory;
	mios_host_watch();
	mios_heads_init();
	return 0;

memory:
	mios_memory_exit();
nodes:
	mios_nodes_exit();
	mios_cpus_exit();
	return err;
}

/**
 * mios_boot_exit - end every instance and stop
 */
void mios_boot_exit(void)
{
	mios_host_unwatch();
	mios_heads_exit();
	mios_life_exit();
	mios_memory_exit();
	mios_nodes_exit();
	mios_cpus_exit();
}
