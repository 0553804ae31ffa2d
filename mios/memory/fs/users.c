// SPDX-License-Identifier: GPL-2.0
/*
 * What each user has of the files, as the extended attribute mios.users of the
 * root: a line for each uid, "1000 12 340": files, and pages, those of indices not
 * counted.  "mios pool --users" shows it.
 */
#include <linux/fs.h>
#include <linux/sched/signal.h>
#include <linux/seq_buf.h>
#include <linux/slab.h>
#include <linux/xarray.h>
#include <linux/xattr.h>

#include "vfs.h"

/* The lines of so many fit; all others are one, "-". */
#define USERS_MAX	1024

struct user {
	u64 files;
	u64 pages;
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

static void users_show(struct seq_buf *s, struct count *count)
{
	struct user *user;
	unsigned long uid;

	xa_for_each(&count->user, uid, user)
		seq_buf_printf(s, "%lu %llu %llu\n", uid, user->files,
			       user->pages);
	if (count->others.files)
		seq_buf_printf(s, "- %llu %llu\n", count->others.files,
			       count->others.pages);
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
	ret = files_count(m, &count);
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
