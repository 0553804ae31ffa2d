// SPDX-License-Identifier: GPL-2.0
/*
 * The image as a whole: made once, by an instance that is alone with it, and
 * found again by every other and by every later boot.
 */
#include "tx.h"

/* As many files as names, for the size of an image. */
static u64 numbers_for(u64 size)
{
	return (size - MIOS_FS_INODES_AT) / (sizeof(struct mios_fs_inode) +
					     sizeof(struct mios_fs_entry));
}

static bool size_is_sane(u64 size)
{
	return size && !(size % MIOS_EXTENT_SIZE) && size <= MIOS_FS_SIZE_MAX;
}

static void view_set(struct mios_fs *fs, struct mios_pool *pool, void *image,
		     u64 size)
{
	u32 i;

	memset(fs, 0, sizeof(*fs));
	for (i = 0; i < MIOS_POOL_SECTIONS; i++)
		fs->near[i] = i;
	fs->pool = pool;
	fs->super = image;
	fs->size = size;
	fs->nr_inodes = numbers_for(size);
	fs->nr_entries = numbers_for(size);
	fs->inode = image + MIOS_FS_INODES_AT;
	fs->entry = (void *)(fs->inode + fs->nr_inodes);
}

static int locks_attach(struct mios_fs *fs, void *memory)
{
	u32 seat = fs->pool->self, epoch = fs->pool->epoch;
	int err = mios_qlock_attach(&fs->lock, memory, MIOS_FS_LOCK_SIZE, seat,
				    epoch);

	return err ? err : mios_qlock_attach(&fs->recovery, memory,
					     MIOS_FS_LOCK_SIZE,
					     MIOS_FS_INSTANCES + seat, epoch);
}

static void filelocks_make(struct mios_fs *fs)
{
	struct mios_fs_filelocks *table = filelocks_of(fs);
	u64 i;

	for (i = 1; i + 1 < MIOS_FS_FILELOCKS; i++)
		table->lock[i].next = i + 1;
	table->free = 1;
	table->ticket = 1;
}

int mios_fs_format(struct mios_pool *pool, void *image, u64 phys, u64 size,
		   const struct mios_fs_attr *attr)
{
	struct mios_fs_super *super = image;
	struct mios_fs_inode *root;
	struct mios_fs fs;
	int err;
	u64 i;

	if (!size_is_sane(size))
		return -EINVAL;
	err = mios_qlock_format(image + MIOS_FS_LOCK_AT, MIOS_FS_PLACES);
	if (err)
		return err;
	view_set(&fs, pool, image, size);
	/* The last of each list has no next. */
	for (i = MIOS_FS_ROOT + 1; i + 1 < fs.nr_inodes; i++)
		inode_at(&fs, i)->next = i + 1;
	for (i = 1; i + 1 < fs.nr_entries; i++)
		entry_at(&fs, i)->next = i + 1;
	filelocks_make(&fs);
	root = inode_at(&fs, MIOS_FS_ROOT);
	root->id = MIOS_FS_ROOT;
	root->mode = upper_lower(2, (attr->mode & ~MIOS_FS_TYPE) |
				 MIOS_FS_DIRECTORY);
	root->owner = upper_lower(attr->gid, attr->uid);
	root->atime = attr->atime;
	root->mtime = attr->mtime;
	root->ctime = attr->ctime;
	root->parent = MIOS_FS_ROOT;
	super->version = MIOS_FS_VERSION;
	super->size = sizeof(*super);
	super->self = phys;
	super->image_size = size;
	super->nr_inodes = fs.nr_inodes;
	super->nr_entries = fs.nr_entries;
	super->free_inode = MIOS_FS_ROOT + 1;
	super->free_entry = 1;
	super->next_id = MIOS_FS_ROOT + 1;
	smp_store_release(&super->magic, MIOS_FS_MAGIC); /* the rest first */
	return 0;
}

int mios_fs_attach(struct mios_fs *fs, struct mios_pool *pool, void *image,
		   u64 phys, u64 size)
{
	struct mios_fs_super *super = image;

	if (!size_is_sane(size))
		return -EINVAL;
	if (smp_load_acquire(&super->magic) != MIOS_FS_MAGIC) /* then the rest */
		return -EBADMSG;
	if (READ_ONCE(super->version) != MIOS_FS_VERSION)
		return -EPROTO;
	if (READ_ONCE(super->size) != sizeof(*super) ||
	    READ_ONCE(super->self) != phys ||
	    READ_ONCE(super->image_size) != size ||
	    READ_ONCE(super->nr_inodes) != numbers_for(size) ||
	    READ_ONCE(super->nr_entries) != numbers_for(size))
		return -EBADMSG;
	view_set(fs, pool, image, size);
	return locks_attach(fs, image + MIOS_FS_LOCK_AT);
}
