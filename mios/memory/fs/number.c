// SPDX-License-Identifier: GPL-2.0
/*
 * The device number of a mounted miosfs, st_dev: the same in every instance, so
 * that programs that compare files, or make a key of one (ftok()), agree.  Linux
 * gives a file system without a device the lowest unnamed number that is free,
 * which is another one in each kernel.
 */
#include <linux/fs.h>
#include <linux/hash.h>
#include <linux/kdev_t.h>

#include "vfs.h"

/* Half of all unnamed numbers: who takes the lowest never comes to this one. */
#define NUMBER_BITS	(MINORBITS - 1)

/**
 * mios_number_set() - have a number that follows from where the pool lies
 * @m: its super block has one of this kernel's own, and is not in use yet
 * @base: physical address of the pool's first section
 *
 * Of two pools both may have the same, once in half a million.
 */
void mios_number_set(struct mios_mount *m, u64 base)
{
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
