// SPDX-License-Identifier: GPL-2.0
/*
 * What only miosfs knows of a file, as extended attributes, beside those of users
 * (user_xattr.c); but for the last, nobody sets them:
 *
 *   mios.maker	which instance has made it, and in which epoch: "2 5"
 *   mios.open	which instances have it open, or mapped: "0 2", or nothing
 *   mios.pages	on which nodes its pages lie, and how many: "0:12 2:1"
 *   mios.large	how many 2 MiB of it lie so that they can be mapped as one: "3"
 *   mios.pool	of the root: the sections of the pool, a line each: node, address
 *		and size, then pages: the pool's own, and of each instance those
 *		that it has allocated for files, and that it holds: "1:120:3"
 *   mios.users, mios.share	of the root: users.c
 *   mios.policy where its new pages are to be: policy.c; who may write it may
 *		set this
 *
 * Who asks by name has it open for that, and is left out.  "mios shm" finds by
 * the first two what nobody needs any more, "mios numastat" and "mios pool" tell
 * of the others; all are old when the caller has them.
 */
#include <linux/bitops.h>
#include <linux/dcache.h>
#include <linux/fs.h>
#include <linux/sched/signal.h>
#include <linux/seq_buf.h>
#include <linux/slab.h>
#include <linux/xattr.h>

#include "vfs.h"

/* "63 " for each instance; a maker is shorter. */
#define TEXT_MAX	(MIOS_FS_INSTANCES * 3 + 1)

/* As getxattr(2) wants it: the length alone where there is no @buffer. */
int mios_xattr_answer(const char *text, int length, void *buffer, size_t size)
{
	if (!buffer)
		return length;
	if (length > size)
		return -ERANGE;
	memcpy(buffer, text, length);
	return length;
}

static int maker_get(const struct xattr_handler *handler,
		     struct dentry *dentry, struct inode *inode,
		     const char *name, void *buffer, size_t size)
{
	struct mios_mount *m = mount_of(inode);
	struct mios_fs_attr attr;
	char text[TEXT_MAX];
	int length, err;

	if (!S_ISREG(inode->i_mode))
		return -ENODATA;
	err = MIOS_LOOK(m, mios_fs_stat(&m->fs, number_of(inode), &attr));
	if (err || attr.id != inode->i_ino)
		return err ? err : -ESTALE;
	/* Made before this was written down. */
	if (!attr.parent)
		return -ENODATA;
	length = scnprintf(text, sizeof(text), "%llu %llu",
			   attr.parent & (BIT(MIOS_FS_MAKER_EPOCH) - 1),
			   attr.parent >> MIOS_FS_MAKER_EPOCH);
	return mios_xattr_answer(text, length, buffer, size);
}

/* One reference to each is the caller's own. */
static bool is_open_here(struct dentry *dentry, struct inode *inode)
{
	return d_count(dentry) > 1 || atomic_read(&inode->i_count) > 1;
}

static int open_get(const struct xattr_handler *handler, struct dentry *dentry,
		    struct inode *inode, const char *name, void *buffer,
		    size_t size)
{
	struct mios_mount *m = mount_of(inode);
	u64 open = READ_ONCE(inode_at(&m->fs, number_of(inode))->open);
	char text[TEXT_MAX];
	int i, length = 0;

	if (!S_ISREG(inode->i_mode) && !S_ISDIR(inode->i_mode))
		return -ENODATA;
	if (!is_open_here(dentry, inode))
		open &= ~BIT_ULL(m->pool.self);
	for (i = 0; i < MIOS_FS_INSTANCES; i++)
		if (open & BIT_ULL(i))
			length += scnprintf(text + length,
					    sizeof(text) - length, "%s%d",
					    length ? " " : "", i);
	return mios_xattr_answer(text, length, buffer, size);
}

/* How many pages of the file lie in each section. */
static int pages_count(struct mios_mount *m, u64 number, u64 *count)
{
	u64 index = 0, phys;
	int section;

	while (mios_fs_next(&m->fs, number, &index, &phys) == 1) {
		section = mios_pool_section(&m->pool, phys);
		if (section >= 0)
			count[section]++;
		if (index % MIOS_FS_FANOUT)
			continue;
		if (fatal_signal_pending(current))
			return -EINTR;
		cond_resched();
	}
	return 0;
}

static int pages_get(const struct xattr_handler *handler,
		     struct dentry *dentry, struct inode *inode,
		     const char *name, void *buffer, size_t size)
{
	struct mios_mount *m = mount_of(inode);
	u64 count[MIOS_POOL_SECTIONS] = {};
	char *text;
	u32 i, length = 0;
	int err;

	if (!S_ISREG(inode->i_mode))
		return -ENODATA;
	text = kmalloc(PAGE_SIZE, GFP_KERNEL);
	err = text ? pages_count(m, number_of(inode), count) : -ENOMEM;
	for (i = 0; i < m->pool.nr_sections && !err; i++)
		if (count[i])
			length += scnprintf(text + length, PAGE_SIZE - length,
					    "%s%u:%llu", length ? " " : "",
					    m->pool.section[i].node, count[i]);
	if (!err)
		err = mios_xattr_answer(text, length, buffer, size);
	kfree(text);
	return err;
}

