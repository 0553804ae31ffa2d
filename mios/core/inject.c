// SPDX-License-Identifier: GPL-2.0
/*
 * What tests ask of this instance and no single guarantee has: what miosd leaves
 * undone, which reads these here, and that all CPUs stand still.
 */
#include <linux/delay.h>
#include <linux/module.h>
#include <linux/stop_machine.h>

#include "../inject/inject.h"

MIOS_INJECT_TIMES(keep_connections, "end no connection with a dead instance");
MIOS_INJECT_TIMES(keep_sessions,
		  "leave running what a dead instance has started");
MIOS_INJECT_TIMES(keep_segments, "leave what a dead instance has in /dev/shm");
MIOS_INJECT_TIMES(end_with_host,
		  "end what instance 0 has started when it dies");
MIOS_INJECT_TIMES(impatient,
		  "give up a session that is silent for ten seconds");
MIOS_INJECT_TIMES(stay_root, "read what a user wants to run as root");

#define STAND_STILL_MAX	60

static int stand_still(void *ms)
{
	mdelay(*(unsigned long *)ms);
	return 0;
}

/* All CPUs, interrupts off, as when firmware has taken them or a host stalls. */
static int stand_still_set(const char *text, const struct kernel_param *kp)
{
	unsigned long ms;
	int err = kstrtoul(text, 0, &ms);

	if (err)
		return err;
	if (ms > STAND_STILL_MAX)
		return -EINVAL;
	ms *= MSEC_PER_SEC;
	return stop_machine(stand_still, &ms, cpu_online_mask);
}

static const struct kernel_param_ops stand_still_ops = {
	.set = stand_still_set,
};
module_param_cb(inject_stand_still, &stand_still_ops, NULL, 0200);
MODULE_PARM_DESC(inject_stand_still, "for tests: this instance, at once: for so many seconds");
