// SPDX-License-Identifier: GPL-2.0
/*
 * Files that begin without a name: O_TMPFILE, and symbolic links, which get
 * theirs when they are whole.  One whose maker dies before is freed with all
 * that it had open.
 */
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/namei.h>
#include <linux/slab.h>

#include "vfs.h"

/**
 * mios_attr_new() - attributes of a new file
 * @dir: it is for this directory
 * @mode: type and permissions
 * @attr: out
 */
void mios_attr_new(const struct inode *dir, umode_t mode,
		   struct mios_fs_attr *attr)
{
	*attr = (struct mios_fs_attr) {
		.mode = mode,
		.uid = from_kuid(&init_user_ns, current_fsuid()),
		.gid = from_kgid(&init_user_ns, current_fsgid()),
		.atime = ktime_get_real_ns(),
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

static struct inode *make(struct inode *dir, umode_t mode)
{
	struct mios_mount *m = mount_of(dir);
	struct mios_fs_attr attr;
	struct inode *inode;
	u64 number;
	int err;

	mios_attr_new(dir, mode, &attr);
	err = MIOS_PATIENTLY(m, mios_fs_make_nameless(&m->fs, &attr, &number));
	if (err)
		return ERR_PTR(err);
	inode = mios_inode_get(dir->i_sb, number);
	if (IS_ERR(inode)) {
		mios_fs_close(&m->fs, number);
		mios_file_reap(m, number);
	}
	return inode;
}

int mios_dir_tmpfile(struct mnt_idmap *idmap, struct inode *dir,
		     struct file *file, umode_t mode)
{
	struct inode *inode = make(dir, mode);

	if (IS_ERR(inode))
		return PTR_ERR(inode);
	d_mark_tmpfile(file, inode);
	d_instantiate(file->f_path.dentry, inode);
	return finish_open_simple(file, 0);
}

static int target_write(struct inode *inode, const char *target, size_t length)
{
	struct page *page;
	int err = mios_size_grow(inode, length);

	if (!err)
		err = mios_page_hold(inode, 0, true, &page);
	if (err)
		return err;
	memcpy(page_address(page), target, length);
	put_page(page);
	return 0;
}

int mios_dir_symlink(struct mnt_idmap *idmap, struct inode *dir,
		     struct dentry *dentry, const char *target)
{
	const struct mios_fs_name name = {
		dentry->d_name.name, dentry->d_name.len
	};
	struct inode *inode = make(dir, S_IFLNK | 0777);
	struct mios_mount *m = mount_of(dir);
	size_t length = strlen(target);
	int err;

	if (IS_ERR(inode))
		return PTR_ERR(inode);
	err = length < PAGE_SIZE ? target_write(inode, target, length) :
	      -ENAMETOOLONG;
	if (!err)
		err = MIOS_PATIENTLY(m, mios_fs_link(&m->fs, number_of(inode),
						     number_of(dir), &name,
						     true,
						     ktime_get_real_ns()));
	if (!err)
		err = mios_inode_refresh(inode);
	if (err) {
		iput(inode);
		return err;
	}
	d_instantiate(dentry, inode);
	return 0;
}

static const char *get_link(struct dentry *dentry, struct inode *inode,
			    struct delayed_call *done)
{
	size_t length = i_size_read(inode);
	struct page *page;
	char *target;
	int err;

	if (!dentry)
		return ERR_PTR(-ECHILD);
	if (!length || length >= PAGE_SIZE)
		return ERR_PTR(-EIO);
	err = mios_page_hold(inode, 0, false, &page);
	if (err)
		return ERR_PTR(err == -ENOENT ? -EIO : err);
	target = kmemdup_nul(page_address(page), length, GFP_KERNEL);
	put_page(page);
	if (!target)
		return ERR_PTR(-ENOMEM);
	set_delayed_call(done, kfree_link, target);
	return target;
}

const struct inode_operations mios_symlink_inode_ops = {
	.get_link = get_link,
	.setattr = mios_setattr,
	.getattr = mios_getattr,
};
