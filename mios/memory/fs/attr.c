// SPDX-License-Identifier: GPL-2.0
/*
 * Changing attributes of a file, its size among them: in the image first, so
 * that all instances have them.
 */
#include <linux/fs.h>

#include "vfs.h"

static u64 ns_of(struct timespec64 time)
{
	return timespec64_to_ns(&time);
}

/* The lock: so that nobody refreshes it in between, to what it is no more. */
static void attr_copy(struct mnt_idmap *idmap, struct inode *inode,
		      const struct iattr *iattr, struct mios_fs_attr *attr)
{
	spin_lock(&inode->i_lock);
	setattr_copy(idmap, inode, iattr);
	*attr = (struct mios_fs_attr) {
		.id = inode->i_ino,
		.mode = inode->i_mode,
		.uid = i_uid_read(inode),
		.gid = i_gid_read(inode),
		.atime = ns_of(inode_get_atime(inode)),
		.mtime = ns_of(inode_get_mtime(inode)),
		.ctime = ns_of(inode_get_ctime(inode)),
	};
	spin_unlock(&inode->i_lock);
}

static int attr_write(struct inode *inode, const struct mios_fs_attr *attr,
		      unsigned int valid)
{
	struct mios_mount *m = mount_of(inode);
	u32 which = 0;

	if (valid & ATTR_MODE)
		which |= MIOS_FS_SET_MODE;
	if (valid & (ATTR_UID | ATTR_GID))
		which |= MIOS_FS_SET_OWNER;
	if (valid & ATTR_ATIME)
		which |= MIOS_FS_SET_ATIME;
	if (valid & ATTR_MTIME)
		which |= MIOS_FS_SET_MTIME;
	return MIOS_PATIENTLY(m, mios_fs_setattr(&m->fs, number_of(inode),
						 attr, which));
}

/* Where pages are wished at once, they are there, or it is no longer. */
static int size_set(struct inode *inode, loff_t size)
{
	struct mios_mount *m = mount_of(inode);
	loff_t before = i_size_read(inode);
	int err = mios_size_set(inode, size);

	if (err || size <= before ||
	    !(mios_fs_policy(&m->fs, number_of(inode)) & MIOS_FS_POLICY_EAGER))
		return err;
	err = mios_file_allocate(inode, before, size);
	if (err)
		mios_size_set(inode, before);
	return err;
}

/* Is that all, once it has its size?  Times of now are that of the same change. */
static bool is_size_only(unsigned int valid)
{
	return valid & ATTR_SIZE &&
	       !(valid & (ATTR_MODE | ATTR_UID | ATTR_GID | ATTR_ATIME |
			  ATTR_MTIME_SET));
}

int mios_setattr(struct mnt_idmap *idmap, struct dentry *dentry,
		 struct iattr *iattr)
{
	struct inode *inode = d_inode(dentry);
	int err = mios_inode_look(inode);
	struct mios_fs_attr attr;

	if (!err)
		err = setattr_prepare(idmap, dentry, iattr);
	if (!err && iattr->ia_valid & ATTR_SIZE)
		err = size_set(inode, iattr->ia_size);
	if (err || is_size_only(iattr->ia_valid))
		return err;
	attr_copy(idmap, inode, iattr, &attr);
	err = attr_write(inode, &attr, iattr->ia_valid);
	if (err)
		mios_inode_refresh(inode);
	return err;
}
