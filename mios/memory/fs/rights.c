// SPDX-License-Identifier: GPL-2.0
/*
 * Who may do what.  The VFS has asked before, but then the task waits for the lock
 * of the image, and another instance may have changed what the answer rests on.
 * So it is asked once more here, of attributes that are a file's all at once, and
 * what that rested on goes into the change, which is refused when it is no longer
 * so: then the directory is looked at and all of it done again.
 */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/fs.h>

#include "vfs.h"

/* Each a change elsewhere of what only a directory's or a file's owner changes. */
#define JUDGE_TRIES	100

/**
 * mios_judge_again() - has that which a change rested on become another one?
 * @err: what the change said; becomes -ESTALE, should that be the end
 * @tries: 0 at first
 */
bool mios_judge_again(int *err, int *tries)
{
	if (*err != -EAGAIN)
		return false;
	*err = -ESTALE;
	return ++*tries < JUDGE_TRIES && !fatal_signal_pending(current);
}

static bool may(int capability)
{
	return ns_capable_noaudit(&init_user_ns, capability);
}

/* To whom permissions, owners and groups make no difference. */
bool mios_may_anything(void)
{
	return may(CAP_DAC_OVERRIDE) && may(CAP_FOWNER) && may(CAP_FSETID);
}

/* Who takes pages and makes files beyond any user's share. */
bool mios_may_exceed(void)
{
	return may(CAP_SYS_RESOURCE);
}

static void judged(const struct inode *inode, u32 by,
		   struct mios_fs_judged *file)
{
	*file = (struct mios_fs_judged) {
		.inode = number_of(inode), .id = inode->i_ino,
		.uid = i_uid_read(inode), .gid = i_gid_read(inode),
		.mode = inode->i_mode, .by = by,
	};
}

/**
 * mios_judged() - a file as it is here now
 * @inode: open here
 * @by: MIOS_FS_BY_*
 * @file: out
 */
void mios_judged(const struct inode *inode, u32 by, struct mios_fs_judged *file)
{
	unsigned int seq;

	do {
		seq = mios_rights_begin(inode);
		judged(inode, by, file);
	} while (mios_rights_changed(inode, seq));
}

/**
 * mios_judge() - may the task do that to a file?
 * @inode: open here
 * @mask: MAY_WRITE; MIOS_MAY_NAME: change a directory's names
 * @file: out
 */
int mios_judge(struct inode *inode, int mask, struct mios_fs_judged *file)
{
	u32 by = mios_may_anything() ? MIOS_FS_BY_ID : MIOS_FS_BY_ALL;
	unsigned int seq;
	int err;

	do {
		seq = mios_rights_begin(inode);
		err = generic_permission(&nop_mnt_idmap, inode, mask);
		judged(inode, by, file);
	} while (mios_rights_changed(inode, seq));
	return err;
}

static void attr_new(struct inode *dir, umode_t mode, dev_t dev,
		     struct mios_fs_attr *attr)
{
	*attr = (struct mios_fs_attr) {
		.mode = mode_strip_sgid(&nop_mnt_idmap, dir, mode),
		.uid = from_kuid(&init_user_ns, current_fsuid()),
		.gid = from_kgid(&init_user_ns, current_fsgid()),
		.atime = ktime_get_real_ns(),
		.rdev = huge_encode_dev(dev),
		.policy = S_ISREG(mode) ? READ_ONCE(mount_of(dir)->policy) : 0,
	};
	/* As inode_init_owner() does it. */
	if (dir->i_mode & S_ISGID) {
		attr->gid = i_gid_read(dir);
		if (S_ISDIR(mode))
			attr->mode |= S_ISGID;
	}
	attr->mtime = attr->atime;
	attr->ctime = attr->atime;
}

/**
 * mios_judge_new() - may the task make a file here, and with which attributes?
 * @dir: open here
 * @mode: type and permissions
 * @dev: of a device file
 * @file: out: the directory
 * @attr: out
 */
int mios_judge_new(struct inode *dir, umode_t mode, dev_t dev,
		   struct mios_fs_judged *file, struct mios_fs_attr *attr)
{
	unsigned int seq;
	int err;

	do {
		seq = mios_rights_begin(dir);
		err = mios_judge(dir, MIOS_MAY_NAME, file);
		attr_new(dir, mode, dev, attr);
	} while (mios_rights_changed(dir, seq));
	return err;
}

/*
 * In a sticky directory only one's own: that is so of whatever has the name by
 * then.  Who is root in a namespace may take what belongs to those of it alone.
 */
static void judged_sticky(const struct inode *dir, const struct inode *inode,
			  struct mios_fs_judged *file)
{
	kuid_t self = current_fsuid();

	if (!(dir->i_mode & S_ISVTX) || uid_eq(dir->i_uid, self) ||
	    may(CAP_FOWNER))
		return;
	if (inode && !uid_eq(inode->i_uid, self)) {
		judged(inode, file->by | MIOS_FS_BY_UID | MIOS_FS_BY_GID, file);
		return;
	}
	file->by |= MIOS_FS_BY_UID;
	file->uid = from_kuid(&init_user_ns, self);
}

/**
 * mios_judge_name() - may the task take a name away, or put another file there?
 * @dir: open here
 * @inode: what it leads to, as far as this instance knows; NULL: nothing
 * @at: out: the directory and the file
 */
int mios_judge_name(struct inode *dir, struct inode *inode,
		    struct mios_fs_place *at)
{
	u32 by = inode && S_ISDIR(inode->i_mode) ? MIOS_FS_BY_ID : 0;
	unsigned int seq, own = 0;
	int err;

	do {
		seq = mios_rights_begin(dir);
		if (inode)
			own = mios_rights_begin(inode);
		err = mios_judge(dir, MIOS_MAY_NAME, &at->dir);
		if (!err && inode && check_sticky(&nop_mnt_idmap, dir, inode))
			err = -EPERM;
		at->file = (struct mios_fs_judged){ };
		if (inode)
			judged(inode, by, &at->file);
		judged_sticky(dir, inode, &at->file);
	} while (mios_rights_changed(dir, seq) ||
		 (inode && mios_rights_changed(inode, own)));
	return err;
}
