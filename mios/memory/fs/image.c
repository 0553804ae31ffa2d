// SPDX-License-Identifier: GPL-2.0
/*
 * The image as a whole: made once, by an instance that is alone with it, and
 * found again by every other and by every later boot.
 */
#include "tx.h"

static void view_set(struct mios_fs *fs, struct mios_pool *pool, void *image,
		     u64 phys, struct mios_fs_parts *parts)
{
	struct mios_fs_super *super = image;
	u32 i;

	memset(fs, 0, sizeof(*fs));
	for (i = 0; i < MIOS_POOL_SECTIONS; i++)
		fs->near[i] = i;
	for (i = 0; i < 2; i++)
		fs->key[i] = READ_ONCE(super->key[i]);
	fs->pool = pool;
	fs->super = super;
	fs->phys = phys;
	fs->parts = parts;
	parts->at[MIOS_FS_INODES][0] = image + MIOS_FS_INODES_AT;
	parts->at[MIOS_FS_ENTRIES][0] = image + MIOS_FS_ENTRIES_AT;
	parts->at[MIOS_FS_SEGMENTS_KIND][0] = image + MIOS_FS_SEGMENTS_AT;
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

static void filelocks_make(void *image)
{
	struct mios_fs_filelocks *table = image + MIOS_FS_FILELOCKS_AT;
	u64 i;

	/* The last has no next. */
	for (i = 1; i + 1 < MIOS_FS_FILELOCKS; i++)
		table->lock[i].next = i + 1;
	table->free = 1;		/* and none is taken */
	table->ticket = 1;
}

/* Number 0 of inodes and entries is nobody's. */
static void tables_make(struct mios_fs_super *super)
{
	struct mios_fs_table *table = super->table;

	table[MIOS_FS_INODES].fresh = MIOS_FS_ROOT + 1;
	table[MIOS_FS_INODES].used = 1;
	table[MIOS_FS_INODES].parts = 1;
	table[MIOS_FS_ENTRIES].fresh = 1;
	table[MIOS_FS_ENTRIES].parts = 1;
	table[MIOS_FS_SEGMENTS_KIND].parts = 1;
	table[MIOS_FS_USERS_KIND].parts = 1;
}

int mios_fs_format(void *image, u64 phys, const struct mios_fs_attr *attr,
		   const u64 key[2])
{
	struct mios_fs_super *super = image;
	struct mios_fs_inode *root = image + MIOS_FS_INODES_AT;
	int err = mios_qlock_format(image + MIOS_FS_LOCK_AT, MIOS_FS_PLACES);

	if (err)
		return err;
	filelocks_make(image);
	tables_make(super);
	root += MIOS_FS_ROOT;
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
	super->key[0] = key[0];
	super->key[1] = key[1];
	super->buckets = MIOS_FS_BUCKETS;
	super->next_id = MIOS_FS_ROOT + 1;
	smp_store_release(&super->magic, MIOS_FS_MAGIC); /* the rest first */
	return 0;
}

int mios_fs_attach(struct mios_fs *fs, struct mios_pool *pool, void *image,
		   u64 phys, struct mios_fs_parts *parts)
{
	struct mios_fs_super *super = image;

	if (smp_load_acquire(&super->magic) != MIOS_FS_MAGIC) /* then the rest */
		return -EBADMSG;
	if (READ_ONCE(super->version) != MIOS_FS_VERSION)
		return -EPROTO;
	if (READ_ONCE(super->size) != sizeof(*super) ||
	    READ_ONCE(super->self) != phys)
		return -EBADMSG;
	view_set(fs, pool, image, phys, parts);
	return locks_attach(fs, image + MIOS_FS_LOCK_AT);
}
