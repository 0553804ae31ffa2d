// SPDX-License-Identifier: GPL-2.0
/*
 * The counters behind mios_fault(): module parameters, so that a test can set
 * them at run time.  Compiled with MIOS_FAULT=1 only.  No lock: a count is
 * taken down by compare and exchange.
 */
#include <linux/atomic.h>
#include <linux/delay.h>
#include <linux/module.h>
#include <linux/stop_machine.h>
#include <linux/types.h>

#include <mios/msg.h>

#include "fault.h"

static int fault_count[MIOS_FAULTS];

#define MIOS_FAULT_PARAM(name, index, text)				\
	module_param_named(fault_##name, fault_count[index], int, 0600);	\
	MODULE_PARM_DESC(fault_##name, text ": times, -1 for always")

MIOS_FAULT_PARAM(skip_doorbell, MIOS_FAULT_SKIP_DOORBELL,
		 "publish without an interrupt");
MIOS_FAULT_PARAM(stale_incarnation, MIOS_FAULT_STALE_INCARNATION,
		 "publish slots of the last boot");
MIOS_FAULT_PARAM(no_slot_check, MIOS_FAULT_NO_SLOT_CHECK,
		 "believe the header of a slot");
MIOS_FAULT_PARAM(garbage_slot, MIOS_FAULT_GARBAGE_SLOT,
		 "publish a slot with a wild header");
MIOS_FAULT_PARAM(garbage_desc, MIOS_FAULT_GARBAGE_DESC,
		 "publish a damaged descriptor");
MIOS_FAULT_PARAM(no_ack, MIOS_FAULT_NO_ACK,
		 "never confirm that a peer is dropped");
MIOS_FAULT_PARAM(early_ack, MIOS_FAULT_EARLY_ACK,
		 "confirm a death before the listeners are told");
MIOS_FAULT_PARAM(lose_answer, MIOS_FAULT_LOSE_ANSWER,
		 "drop the answer to a call");
MIOS_FAULT_PARAM(stop_beat, MIOS_FAULT_STOP_BEAT,
		 "do not show the heartbeat");
MIOS_FAULT_PARAM(bad_doorbell, MIOS_FAULT_BAD_DOORBELL,
		 "publish another instance's CPU");
MIOS_FAULT_PARAM(no_cpu_check, MIOS_FAULT_NO_CPU_CHECK,
		 "believe whose CPUs they are");
MIOS_FAULT_PARAM(accept_old, MIOS_FAULT_ACCEPT_OLD,
		 "believe any incarnation");
MIOS_FAULT_PARAM(reuse_session, MIOS_FAULT_REUSE_SESSION,
		 "begin a session whose number lies around in slots");
MIOS_FAULT_PARAM(forget_channel, MIOS_FAULT_FORGET_CHANNEL,
		 "leave a channel to a member that goes open");
MIOS_FAULT_PARAM(stuck_end, MIOS_FAULT_STUCK_END,
		 "begin to end in order and go no further");
MIOS_FAULT_PARAM(count_time, MIOS_FAULT_COUNT_TIME,
		 "count silence by the clock");
MIOS_FAULT_PARAM(no_restore, MIOS_FAULT_NO_RESTORE,
		 "leave what a peer has overwritten in the area");
MIOS_FAULT_PARAM(odd_beat, MIOS_FAULT_ODD_BEAT,
		 "leave the heartbeat as if it were being written");
MIOS_FAULT_PARAM(leak_peer, MIOS_FAULT_LEAK_PEER,
		 "lose a page when a peer is dropped");
MIOS_FAULT_PARAM(keep_connections, MIOS_FAULT_KEEP_CONNECTIONS,
		 "end no connection with a dead instance");
MIOS_FAULT_PARAM(keep_sessions, MIOS_FAULT_KEEP_SESSIONS,
		 "leave running what a dead instance has started");
MIOS_FAULT_PARAM(keep_segments, MIOS_FAULT_KEEP_SEGMENTS,
		 "leave what a dead instance has in /dev/shm");
MIOS_FAULT_PARAM(end_with_host, MIOS_FAULT_END_WITH_HOST,
		 "end what instance 0 has started when it dies");
MIOS_FAULT_PARAM(impatient, MIOS_FAULT_IMPATIENT,
		 "give up a session that is silent for ten seconds");
MIOS_FAULT_PARAM(stay_root, MIOS_FAULT_STAY_ROOT,
		 "read what a user wants to run as root");

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
module_param_cb(fault_stand_still, &stand_still_ops, NULL, 0200);
MODULE_PARM_DESC(fault_stand_still, "this instance, at once: for so many seconds");

bool mios_fault(enum mios_fault fault)
{
	int left = READ_ONCE(fault_count[fault]);

	while (left > 0 &&
	       !try_cmpxchg(&fault_count[fault], &left, left - 1))
		;
	return left;
}

/*
 * Of a message.  Only the probe's are damaged: a count must not be used up by
 * whatever else is on its way, frames above all.
 */
bool mios_fault_in(enum mios_fault fault, u32 type)
{
	return type == MIOS_MSG_ECHO && mios_fault(fault);
}
