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
 * mios_nameless_get() - see a file that has just been made without a name
 * @sb: of this mount
 * @number: it is open already; where this fails it is no more
 */
struct inode *mios_nameless_get(struct super_block *sb, u64 number)
{
	struct mios_mount *m = sb->s_fs_info;
	struct inode *inode = mios_inode_get(sb, number);

	if (IS_ERR(inode)) {
		mios_fs_close(&m->fs, number);
		mios_file_reap(m, number);
	}
	return inode;
}

static struct inode *make(struct inode *dir, umode_t mode)
{
	struct mios_mount *m = mount_of(dir);
	struct mios_fs_judged judged;
	struct mios_fs_attr attr;
	u64 number;
	int err;

	err = MIOS_JUDGED(m, mios_judge_new(dir, mode, 0, &judged, &attr),
			  mios_fs_make_nameless(&m->fs, &judged, &attr,
						&number),
			  mios_inode_refresh(dir));
	return err ? ERR_PTR(err) : mios_nameless_get(dir->i_sb, number);
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

/**
 * mios_nameless_write() - contents of a file that nobody else has
 * @inode: it is empty
 * @from: bytes
 * @length: how many
 */
int mios_nameless_write(struct inode *inode, const void *from, size_t length)
{
	int err = mios_size_grow(inode, length);
	size_t at, part;

	for (at = 0; !err && at < length; at += part) {
		struct page *page;

		part = min_t(size_t, length - at, PAGE_SIZE);
		err = mios_page_hold(inode, at >> PAGE_SHIFT, true, &page);
		if (err)
			break;
		memcpy(page_address(page), from + at, part);
		put_page(page);
	}
	return err;
}

/* Its first name. */
static int name_make(struct inode *inode, struct inode *dir,
		     const struct qstr *name)
{
	struct mios_fs_place at = { .name = { name->name, name->len } };
	struct mios_mount *m = mount_of(dir);

	mios_judged(inode, MIOS_FS_BY_ID, &at.file);
	return MIOS_JUDGED(m, mios_judge(dir, MIOS_MAY_NAME, &at.dir),
			   mios_fs_link(&m->fs, &at, true, ktime_get_real_ns()),
			   mios_inode_refresh(dir));
}

int mios_dir_symlink(struct mnt_idmap *idmap, struct inode *dir,
		     struct dentry *dentry, const char *target)
{
	struct inode *inode = make(dir, S_IFLNK | 0777);
	size_t length = strlen(target);
	int err;

	if (IS_ERR(inode))
		return PTR_ERR(inode);
	err = length < PAGE_SIZE ? mios_nameless_write(inode, target, length) :
				   -ENAMETOOLONG;
	if (!err)
		err = name_make(inode, dir, &dentry->d_name);
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
