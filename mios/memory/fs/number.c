// SPDX-License-Identifier: GPL-2.0
/*
 * Device numbers of file systems without a device, st_dev: the same in every
 * instance, so that programs that compare files, or make a key of one (ftok()),
 * agree.  Linux gives each mount the lowest unnamed number that is free, which is
 * another one in each kernel.  A miosfs has one that follows from where its pool
 * lies.  Who mounts something else takes all numbers below the one that is wanted
 * first, by the parameter "unnamed", and gives them back after that.
 */
#include <linux/bitmap.h>
#include <linux/fs.h>
#include <linux/hash.h>
#include <linux/kdev_t.h>
#include <linux/moduleparam.h>

#include "../../core/link/link.h"
#include "../../inject/inject.h"

#include "vfs.h"

MIOS_INJECT_SWITCH(own_number, "a device number of this instance's own");

/* Half of all unnamed numbers: who takes the lowest never comes to this one. */
#define NUMBER_BITS	(MINORBITS - 1)

#define HOLD_MAX	4096

static unsigned int wanted;		/* all writes: the lock of parameters */
static DECLARE_BITMAP(held, HOLD_MAX);

static void release(void)
{
	unsigned int minor;

	for_each_set_bit(minor, held, HOLD_MAX)
		free_anon_bdev(MKDEV(0, minor));
	bitmap_zero(held, HOLD_MAX);
	wanted = 0;
}

static int hold(unsigned int below)
{
	dev_t number;
	int err;

	for (;;) {
		err = get_anon_bdev(&number);
		if (err)
			return err;
		if (MINOR(number) >= below)
			break;
		set_bit(MINOR(number), held);
	}
	free_anon_bdev(number);
	wanted = below;
	return 0;
}

static int unnamed_set(const char *text, const struct kernel_param *param)
{
	unsigned int below;
	int err = kstrtouint(text, 0, &below);

	if (err || below > HOLD_MAX)
		return err ?: -ERANGE;
	release();
	err = below ? hold(below) : 0;
	if (err)
		release();
	return err;
}

static const struct kernel_param_ops unnamed_ops = {
	.set = unnamed_set,
	.get = param_get_uint,
};

module_param_cb(unnamed, &unnamed_ops, &wanted, 0600);
MODULE_PARM_DESC(unnamed, "the next mount without a device has this number, if it is free, or a higher one; 0: the lowest");

/**
 * mios_number_set() - have a number that follows from where the pool lies
 * @m: its super block has one of this kernel's own, and is not in use yet
 * @base: physical address of the pool's first section
 *
 * Of two pools both may have the same, once in half a million.
 */
void mios_number_set(struct mios_mount *m, u64 base)
{
	if (inject_own_number)
		base += mios_link_self() * MIOS_EXTENT_SIZE;
	m->own_number = m->sb->s_dev;
	m->sb->s_dev = MKDEV(0, BIT(NUMBER_BITS) |
			     hash_64(base / MIOS_EXTENT_SIZE, NUMBER_BITS));
}

/**
 * mios_number_end() - give the kernel back what it has given
 * @m: nobody uses its files any more
 */
void mios_number_end(struct mios_mount *m)
{
	m->sb->s_dev = m->own_number;
}

void mios_numbers_exit(void)
{
	release();
}
