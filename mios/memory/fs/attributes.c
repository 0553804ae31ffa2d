// SPDX-License-Identifier: GPL-2.0
/*
 * Extended attributes.  A new list is written into a file that has no name yet;
 * then one change makes it that of its owner and takes the old one's name away.
 * So who reads has the old or the new one as long as he has it open, and whoever
 * dies leaves a file without a name, which recovery frees.
 */
#include "attributes.h"
#include "tx.h"

/* What the word of a file says whose attributes they are. */
static u32 holder_word(u64 inode)
{
	return MIOS_FS_ATTRIBUTES_OF | (u32)inode;
}

/* Another kernel may have written anything: each of the two names the other one. */
u64 mios_holder_of(struct mios_fs *fs, u64 inode)
{
	u64 holder = mios_tx_get(fs, &inode_at(fs, inode)->parent) >> 32;
	struct mios_fs_inode *at = inode_at(fs, holder);

	if (holder & MIOS_FS_ATTRIBUTES_OF || !inode_exists(fs, holder) ||
	    !READ_ONCE(at->id) ||
	    READ_ONCE(at->parent) >> 32 != holder_word(inode) ||
	    nlink_of(READ_ONCE(at->mode)) != 1)
		return 0;
	return holder;
}

int mios_fs_attributes(struct mios_fs *fs, u64 inode, u64 id,
		       struct mios_fs_holder *holder)
{
	const u64 *sequence = sequence_of_file(fs, inode);
	u64 begun, now;
	int tries;

	if (!inode_exists(fs, inode))
		return -ESTALE;
	for (tries = 0; tries < READ_TRIES; tries++) {
		begun = mios_read_begin(sequence);
		now = READ_ONCE(inode_at(fs, inode)->id);
		holder->inode = READ_ONCE(inode_at(fs, inode)->parent) >> 32;
		holder->id = READ_ONCE(inode_at(fs, holder->inode)->id);
		if (mios_read_again(sequence, begun))
			continue;
		if (holder->inode & MIOS_FS_ATTRIBUTES_OF ||
		    !inode_exists(fs, holder->inode))
			holder->inode = 0;
		return now == id ? 0 : -ESTALE;
	}
	return -EAGAIN;
}

static int set(struct mios_fs *fs, const struct mios_fs_judged *file,
	       const struct mios_fs_holder *was,
	       const struct mios_fs_holder *holder, u64 now)
{
	struct mios_fs_inode *inode = inode_at(fs, file->inode);
	int err = mios_judged_holds(fs, file);
	u64 old = mios_holder_of(fs, file->inode);
	u64 *word;

	if (err)
		return err;
	if (old != was->inode || (old && inode_at(fs, old)->id != was->id))
		return -EAGAIN;
	if (holder->inode) {
		if (!inode_exists(fs, holder->inode) ||
		    inode_at(fs, holder->inode)->id != holder->id)
			return -ESTALE;
		word = &inode_at(fs, holder->inode)->parent;
		mios_tx_put(fs, word, upper_set(mios_tx_get(fs, word),
						holder_word(file->inode)));
		mios_links_add(fs, holder->inode, 1);
	}
	if (old)
		mios_links_add(fs, old, -1);
	mios_tx_put(fs, &inode->parent, upper_set(READ_ONCE(inode->parent),
						  holder->inode));
	mios_inode_changed(fs, file->inode, now);
	return 0;
}

int mios_fs_attributes_set(struct mios_fs *fs, const struct mios_fs_judged *file,
			   const struct mios_fs_holder *was,
			   const struct mios_fs_holder *holder, u64 now)
{
	int err = mios_tx_begin(fs);

	return err ? err : mios_tx_finish(fs, set(fs, file, was, holder, now));
}

const struct mios_fs_attribute *
mios_attribute_next(const struct mios_attributes *a, u32 *at)
{
	const struct mios_fs_attribute *one = (void *)(a->list + *at);
	u32 left = a->size - *at;

	if (left < sizeof(*one))
		return NULL;
	left -= sizeof(*one);
	if (!one->length || one->length > MIOS_FS_NAME || one->length > left ||
	    one->size > left - one->length)
		return NULL;
	*at += mios_attribute_size(one->length, one->size);
	return one;
}

const struct mios_fs_attribute *
mios_attribute_find(const struct mios_attributes *a,
		    const struct mios_fs_name *name)
{
	const struct mios_fs_attribute *one;
	u32 at = 0;

	while ((one = mios_attribute_next(a, &at)))
		if (one->length == name->length &&
		    !memcmp(one->name, name->text, name->length))
			return one;
	return NULL;
}

int mios_attribute_put(struct mios_attributes *a,
		       const struct mios_fs_name *name, const void *value,
		       u32 size)
{
	const struct mios_fs_attribute *old = mios_attribute_find(a, name);
	struct mios_fs_attribute *one;
	u32 whole, rest;

	if (old) {
		rest = (const u8 *)old - a->list;
		whole = mios_attribute_size(old->length, old->size);
		a->size -= whole;
		memmove(a->list + rest, a->list + rest + whole, a->size - rest);
	}
	if (!value)
		return 0;
	whole = mios_attribute_size(name->length, size);
	if (whole > a->room - a->size || a->size + whole > MIOS_FS_ATTRIBUTES)
		return -ENOSPC;
	one = (void *)(a->list + a->size);
	memset(one, 0, whole);
	one->size = size;
	one->length = name->length;
	memcpy(one->name, name->text, name->length);
	memcpy(one->name + name->length, value, size);
	a->size += whole;
	return 0;
}
