// SPDX-License-Identifier: GPL-2.0
/*
 * Names that move, or change places: as change.c, each one change of tx.c.
 */
#include "change.h"

/* Directories in each other, through which one looks with the lock of all. */
#define DEPTH_MAX	4096u

/* -EINVAL: @inode is @dir itself, or above it; -ELOOP: too deep to tell. */
static int stays_above(struct mios_fs *fs, u64 inode, u64 dir)
{
	u32 steps;

	for (steps = 0; steps < DEPTH_MAX; steps++) {
		if (dir == inode)
			return -EINVAL;
		if (dir == MIOS_FS_ROOT || !inode_exists(fs, dir))
			return 0;
		dir = (u32)inode_at(fs, dir)->parent;
	}
	return -ELOOP;
}

/* A directory that has come from another one. */
static void adopt(struct mios_fs *fs, u64 inode, u64 dir, u64 to_dir)
{
	u64 *parent = &inode_at(fs, inode)->parent;

	mios_tx_put(fs, parent, lower_set(mios_tx_get(fs, parent), to_dir));
	mios_links_add(fs, dir, -1);
	mios_links_add(fs, to_dir, 1);
}

/* What is to have another name: a directory only where one is meant. */
static int move_from(struct mios_fs *fs, const struct mios_fs_place *at,
		     const struct mios_fs_place *to, bool directory,
		     struct mios_found *from)
{
	int err = mios_place_find(fs, at, from);

	if (!err)
		err = mios_place_judged(fs, at, from->inode);
	if (err)
		return err;
	if (is_directory(inode_at(fs, from->inode)->mode) != directory)
		return -ESTALE;
	return directory ? stays_above(fs, from->inode, to->dir.inode) : 0;
}

/* What has that name already, or nothing: then ->entry is 0. */
static int move_over(struct mios_fs *fs, const struct mios_fs_place *at,
		     u64 inode, bool directory, struct mios_found *old)
{
	int err = mios_place_find(fs, at, old);

	if (err == -ENOENT && mios_dir_is_alive(fs, at->dir.inode)) {
		old->entry = 0;
		return 0;
	}
	if (err)
		return err;
	if (at->file.by & MIOS_FS_BY_NONE)
		return -EEXIST;
	if (old->inode == inode)
		return 0;
	err = mios_place_judged(fs, at, old->inode);
	return err ? err : mios_removable(fs, old->inode, directory);
}

static int move(struct mios_fs *fs, struct mios_fs_place *at,
		struct mios_fs_place *to, bool directory, u64 now)
{
	u64 dir = at->dir.inode, to_dir = to->dir.inode;
	struct mios_found from, old;
	int err = move_from(fs, at, to, directory, &from);

	if (!err)
		err = move_over(fs, to, from.inode, directory, &old);
	if (err)
		return err;
	to->file.inode = 0;
	if (old.entry && old.inode == from.inode)
		return 0;
	if (old.entry) {
		mios_name_drop(fs, to_dir, &old, directory, now);
		to->file.inode = old.inode;
		/* It may have been what led to the other one. */
		err = mios_name_find(fs, dir, &at->name, &from);
		if (err)
			return err;
	}
	mios_entry_unhook(fs, from.link, from.entry);
	mios_entry_rest_drop(fs, from.entry);
	/* Who reads a directory meets a name once that changes in it. */
	if (dir == to_dir) {
		err = mios_entry_insert(fs, from.entry, to_dir, &to->name, from.inode);
	} else {
		mios_entry_unlist(fs, dir, from.entry);
		err = mios_entry_insert_new(fs, from.entry, to_dir, &to->name,
					    from.inode);
	}
	if (directory)
		adopt(fs, from.inode, dir, to_dir);
	mios_inode_changed(fs, from.inode, now);
	mios_names_changed(fs, dir, now);
	mios_names_changed(fs, to_dir, now);
	at->file.inode = from.inode;
	return err;
}

int mios_fs_rename(struct mios_fs *fs, struct mios_fs_place *from,
		   struct mios_fs_place *to, bool directory, u64 now)
{
	int err;

	do {
		err = mios_tx_begin(fs);
		if (!err)
			err = mios_tx_finish(fs, move(fs, from, to, directory,
						      now));
	} while (mios_part_grown(fs, &err));
	return err;
}

/* A file as it is judged: a directory is that very one, another file is none. */
static int exchange_find(struct mios_fs *fs, const struct mios_fs_place *at,
			 const struct mios_fs_place *to,
			 struct mios_found *found)
{
	int err = mios_place_find(fs, at, found);

	if (!err)
		err = mios_place_judged(fs, at, found->inode);
	if (err || !is_directory(inode_at(fs, found->inode)->mode))
		return err;
	if (!(at->file.by & MIOS_FS_BY_ID))
		return -ESTALE;
	return stays_above(fs, found->inode, to->dir.inode);
}

/* A name leads to @inode from now on, which had another one, in @dir, before. */
static void lead_to(struct mios_fs *fs, const struct mios_found *found,
		    u64 to_dir, u64 inode, u64 dir, u64 now)
{
	struct mios_fs_entry *entry = entry_at(fs, found->entry);

	mios_tx_put(fs, &entry->inode, inode);
	mios_tx_raise(fs, sequence_of_name(fs, READ_ONCE(entry->hash)));
	if (dir != to_dir && is_directory(inode_at(fs, inode)->mode))
		adopt(fs, inode, dir, to_dir);
	mios_inode_changed(fs, inode, now);
	mios_names_changed(fs, to_dir, now);
}

/* The entries stay where they are, in their buckets and directories. */
static int exchange(struct mios_fs *fs, const struct mios_fs_place *one,
		    const struct mios_fs_place *two, u64 now)
{
	struct mios_found a, b;
	int err = exchange_find(fs, one, two, &a);

	if (!err)
		err = exchange_find(fs, two, one, &b);
	if (err || a.inode == b.inode)
		return err;
	lead_to(fs, &a, one->dir.inode, b.inode, two->dir.inode, now);
	lead_to(fs, &b, two->dir.inode, a.inode, one->dir.inode, now);
	return 0;
}

int mios_fs_exchange(struct mios_fs *fs, const struct mios_fs_place *one,
		     const struct mios_fs_place *two, u64 now)
{
	int err = mios_tx_begin(fs);

	return err ? err : mios_tx_finish(fs, exchange(fs, one, two, now));
}
