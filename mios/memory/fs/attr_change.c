// SPDX-License-Identifier: GPL-2.0
/*
 * Changes of attributes, each by itself: what is not meant stays as another
 * instance may have made it since the caller looked.
 */
#include "tx.h"

#define SETUID		04000u
#define SETGID		02000u
#define GROUP_RUNS	00010u

/* SIZE */
static int size_set(struct mios_fs *fs, struct mios_fs_inode *inode, u64 to,
		    u32 which)
{
	u64 size = mios_tx_get(fs, &inode->size);
	u64 word = mios_tx_get(fs, &inode->cut);
	u32 cut = word;

	if (to == size || (which & MIOS_FS_SET_GROW && to < size))
		return 0;
	if (to > size && (cut || ((u32)READ_ONCE(inode->left) &&
				  !(which & MIOS_FS_SET_ZEROED))))
		return -EINPROGRESS;
	if (to < size && (!cut || cut > size_pages(to) + 1))
		mios_tx_put(fs, &inode->cut,
			    lower_set(word, size_pages(to) + 1));
	mios_tx_put(fs, &inode->size, to);
	return 0;
}

static void mode_set(struct mios_fs *fs, struct mios_fs_inode *inode, u32 to,
		     u32 which)
{
	u64 word = mios_tx_get(fs, &inode->mode);
	u32 mode = mode_of(word);

	if (which & MIOS_FS_SET_MODE)
		mode = (mode & MIOS_FS_TYPE) | (to & ~MIOS_FS_TYPE);
	if (which & MIOS_FS_DROP_SETID)
		mode &= ~(mode & GROUP_RUNS ? SETUID | SETGID : SETUID);
	if (which & MIOS_FS_DROP_SETGID)
		mode &= ~SETGID;
	if (mode != mode_of(word))
		mios_tx_put(fs, &inode->mode, upper_lower(nlink_of(word),
							  mode));
}

static void owner_set(struct mios_fs *fs, struct mios_fs_inode *inode,
		      const struct mios_fs_attr *attr, u32 which)
{
	u64 owner = mios_tx_get(fs, &inode->owner);

	if (which & (MIOS_FS_SET_UID | MIOS_FS_SET_GID))
		mios_tx_put(fs, &inode->owner,
			    upper_lower(which & MIOS_FS_SET_GID ? attr->gid :
					owner >> 32,
					which & MIOS_FS_SET_UID ? attr->uid :
					owner));
}

static int set(struct mios_fs *fs, const struct mios_fs_judged *file,
	       const struct mios_fs_attr *attr, u32 which)
{
	struct mios_fs_inode *inode = inode_at(fs, file->inode);
	int err = mios_judged_holds(fs, file);
	u64 now;

	if (!err && which & (MIOS_FS_SET_SIZE | MIOS_FS_SET_GROW))
		err = size_set(fs, inode, attr->size, which);
	if (err)
		return err;
	mode_set(fs, inode, attr->mode, which);
	owner_set(fs, inode, attr, which);
	now = mios_inode_changed(fs, file->inode, attr->ctime);
	if (which & MIOS_FS_SET_ATIME)
		mios_tx_put(fs, &inode->atime, attr->atime);
	if (which & (MIOS_FS_SET_MTIME | MIOS_FS_SET_WRITTEN))
		mios_tx_put(fs, &inode->mtime, which & MIOS_FS_SET_WRITTEN ?
			    now : attr->mtime);
	if (which & MIOS_FS_SET_POLICY)
		mios_tx_put(fs, &inode->next, attr->policy);
	return 0;
}

int mios_fs_setattr(struct mios_fs *fs, const struct mios_fs_judged *file,
		    const struct mios_fs_attr *attr, u32 which)
{
	int err = mios_tx_begin(fs);

	return err ? err : mios_tx_finish(fs, set(fs, file, attr, which));
}

static int append(struct mios_fs *fs, const struct mios_fs_judged *file,
		  struct mios_fs_attr *attr, u32 which, u64 limit, u64 *at)
{
	int err = mios_judged_holds(fs, file);

	if (err)
		return err;
	*at = mios_tx_get(fs, &inode_at(fs, file->inode)->size);
	if (*at > limit || attr->size > limit - *at)
		return -EFBIG;
	attr->size += *at;
	return set(fs, file, attr, which | MIOS_FS_SET_GROW);
}

int mios_fs_append(struct mios_fs *fs, const struct mios_fs_judged *file,
		   const struct mios_fs_attr *attr, u32 which, u64 limit,
		   u64 *at)
{
	struct mios_fs_attr longer = *attr;
	int err = mios_tx_begin(fs);

	return err ? err : mios_tx_finish(fs, append(fs, file, &longer, which,
						     limit, at));
}
