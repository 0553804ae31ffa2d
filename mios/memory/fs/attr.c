// SPDX-License-Identifier: GPL-2.0
/*
 * Changing attributes of a file, its size among them: in the image, so that all
 * instances have them, and each by itself.
 */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/fs.h>

#include "vfs.h"

#define ATTR_KILL	(ATTR_KILL_SUID | ATTR_KILL_SGID)

/* What belongs to the owner to change. */
#define ATTR_OWN	(ATTR_MODE | ATTR_UID | ATTR_GID | ATTR_ATIME_SET | \
			 ATTR_MTIME_SET | ATTR_TIMES_SET | ATTR_TOUCH)

static u64 ns_of(struct timespec64 time)
{
	return timespec64_to_ns(&time);
}

/*
 * On what setattr_prepare() and may_setattr() rest: that the task owns the file,
 * or that it may write to it; else on what it is itself, whosever the file is.
 */
static u32 rests_on(const struct inode *inode, const struct iattr *iattr)
{
	unsigned int valid = iattr->ia_valid;
	u32 by = MIOS_FS_BY_ID;

	if (valid & ATTR_FORCE || !(valid & (ATTR_OWN | ATTR_KILL)))
		return by;
	if (uid_eq(inode->i_uid, current_fsuid()))
		by |= valid & ATTR_GID ? MIOS_FS_BY_UID | MIOS_FS_BY_GID :
					 MIOS_FS_BY_UID;
	else if (valid & (ATTR_TOUCH | ATTR_KILL) && !mios_may_anything())
		by = MIOS_FS_BY_ALL;
	else if (current_user_ns() != &init_user_ns)
		by |= MIOS_FS_BY_UID | MIOS_FS_BY_GID;
	if (valid & ATTR_MODE && iattr->ia_mode & S_ISGID &&
	    !mios_may_anything())
		by |= MIOS_FS_BY_GID;
	return by;
}

/* A mode that is there to drop such bits is made of the one that was seen here. */
static u32 which_of(unsigned int valid)
{
	u32 which = 0;

	if (valid & ATTR_KILL)
		which |= MIOS_FS_DROP_SETID;
	else if (valid & ATTR_MODE)
		which |= MIOS_FS_SET_MODE;
	if (valid & ATTR_KILL_SGID)
		which |= MIOS_FS_DROP_SETGID;
	if (valid & ATTR_UID)
		which |= MIOS_FS_SET_UID;
	if (valid & ATTR_GID)
		which |= MIOS_FS_SET_GID;
	if (valid & ATTR_ATIME)
		which |= MIOS_FS_SET_ATIME;
	if (valid & ATTR_MTIME)
		which |= valid & ATTR_MTIME_SET ? MIOS_FS_SET_MTIME :
						  MIOS_FS_SET_WRITTEN;
	return which;
}

static void attr_fill(struct mnt_idmap *idmap, struct inode *inode,
		      const struct iattr *iattr, struct mios_fs_attr *attr)
{
	struct user_namespace *ns = i_user_ns(inode);

	*attr = (struct mios_fs_attr) {
		.mode = iattr->ia_mode,
		.uid = from_kuid(ns, from_vfsuid(idmap, ns, iattr->ia_vfsuid)),
		.gid = from_kgid(ns, from_vfsgid(idmap, ns, iattr->ia_vfsgid)),
		.atime = ns_of(iattr->ia_atime),
		.mtime = ns_of(iattr->ia_mtime),
		.ctime = ktime_get_real_ns(),
	};
}

/* @attr: out: what may be written. */
static int judge(struct mnt_idmap *idmap, struct dentry *dentry,
		 const struct iattr *wanted, struct mios_fs_judged *file,
		 struct mios_fs_attr *attr)
{
	struct inode *inode = d_inode(dentry);
	unsigned int seq;
	struct iattr own;
	int err;

	do {
		seq = mios_rights_begin(inode);
		own = *wanted;
		/* As notify_change() has done it for the mode that it saw. */
		if (own.ia_valid & ATTR_KILL && is_sxid(inode->i_mode)) {
			own.ia_valid |= ATTR_MODE;
			own.ia_mode = inode->i_mode & ~(S_ISUID | S_ISGID);
		}
		err = may_setattr(idmap, inode, own.ia_valid);
		if (!err)
			err = setattr_prepare(idmap, dentry, &own);
		mios_judged(inode, rests_on(inode, &own), file);
	} while (mios_rights_changed(inode, seq));
	attr_fill(idmap, inode, &own, attr);
	return err;
}

/*
 * Where pages are wished at once it grows by pieces, as by fallocate(), and stays as
 * long as it has become when one cannot be had: what is there by then another
 * instance may have written to.
 */
static int size_set(struct inode *inode, loff_t size)
{
	struct mios_mount *m = mount_of(inode);
	loff_t before = i_size_read(inode);
	int err = 0;

	if (size > before &&
	    mios_fs_policy(&m->fs, number_of(inode)) & MIOS_FS_POLICY_EAGER)
		err = mios_file_allocate(inode, before, size, 0);
	return err ?: mios_size_set(inode, size);
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
	struct mios_mount *m = mount_of(inode);
	int err = mios_inode_look(inode);
	struct iattr wanted = *iattr;
	struct mios_fs_judged file;
	struct mios_fs_attr attr;

	if (!err)
		err = judge(idmap, dentry, &wanted, &file, &attr);
	if (!err && wanted.ia_valid & ATTR_SIZE)
		err = size_set(inode, wanted.ia_size);
	if (err || is_size_only(wanted.ia_valid))
		return err;
	wanted.ia_valid &= ~ATTR_SIZE;
	err = MIOS_JUDGED(m, judge(idmap, dentry, &wanted, &file, &attr),
			  mios_fs_setattr(&m->fs, &file, &attr,
					  which_of(wanted.ia_valid)),
			  mios_inode_refresh(inode));
	if (!err)
		mios_inode_refresh(inode);
	return err;
}
