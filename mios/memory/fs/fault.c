// SPDX-License-Identifier: GPL-2.0
/*
 * The switches behind mios_fs_fault(): module parameters, so that a test can
 * set them at run time.  Compiled with MIOS_FAULT=1 only.
 */
#include <linux/io.h>
#include <linux/kstrtox.h>
#include <linux/module.h>
#include <linux/sched.h>

#include "fault.h"

static bool fault_on[MIOS_FS_FAULTS];

#define MIOS_FS_FAULT_PARAM(name, index, text)				\
	module_param_named(fault_##name, fault_on[index], bool, 0600);	\
	MODULE_PARM_DESC(fault_##name, "fault: " text)

MIOS_FS_FAULT_PARAM(no_replay, MIOS_FS_FAULT_NO_REPLAY,
		    "leave what the dead had begun");
MIOS_FS_FAULT_PARAM(keep_open, MIOS_FS_FAULT_KEEP_OPEN,
		    "leave what the dead had open");
MIOS_FS_FAULT_PARAM(stop, MIOS_FS_FAULT_STOP,
		    "go no further in a change, with the lock held");
MIOS_FS_FAULT_PARAM(deaf, MIOS_FS_FAULT_DEAF, "do not hear of a death");
MIOS_FS_FAULT_PARAM(elsewhere, MIOS_FS_FAULT_ELSEWHERE,
		    "map files wherever there is room");
MIOS_FS_FAULT_PARAM(uncached, MIOS_FS_FAULT_UNCACHED,
		    "take the pool for memory that is not write-back");
MIOS_FS_FAULT_PARAM(no_revoke, MIOS_FS_FAULT_NO_REVOKE,
		    "free pages that other instances may have mapped");
MIOS_FS_FAULT_PARAM(no_zero, MIOS_FS_FAULT_NO_ZERO,
		    "leave in a page of a file what was there before");
MIOS_FS_FAULT_PARAM(far, MIOS_FS_FAULT_FAR,
		    "take pages from the farthest node");
MIOS_FS_FAULT_PARAM(first_touch, MIOS_FS_FAULT_FIRST_TOUCH,
		    "take pages from the nearest node, whatever is wished");
MIOS_FS_FAULT_PARAM(same_id, MIOS_FS_FAULT_SAME_ID,
		    "give a new segment the id of the one that was there");
MIOS_FS_FAULT_PARAM(keep_mapped, MIOS_FS_FAULT_KEEP_MAPPED,
		    "refuse to unmap what another instance takes away");
MIOS_FS_FAULT_PARAM(no_wake, MIOS_FS_FAULT_NO_WAKE,
		    "do not tell another instance that the lock is its");
MIOS_FS_FAULT_PARAM(doze, MIOS_FS_FAULT_DOZE,
		    "who waits for the lock does not look by itself");
MIOS_FS_FAULT_PARAM(stale, MIOS_FS_FAULT_STALE,
		    "believe names, whatever others have changed");

bool mios_fs_fault(enum mios_fs_fault fault)
{
	return READ_ONCE(fault_on[fault]);
}

/* In the middle of a change: until this instance is killed, if need be. */
void mios_fs_stop(void)
{
	while (mios_fs_fault(MIOS_FS_FAULT_STOP))
		schedule_timeout_uninterruptible(msecs_to_jiffies(20));
}

/* Write garbage over a word of a pool, by its physical address. */
static int poke_set(const char *text, const struct kernel_param *kp)
{
	u64 address, *word;
	int err = kstrtou64(text, 0, &address);

	if (err)
		return err;
	word = memremap(address, sizeof(*word), MEMREMAP_WB);
	if (!word)
		return -ENOMEM;
	WRITE_ONCE(*word, 0x5a5a5a5a5a5a5a5aULL);
	memunmap(word);
	return 0;
}

static const struct kernel_param_ops poke_ops = { .set = poke_set };

module_param_cb(fault_poke, &poke_ops, NULL, 0200);
MODULE_PARM_DESC(fault_poke, "fault: overwrite the word at this address");
