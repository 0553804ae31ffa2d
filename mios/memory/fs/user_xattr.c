// SPDX-License-Identifier: GPL-2.0
/*
 * Extended attributes of users, "user.": what programs want known of a file or a
 * directory, the same in all instances (attributes.c).  To change one is to write
 * all of them into a file that nobody has yet, and then to make that the one that
 * has them.
 */
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/xattr.h>

#include "attributes.h"
#include "vfs.h"

/* Those that were found, where they were, and room for one more. */
struct found {
	struct mios_attributes all;
	struct mios_fs_holder holder;
};

static int contents_read(struct inode *from, struct mios_attributes *all)
{
	u32 at, part;
	int err;

	for (at = 0; at < all->size; at += part) {
		struct page *page;

		part = min_t(u32, all->size - at, PAGE_SIZE);
		err = mios_page_hold(from, at >> PAGE_SHIFT, false, &page);
		if (err)
			return err == -ENOENT ? -EIO : err;
		memcpy(all->list + at, page_address(page), part);
		put_page(page);
	}
	return 0;
}

/* While it is open here nobody frees it, whoever has replaced it. */
static int holder_read(struct super_block *sb, struct found *found, u32 room)
{
	struct inode *from = mios_inode_get(sb, found->holder.inode);
	struct mios_attributes *all = &found->all;
	loff_t size;
	int err = 0;

	if (IS_ERR(from))
		return PTR_ERR(from);
	size = i_size_read(from);
	if (from->i_ino != found->holder.id)
		err = -ESTALE;
	else if (!S_ISREG(from->i_mode) || size > MIOS_FS_ATTRIBUTES ||
		 size % sizeof(u64))
		err = -EIO;
	if (err)
		goto out;
	all->size = size;
	all->room = size + room;
	all->list = kvmalloc(all->room, GFP_KERNEL_ACCOUNT);
	err = all->list ? contents_read(from, all) : -ENOMEM;
	if (err)
		kvfree(all->list);
out:
	iput(from);
	return err;
}

/* @found: out: ->all.list is to be freed. */
static int found_read(struct inode *inode, struct found *found, u32 room)
{
	struct mios_mount *m = mount_of(inode);
	int err, tries = 0;

	do {
		err = MIOS_LOOK(m, mios_fs_attributes(&m->fs, number_of(inode),
						      inode->i_ino,
						      &found->holder));
		if (err)
			return err;
		found->all = (struct mios_attributes){ .room = room };
		if (!found->holder.inode) {
			found->all.list = kvmalloc(room ?: 1,
						   GFP_KERNEL_ACCOUNT);
			return found->all.list ? 0 : -ENOMEM;
		}
		err = holder_read(inode->i_sb, found, room);
		/* Others have them by now. */
	} while (err == -ESTALE && mios_patient(&tries));
	return err;
}

static int user_get(const struct xattr_handler *handler, struct dentry *dentry,
		    struct inode *inode, const char *name, void *buffer,
		    size_t size)
{
	const struct mios_fs_name text = { name, strlen(name) };
	const struct mios_fs_attribute *one;
	struct found found;
	int ret = found_read(inode, &found, 0);

	if (ret)
		return ret;
	one = mios_attribute_find(&found.all, &text);
	ret = one ? one->size : -ENODATA;
	if (one && buffer && one->size > size)
		ret = -ERANGE;
	else if (one && buffer)
		memcpy(buffer, mios_attribute_value(one), one->size);
	kvfree(found.all.list);
	return ret;
}

/* As xattr_permission() has it: of a sticky directory the owner alone. */
static int judge(struct inode *inode, struct mios_fs_judged *file)
{
	unsigned int seq;
	int err;

	do {
		seq = mios_rights_begin(inode);
		err = mios_judge(inode, MAY_WRITE, file);
		if (!err && S_ISDIR(inode->i_mode) && inode->i_mode & S_ISVTX &&
		    !inode_owner_or_capable(&nop_mnt_idmap, inode))
			err = -EPERM;
	} while (mios_rights_changed(inode, seq));
	return err;
}

