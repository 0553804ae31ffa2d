// SPDX-License-Identifier: GPL-2.0
/*
 * What tests ask of miosfs besides breaking a guarantee.  Built with
 * MIOS_INJECT=1 only.
 */
#include <linux/io.h>
#include <linux/kstrtox.h>
#include <linux/module.h>
#include <linux/sched.h>

#include "../../inject/inject.h"
#include "tx.h"
#include "vfs.h"

MIOS_INJECT_SWITCH(stop, "go no further in a change, with the lock held");

MIOS_INJECT_VALUE(stop_grow,
		  "go no further when the image grows: 1 before, 2 after the new part is linked");

/* In the middle of a change: until this instance is killed, if need be. */
void mios_fs_stop(void)
{
	while (READ_ONCE(inject_stop))
		schedule_timeout_uninterruptible(msecs_to_jiffies(20));
}

void mios_fs_stop_grow(unsigned int step)
{
	while (READ_ONCE(inject_stop_grow) == step)
		schedule_timeout_uninterruptible(msecs_to_jiffies(20));
}

/* The image is asked for a name, as this instance does not believe what it knows. */
static atomic_t asked;

void mios_fs_asked(void)
{
	atomic_inc(&asked);
}

static int asked_get(char *text, const struct kernel_param *kp)
{
	return sysfs_emit(text, "%d\n", atomic_read(&asked));
}

static const struct kernel_param_ops asked_ops = { .get = asked_get };

module_param_cb(inject_asked, &asked_ops, NULL, 0400);
MODULE_PARM_DESC(inject_asked, "for tests: how often the image was asked for a name");

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

module_param_cb(inject_poke, &poke_ops, NULL, 0200);
MODULE_PARM_DESC(inject_poke, "for tests: overwrite the word at this address");
