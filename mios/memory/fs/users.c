// SPDX-License-Identifier: GPL-2.0
/*
 * What each user has of the files, as the extended attribute mios.users of the
 * root: a line for each uid, "1000 12 340 12 343": files, and pages, those of indices
 * not counted, that he owns; then what he pays for of his share: files and more names
 * of them, and pages, those of indices too.  "mios pool --users" shows it.
 *
 * And mios.share of the root, how much each may have: bytes and files, "1073741824
 * 1000", 0 for any number.  "mios set shm.user" sets it.
 */
#include <linux/capability.h>
#include <linux/fs.h>
#include <linux/sched/signal.h>
#include <linux/seq_buf.h>
#include <linux/slab.h>
#include <linux/xarray.h>
#include <linux/xattr.h>

#include "share.h"
#include "vfs.h"

/* The lines of so many fit; all others are one, "-". */
#define USERS_MAX	1024

/* Two numbers of 64 bits */
#define SHARE_TEXT	44

struct user {
	u64 files;
	u64 pages;
	struct mios_fs_share paid;
};

/**
 * struct count - what has been counted
 * @user:	by uid
 * @nr:		how many there are
 * @others:	all whom there is no room for
 */
struct count {
	struct xarray user;
	unsigned int nr;
	struct user others;
};

static struct user *user_of(struct count *count, u32 uid)
{
	struct user *user = xa_load(&count->user, uid);

	if (user)
		return user;
	if (count->nr == USERS_MAX)
		return &count->others;
	user = kzalloc(sizeof(*user), GFP_KERNEL);
	if (!user)
		return NULL;
	if (xa_err(xa_store(&count->user, uid, user, GFP_KERNEL))) {
		kfree(user);
		return NULL;
	}
	count->nr++;
	return user;
}

/* All inodes: seconds, of some ten million.  What changes meanwhile may be either. */
static int files_count(struct mios_mount *m, struct count *count)
{
	u64 number;

	for (number = mios_fs_inode_next(&m->fs, 0); number;
	     number = mios_fs_inode_next(&m->fs, number)) {
		const struct mios_fs_inode *image = inode_at(&m->fs, number);
		struct user *user;

		if (fatal_signal_pending(current))
			return -EINTR;
		cond_resched();
		if (!READ_ONCE(image->id))
			continue;
		user = user_of(count, READ_ONCE(image->owner));
		if (!user)
			return -ENOMEM;
		user->files++;
		user->pages += mios_fs_pages(&m->fs, number);
	}
	return 0;
}

static int paid_count(struct mios_mount *m, struct count *count)
{
	struct mios_fs_payer payer;
	u32 slot = 0;

	while (mios_fs_payer_next(&m->fs, &slot, &payer)) {
		struct user *user = payer.others ? &count->others :
				    user_of(count, payer.uid);

		cond_resched();
		if (!user)
			return -ENOMEM;
		user->paid.files += payer.has.files;
		user->paid.pages += payer.has.pages;
	}
	return 0;
}

static void user_show(struct seq_buf *s, const struct user *user)
{
	seq_buf_printf(s, " %llu %llu %llu %llu\n", user->files, user->pages,
		       user->paid.files, user->paid.pages);
}

static void users_show(struct seq_buf *s, struct count *count)
{
	struct user *user;
	unsigned long uid;

	xa_for_each(&count->user, uid, user) {
		seq_buf_printf(s, "%lu", uid);
		user_show(s, user);
	}
	if (count->others.files || count->others.paid.files) {
		seq_buf_puts(s, "-");
		user_show(s, &count->others);
	}
}

static void count_end(struct count *count)
{
	struct user *user;
	unsigned long uid;

	xa_for_each(&count->user, uid, user)
		kfree(user);
	xa_destroy(&count->user);
}

static int users_get(const struct xattr_handler *handler, struct dentry *dentry,
		     struct inode *inode, const char *name, void *buffer,
		     size_t size)
{
	struct mios_mount *m = mount_of(inode);
	struct count count = { };
	struct seq_buf s;
	char *text;
	int ret;

	if (number_of(inode) != MIOS_FS_ROOT)
		return -ENODATA;
	text = kvmalloc(XATTR_SIZE_MAX, GFP_KERNEL);
	if (!text)
		return -ENOMEM;
	xa_init(&count.user);
	ret = files_count(m, &count) ?: paid_count(m, &count);
	if (!ret) {
		seq_buf_init(&s, text, XATTR_SIZE_MAX);
		users_show(&s, &count);
		ret = seq_buf_has_overflowed(&s) ? -E2BIG :
			mios_xattr_answer(text, seq_buf_used(&s), buffer, size);
	}
	count_end(&count);
	kvfree(text);
	return ret;
}

const struct xattr_handler mios_users_xattr = {
	.name = "mios.users",
	.get = users_get,
};

static int share_get(const struct xattr_handler *handler, struct dentry *dentry,
		     struct inode *inode, const char *name, void *buffer,
		     size_t size)
{
	const struct mios_fs_share share = mios_fs_share(&mount_of(inode)->fs);
	char text[SHARE_TEXT];
	int length;

	if (number_of(inode) != MIOS_FS_ROOT)
		return -ENODATA;
	length = scnprintf(text, sizeof(text), "%llu %llu",
			   share.pages << PAGE_SHIFT, share.files);
	return mios_xattr_answer(text, length, buffer, size);
}

/* "BYTES FILES"; a share that is not 0 is a page at least. */
static int share_parse(const void *value, size_t size,
		       struct mios_fs_share *share)
{
	char text[SHARE_TEXT];
	u64 bytes;
	int rest = 0;

	if (!size || size >= sizeof(text))
		return -EINVAL;
	memcpy(text, value, size);
	text[size] = 0;
	if (sscanf(text, "%llu %llu%n", &bytes, &share->files, &rest) != 2 ||
	    text[rest])
		return -EINVAL;
	share->pages = bytes >> PAGE_SHIFT;
	return bytes && !share->pages ? -EINVAL : 0;
}

/* To remove it is to let everybody have any number. */
static int share_set(const struct xattr_handler *handler,
		     struct mnt_idmap *idmap, struct dentry *dentry,
		     struct inode *inode, const char *name, const void *value,
		     size_t size, int flags)
{
	struct mios_mount *m = mount_of(inode);
	struct mios_fs_share share = { };
	int err = value ? share_parse(value, size, &share) : 0;

	if (number_of(inode) != MIOS_FS_ROOT)
		return -EOPNOTSUPP;
	if (!capable(CAP_SYS_ADMIN))
		return -EPERM;
	return err ? err :
		MIOS_PATIENTLY(m, mios_fs_share_set(&m->fs, &share));
}

const struct xattr_handler mios_share_xattr = {
	.name = "mios.share",
	.get = share_get,
	.set = share_set,
};
