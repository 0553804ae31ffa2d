// SPDX-License-Identifier: GPL-2.0
/*
 * What only miosfs knows of a file, as extended attributes that nobody sets:
 *
 *   mios.maker	which instance has made it, and in which epoch: "2 5"
 *   mios.open	which instances have it open, or mapped: "0 2", or nothing
 *
 * Who asks by name has it open for that, and is left out.  "mios shm" finds by
 * them what nobody needs any more; both are old when the caller has them.
 */
#include <linux/bitops.h>
#include <linux/dcache.h>
#include <linux/fs.h>
#include <linux/xattr.h>

#include "vfs.h"

/* "63 " for each instance; a maker is shorter. */
#define TEXT_MAX	(MIOS_FS_INSTANCES * 3 + 1)

/* As getxattr(2) wants it: the length alone where there is no @buffer. */
static int answer(const char *text, int length, void *buffer, size_t size)
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
	err = MIOS_LOOK(mios_fs_stat(&m->fs, number_of(inode), &attr));
	if (err || attr.id != inode->i_ino)
		return err ? err : -ESTALE;
	/* Made before this was written down. */
	if (!attr.parent)
		return -ENODATA;
	length = scnprintf(text, sizeof(text), "%llu %llu",
			   attr.parent & (BIT(MIOS_FS_MAKER_EPOCH) - 1),
			   attr.parent >> MIOS_FS_MAKER_EPOCH);
	return answer(text, length, buffer, size);
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
	u64 open = READ_ONCE(m->fs.inode[number_of(inode)].open);
	char text[TEXT_MAX];
	int i, length = 0;

	if (!S_ISREG(inode->i_mode))
		return -ENODATA;
	if (!is_open_here(dentry, inode))
		open &= ~BIT_ULL(m->pool.self);
	for (i = 0; i < MIOS_FS_INSTANCES; i++)
		if (open & BIT_ULL(i))
			length += scnprintf(text + length,
					    sizeof(text) - length, "%s%d",
					    length ? " " : "", i);
	return answer(text, length, buffer, size);
}

static const struct xattr_handler maker_handler = {
	.name = "mios.maker",
	.get = maker_get,
};

static const struct xattr_handler open_handler = {
	.name = "mios.open",
	.get = open_get,
};

const struct xattr_handler * const mios_xattr_handlers[] = {
	&maker_handler,
	&open_handler,
	NULL
};