/* A file with this list that nobody has; NULL: the list is empty. */
static struct inode *holder_make(struct inode *inode,
				 const struct mios_fs_judged *file,
				 const struct mios_attributes *all)
{
	struct mios_mount *m = mount_of(inode);
	const u64 now = ktime_get_real_ns();
	const struct mios_fs_attr attr = {
		.mode = S_IFREG, .uid = file->uid, .gid = file->gid,
		.atime = now, .mtime = now, .ctime = now,
		.holder_of = number_of(inode),
	};
	struct inode *made;
	u64 number;
	int err;

	if (!all->size)
		return NULL;
	err = MIOS_PATIENTLY(m, mios_fs_make_nameless(&m->fs, file, &attr,
						      &number));
	if (err)
		return ERR_PTR(err);
	made = mios_nameless_get(inode->i_sb, number);
	if (IS_ERR(made))
		return made;
	err = mios_nameless_write(made, all->list, all->size);
	if (!err)
		return made;
	iput(made);
	return ERR_PTR(err);
}

static int holder_replace(struct inode *inode, const struct found *found,
			  const struct mios_fs_judged *file)
{
	struct inode *made = holder_make(inode, file, &found->all);
	struct mios_mount *m = mount_of(inode);
	struct mios_fs_holder holder = { };
	int err;

	if (IS_ERR(made))
		return PTR_ERR(made);
	if (made)
		holder = (struct mios_fs_holder){ number_of(made),
						  made->i_ino };
	err = MIOS_PATIENTLY(m, mios_fs_attributes_set(&m->fs, file,
						       &found->holder, &holder,
						       ktime_get_real_ns()));
	/* Where that has failed it has no name, and so it goes. */
	iput(made);
	if (!err && found->holder.inode)
		mios_file_reap(m, found->holder.inode);
	return err;
}

/* -EAGAIN: somebody has been quicker, with these or with what they rest on. */
static int change(struct inode *inode, const struct mios_fs_name *name,
		  const void *value, size_t size, int flags)
{
	struct mios_fs_judged file;
	struct found found;
	bool there;
	int err = judge(inode, &file);

	if (!err)
		err = found_read(inode, &found,
				 value ? mios_attribute_size(name->length, size) : 0);
	if (err)
		return err;
	there = mios_attribute_find(&found.all, name);
	if (there && flags & XATTR_CREATE)
		err = -EEXIST;
	else if (!there && (flags & XATTR_REPLACE || !value))
		err = -ENODATA;
	if (!err)
		err = mios_attribute_put(&found.all, name, value, size);
	if (!err)
		err = holder_replace(inode, &found, &file);
	kvfree(found.all.list);
	return err;
}

/* With the inode locked; other instances come in between. */
static int user_set(const struct xattr_handler *handler, struct mnt_idmap *idmap,
		    struct dentry *dentry, struct inode *inode,
		    const char *name, const void *value, size_t size, int flags)
{
	const struct mios_fs_name text = { name, strlen(name) };
	int err, tries = 0;

	do {
		err = change(inode, &text, value, size, flags);
	} while (mios_judge_again(&err, &tries) && !mios_inode_refresh(inode));
	if (!err)
		mios_inode_refresh(inode);
	return err;
}

const struct xattr_handler mios_user_xattr = {
	.prefix = XATTR_USER_PREFIX,
	.get = user_get,
	.set = user_set,
};

/* Another kernel may have written anything there, 0 too. */
static void name_copy(char *to, const struct mios_fs_attribute *one)
{
	memcpy(to, XATTR_USER_PREFIX, XATTR_USER_PREFIX_LEN);
	memcpy(to + XATTR_USER_PREFIX_LEN, one->name, one->length);
	to[XATTR_USER_PREFIX_LEN + one->length] = 0;
}

/* Those of users alone: who copies all that a file has could not set the others. */
ssize_t mios_listxattr(struct dentry *dentry, char *buffer, size_t size)
{
	const struct mios_fs_attribute *one;
	struct found found;
	ssize_t length = 0;
	u32 at = 0;
	int err = found_read(d_inode(dentry), &found, 0);

	if (err)
		return err;
	while ((one = mios_attribute_next(&found.all, &at))) {
		size_t whole = XATTR_USER_PREFIX_LEN + one->length + 1;

		if (buffer && whole > size - length) {
			length = -ERANGE;
			break;
		}
		if (buffer)
			name_copy(buffer + length, one);
		length += whole;
	}
	kvfree(found.all.list);
	return length;
}
