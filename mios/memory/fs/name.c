// SPDX-License-Identifier: GPL-2.0
/*
 * Reading names and attributes: local loads, checked by the sequence count of
 * the image, and bounded whatever lies there.
 */
#include "../../inject/inject.h"
#include "tx.h"

MIOS_INJECT_SWITCH(all_names, "a directory that is being read also shows what has come since");

/* FNV-1a. */
u64 mios_name_hash(u64 dir, const struct mios_fs_name *name)
{
	u64 hash = 0xcbf29ce484222325ull ^ dir;
	u32 i;

	for (i = 0; i < name->length; i++)
		hash = (hash ^ (u8)name->text[i]) * 0x100000001b3ull;
	return hash;
}

bool mios_name_is(const struct mios_fs_entry *entry, u64 dir, u64 hash,
		  const struct mios_fs_name *name)
{
	return READ_ONCE(entry->hash) == hash &&
	       READ_ONCE(entry->parent) == upper_lower(name->length, dir) &&
	       !memcmp(entry->name, name->text, name->length);
}

static u64 find(struct mios_fs *fs, u64 dir, const struct mios_fs_name *name)
{
	u64 hash = mios_name_hash(dir, name);
	u64 at = READ_ONCE(*bucket_at(fs, hash));
	u64 steps;

	for (steps = 0; at && at < fs->nr_entries && steps < fs->nr_entries;
	     steps++) {
		if (mios_name_is(entry_at(fs, at), dir, hash, name))
			return READ_ONCE(entry_at(fs, at)->inode);
		at = READ_ONCE(entry_at(fs, at)->next);
	}
	return 0;
}

u64 mios_fs_sequence(const struct mios_fs *fs)
{
	return mios_read_begin(fs);
}

int mios_fs_lookup(struct mios_fs *fs, u64 dir,
		   const struct mios_fs_name *name, u64 *inode)
{
	u64 sequence;
	int tries;

	if (!name->length || name->length > MIOS_FS_NAME)
		return -ENAMETOOLONG;
	for (tries = 0; tries < READ_TRIES; tries++) {
		sequence = mios_read_begin(fs);
		*inode = find(fs, dir, name);
		if (mios_read_again(fs, sequence))
			continue;
		return inode_exists(fs, *inode) ? 0 : -ENOENT;
	}
	return -EAGAIN;
}

int mios_fs_stat(struct mios_fs *fs, u64 number, struct mios_fs_attr *attr)
{
	struct mios_fs_inode *inode, copy;
	u64 sequence;
	int tries;

	if (!inode_exists(fs, number))
		return -ENOENT;
	inode = inode_at(fs, number);
	for (tries = 0; tries < READ_TRIES; tries++) {
		sequence = mios_read_begin(fs);
		copy.id = READ_ONCE(inode->id);
		copy.mode = READ_ONCE(inode->mode);
		copy.owner = READ_ONCE(inode->owner);
		copy.size = READ_ONCE(inode->size);
		copy.atime = READ_ONCE(inode->atime);
		copy.mtime = READ_ONCE(inode->mtime);
		copy.ctime = READ_ONCE(inode->ctime);
		copy.parent = READ_ONCE(inode->parent);
		copy.next = READ_ONCE(inode->next);
		if (mios_read_again(fs, sequence))
			continue;
		if (!copy.id)
			return -ENOENT;
		*attr = (struct mios_fs_attr) {
			.id = copy.id, .mode = mode_of(copy.mode),
			.nlink = nlink_of(copy.mode), .uid = copy.owner,
			.gid = copy.owner >> 32, .size = copy.size,
			.atime = copy.atime, .mtime = copy.mtime,
			.ctime = copy.ctime, .parent = copy.parent,
			.rdev = is_device(copy.mode) ? copy.next : 0,
			.sequence = sequence,
		};
		return 0;
	}
	return -EAGAIN;
}

/* An entry as it is between two changes. */
static int entry_copy(struct mios_fs *fs, u64 at, struct mios_fs_entry *copy)
{
	u64 sequence;
	int tries;

	for (tries = 0; tries < READ_TRIES; tries++) {
		sequence = mios_read_begin(fs);
		memcpy(copy, entry_at(fs, at), sizeof(*copy));
		if (!mios_read_again(fs, sequence))
			return 0;
	}
	return -EAGAIN;
}

/* A name that stays keeps its place: only what is found there is to be whole. */
int mios_fs_readdir(struct mios_fs *fs, u64 dir, u64 before, u64 *cookie,
		    struct mios_fs_entry *entry)
{
	u64 at;

	if (!inode_exists(fs, dir))
		return 0;
	for (at = *cookie + 1; at < fs->nr_entries; at++) {
		if ((u32)READ_ONCE(entry_at(fs, at)->parent) != dir)
			continue;
		*cookie = at - 1;
		if (entry_copy(fs, at, entry))
			return -EAGAIN;
		if ((u32)entry->parent != dir ||
		    (entry->born > before && !inject_all_names))
			continue;
		if (!inode_exists(fs, entry->inode) ||
		    entry->parent >> 32 > MIOS_FS_NAME)
			return -EBADMSG;
		*cookie = at;
		return 1;
	}
	return 0;
}