static int large_get(const struct xattr_handler *handler,
		     struct dentry *dentry, struct inode *inode,
		     const char *name, void *buffer, size_t size)
{
	struct mios_mount *m = mount_of(inode);
	u64 index = 0, count = 0, phys;
	char text[TEXT_MAX];

	if (!S_ISREG(inode->i_mode))
		return -ENODATA;
	/* Behind each page that is there the next 2 MiB. */
	while (mios_fs_next(&m->fs, number_of(inode), &index, &phys) == 1) {
		index = round_down(index - 1, MIOS_EXTENT_PAGES);
		count += !mios_run_find(inode, index, false, &phys);
		index += MIOS_EXTENT_PAGES;
		if (fatal_signal_pending(current))
			return -EINTR;
		cond_resched();
	}
	return mios_xattr_answer(text, scnprintf(text, sizeof(text), "%llu",
						 count), buffer, size);
}

static void section_show(struct seq_buf *s, const struct mios_section *section,
			 const struct mios_pool_usage *usage)
{
	u32 i;

	seq_buf_printf(s, "%u %#llx %llu %llu", section->node, section->base,
		       (u64)section->nr_extents * MIOS_EXTENT_SIZE,
		       usage->meta);
	for (i = 0; i < MIOS_POOL_INSTANCES; i++)
		if (usage->made[i] || usage->held[i])
			seq_buf_printf(s, " %u:%llu:%llu", i, usage->made[i],
				       usage->held[i]);
	seq_buf_printf(s, "\n");
}

/* All records of a section are read: seconds, at a terabyte. */
static int section_count(const struct mios_mount *m, u32 section,
			 struct mios_pool_usage *usage)
{
	u32 extent = 0;

	while (mios_section_usage(&m->pool, section, &extent, usage)) {
		if (fatal_signal_pending(current))
			return -EINTR;
		cond_resched();
	}
	return 0;
}

static int pool_get(const struct xattr_handler *handler, struct dentry *dentry,
		    struct inode *inode, const char *name, void *buffer,
		    size_t size)
{
	struct mios_mount *m = mount_of(inode);
	struct mios_pool_usage *usage;
	struct seq_buf s;
	int ret = -ENOMEM;
	char *text;
	u32 i;

	if (number_of(inode) != MIOS_FS_ROOT)
		return -ENODATA;
	text = kvmalloc(XATTR_SIZE_MAX, GFP_KERNEL);
	usage = kmalloc(sizeof(*usage), GFP_KERNEL);
	if (!text || !usage)
		goto out;
	seq_buf_init(&s, text, XATTR_SIZE_MAX);
	for (i = 0; i < m->pool.nr_sections; i++) {
		ret = section_count(m, i, usage);
		if (ret)
			goto out;
		section_show(&s, &m->pool.section[i], usage);
	}
	ret = seq_buf_has_overflowed(&s) ? -E2BIG :
		mios_xattr_answer(text, seq_buf_used(&s), buffer, size);
out:
	kfree(usage);
	kvfree(text);
	return ret;
}

static int policy_get(const struct xattr_handler *handler,
		      struct dentry *dentry, struct inode *inode,
		      const char *name, void *buffer, size_t size)
{
	struct mios_mount *m = mount_of(inode);
	char text[TEXT_MAX];
	int length;

	if (!S_ISREG(inode->i_mode))
		return -ENODATA;
	length = mios_policy_show(mios_fs_policy(&m->fs, number_of(inode)),
				  text, sizeof(text));
	return length < 0 ? length : mios_xattr_answer(text, length, buffer, size);
}

/* With the inode locked.  To remove it is to set the default. */
static int policy_set(const struct xattr_handler *handler,
		      struct mnt_idmap *idmap, struct dentry *dentry,
		      struct inode *inode, const char *name, const void *value,
		      size_t size, int flags)
{
	struct mios_mount *m = mount_of(inode);
	struct mios_fs_attr attr = { .ctime = ktime_get_real_ns() };
	char text[TEXT_MAX] = "default";
	struct mios_fs_judged file;
	int err;

	if (!S_ISREG(inode->i_mode))
		return -EOPNOTSUPP;
	if (size >= sizeof(text))
		return -EINVAL;
	if (value) {
		memcpy(text, value, size);
		text[size] = 0;
	}
	err = mios_policy_parse(text, &attr.policy);
	if (!err)
		err = mios_policy_fit(m, &attr.policy);
	if (err)
		return err;
	err = MIOS_JUDGED(m, mios_judge(inode, MAY_WRITE, &file),
			  mios_fs_setattr(&m->fs, &file, &attr,
					  MIOS_FS_SET_POLICY),
			  mios_inode_refresh(inode));
	if (!err)
		err = mios_inode_refresh(inode);
	if (err)
		return err;
	return attr.policy & MIOS_FS_POLICY_EAGER ?
		mios_file_allocate(inode, 0, i_size_read(inode), 0) : 0;
}

static const struct xattr_handler maker_handler = {
	.name = "mios.maker",
	.get = maker_get,
};

static const struct xattr_handler open_handler = {
	.name = "mios.open",
	.get = open_get,
};

static const struct xattr_handler pages_handler = {
	.name = "mios.pages",
	.get = pages_get,
};

static const struct xattr_handler large_handler = {
	.name = "mios.large",
	.get = large_get,
};

static const struct xattr_handler pool_handler = {
	.name = "mios.pool",
	.get = pool_get,
};

static const struct xattr_handler policy_handler = {
	.name = "mios.policy",
	.get = policy_get,
	.set = policy_set,
};

const struct xattr_handler * const mios_xattr_handlers[] = {
	&maker_handler,
	&open_handler,
	&pages_handler,
	&large_handler,
	&policy_handler,
	&pool_handler,
	&mios_users_xattr,
	&mios_share_xattr,
	&mios_user_xattr,
	NULL
};
