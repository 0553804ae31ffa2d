// SPDX-License-Identifier: GPL-2.0
/*
 * Changes of names and attributes.  Each is one change of tx.c: looked at
 * under the lock, put into the record, carried out, or given up as if it had
 * not been.  What the caller has checked before may no longer be so, and is
 * checked again here.
 */
#include "change.h"
#include "share.h"

bool mios_dir_is_alive(struct mios_fs *fs, u64 dir)
{
	u64 mode;

	if (!inode_exists(fs, dir))
		return false;
	mode = mios_tx_get(fs, &inode_at(fs, dir)->mode);
	return is_directory(mode) && nlink_of(mode);
}

int mios_name_find(struct mios_fs *fs, u64 dir, const struct mios_fs_name *name,
		   struct mios_found *found)
{
	u64 hash = mios_name_hash(fs, dir, name), *link;
	u32 steps;
	u64 at;

	if (!name->length || name->length > MIOS_FS_NAME)
		return -ENAMETOOLONG;
	if (!mios_dir_is_alive(fs, dir))
		return -ENOENT;
	link = mios_bucket_at(fs, hash);
	for (steps = 0; steps < MIOS_CHAIN_MAX; steps++) {
		struct mios_fs_entry *entry;

		at = (u32)mios_tx_get(fs, link);
		if (!entry_exists(fs, at))
			return -ENOENT;
		entry = entry_at(fs, at);
		if (mios_name_is(fs, entry, dir, hash, name)) {
			found->entry = at;
			found->inode = entry->inode;
			found->link = link;
			return inode_exists(fs, found->inode) ? 0 : -EBADMSG;
		}
		link = &entry->next;
	}
	return -EBADMSG;
}

/* So many names more or less; the first one comes with the file. */
void mios_links_add(struct mios_fs *fs, u64 inode, int more)
{
	u64 mode = mios_tx_get(fs, &inode_at(fs, inode)->mode);
	u32 before = nlink_of(mode), links = before + more;

	mios_tx_put(fs, &inode_at(fs, inode)->mode,
		    upper_lower(links, mode_of(mode)));
	mios_tx_raise(fs, sequence_of_file(fs, inode));
	if (!is_directory(mode) && before && links)
		mios_share_names(fs, inode, more);
}

/*
 * The file has become another one, if not in its contents.  Who makes the change
 * has waited since @now, and clocks differ: its time never goes back, nor stays.
 */
u64 mios_inode_changed(struct mios_fs *fs, u64 inode, u64 now)
{
	u64 *ctime = &inode_at(fs, inode)->ctime;
	u64 last = READ_ONCE(*ctime);

	if (now <= last)
		now = last + 1;
	mios_tx_put(fs, ctime, now);
	mios_tx_raise(fs, sequence_of_file(fs, inode));
	return now;
}

/* So has a directory, in its names. */
void mios_names_changed(struct mios_fs *fs, u64 dir, u64 now)
{
	mios_tx_put(fs, &inode_at(fs, dir)->mtime,
		    mios_inode_changed(fs, dir, now));
}

int mios_place_find(struct mios_fs *fs, const struct mios_fs_place *at,
		    struct mios_found *found)
{
	int err = -ENOENT;

	if (mios_dir_is_alive(fs, at->dir.inode))
		err = mios_judged_holds(fs, &at->dir);
	return err ? err : mios_name_find(fs, at->dir.inode, &at->name, found);
}

int mios_place_judged(struct mios_fs *fs, const struct mios_fs_place *at,
		      u64 inode)
{
	struct mios_fs_judged file = at->file;
	int err;

	file.inode = inode;
	err = mios_judged_holds(fs, &file);
	return err == -EAGAIN && !(file.by & MIOS_FS_BY_ID) ? -EPERM : err;
}

static u64 maker(const struct mios_fs *fs)
{
	return fs->pool->self | (u64)fs->pool->epoch << MIOS_FS_MAKER_EPOCH;
}

/* Of this instance's mount: no part of the image makes more of them. */
static bool is_full(const struct mios_fs *fs)
{
	u64 most = READ_ONCE(fs->files);

	return most && READ_ONCE(fs->super->table[MIOS_FS_INODES].used) >= most;
}

/* A new file, of @parent if it is a directory. */
int mios_inode_make(struct mios_fs *fs, const struct mios_fs_attr *attr,
		    u32 links, u64 parent, u64 *number)
{
	struct mios_fs_inode *inode;
	u32 payer;
	u64 id;
	int err;

	*number = is_full(fs) ? 0 : mios_number_take(fs, MIOS_FS_INODES);
	if (!*number)
		return -ENOSPC;
	err = mios_share_make(fs, attr, &payer);
	if (err)
		return err;
	inode = inode_at(fs, *number);
	id = mios_tx_get(fs, &fs->super->next_id);
	mios_tx_put(fs, &fs->super->next_id, id + 1);
	mios_tx_put(fs, &inode->id, id);
	mios_tx_put(fs, &inode->mode, upper_lower(links, attr->mode));
	mios_tx_put(fs, &inode->owner, upper_lower(attr->gid, attr->uid));
	mios_tx_put(fs, &inode->size, attr->size);
	mios_tx_put(fs, &inode->atime, attr->atime);
	mios_tx_put(fs, &inode->mtime, attr->mtime);
	mios_tx_put(fs, &inode->ctime, attr->ctime);
	mios_tx_put(fs, &inode->parent, parent ? parent : maker(fs));
	mios_tx_put(fs, &inode->next, is_device(attr->mode) ? attr->rdev :
		    attr->policy);
	mios_tx_put(fs, &inode->cut, upper_lower(payer, 0));
	mios_tx_raise(fs, sequence_of_file(fs, *number));
	return 0;
}

/* An entry for a name that a directory which is there has not got yet. */
static int entry_new(struct mios_fs *fs, const struct mios_fs_place *place,
		     u64 *at)
{
	struct mios_found found;
	int err;

	mios_buckets_grow(fs);
	err = mios_place_find(fs, place, &found);
	if (err != -ENOENT)
		return err ? err : -EEXIST;
	if (!mios_dir_is_alive(fs, place->dir.inode))
		return -ENOENT;
	*at = mios_entry_take(fs);
	return *at ? 0 : -ENOSPC;
}

int mios_entry_insert_new(struct mios_fs *fs, u64 at, u64 dir,
			  const struct mios_fs_name *name, u64 inode)
{
	u64 *sequence = sequence_of_file(fs, dir);

	mios_entry_list(fs, dir, at);
	mios_tx_raise(fs, sequence);
	mios_tx_put(fs, &entry_at(fs, at)->born, mios_tx_raised(sequence));
	return mios_entry_insert(fs, at, dir, name, inode);
}

static int make(struct mios_fs *fs, const struct mios_fs_place *place,
		struct mios_fs_attr *attr, u64 *number)
{
	bool directory = is_directory(attr->mode);
	u64 dir = place->dir.inode, at;
	int err = entry_new(fs, place, &at);

	if (err)
		return err;
	attr->nlink = 1 + directory;
	err = mios_inode_make(fs, attr, attr->nlink, directory ? dir : 0,
			      number);
	if (err)
		return err;
	attr->id = mios_tx_get(fs, &inode_at(fs, *number)->id);
	err = mios_entry_insert_new(fs, at, dir, &place->name, *number);
	mios_names_changed(fs, dir, attr->ctime);
	if (directory)
		mios_links_add(fs, dir, 1);
	return err;
}

static int make_once(struct mios_fs *fs, struct mios_fs_place *at,
		     struct mios_fs_attr *attr, u64 *inode)
{
	int err = mios_tx_begin(fs);

	if (err)
		return err;
	err = make(fs, at, attr, inode);
	if (!err) {
		mios_tx_apply(fs);
		/* As it is with the lock: nothing has followed yet. */
		attr->sequence = mios_fs_sequence(fs, *inode);
		at->stamp = mios_name_stamp(fs, at->dir.inode, &at->name);
	}
	mios_tx_end(fs);
	return err;
}

int mios_fs_make(struct mios_fs *fs, struct mios_fs_place *at,
		 struct mios_fs_attr *attr, u64 *inode)
{
	int err;

	do {
		err = make_once(fs, at, attr, inode);
	} while (mios_part_grown(fs, &err));
	return err;
}

static int make_nameless(struct mios_fs *fs, const struct mios_fs_judged *dir,
			 const struct mios_fs_attr *attr, u64 *number)
{
	int err = mios_judged_holds(fs, dir);

	if (!err)
		err = mios_inode_make(fs, attr, 0, 0, number);
	if (err)
		return err;
	/* With it, so that nobody reaps it; whoever tries to open it loses. */
	mios_tx_put(fs, &inode_at(fs, *number)->open, 1ull << fs->pool->self);
	return 0;
}

int mios_fs_make_nameless(struct mios_fs *fs, const struct mios_fs_judged *dir,
			  const struct mios_fs_attr *attr, u64 *inode)
{
	int err;

	do {
		err = mios_tx_begin(fs);
		if (!err)
			err = mios_tx_finish(fs, make_nameless(fs, dir, attr,
							       inode));
	} while (mios_part_grown(fs, &err));
	return err;
}

static int add_link(struct mios_fs *fs, const struct mios_fs_place *place,
		    bool first, u64 now)
{
	u64 inode = place->file.inode, dir = place->dir.inode, at, mode;
	int err = mios_judged_holds(fs, &place->file);

	if (err)
		return -ESTALE;
	mode = mios_tx_get(fs, &inode_at(fs, inode)->mode);
	if (is_directory(mode))
		return -EPERM;
	if (!nlink_of(mode) && !first)
		return -ENOENT;
	if (nlink_of(mode) == ~0u)
		return -EMLINK;
	if (nlink_of(mode) && mios_share_is_full(fs, inode))
		return -EDQUOT;
	err = entry_new(fs, place, &at);
	if (err)
		return err;
	err = mios_entry_insert_new(fs, at, dir, &place->name, inode);
	mios_links_add(fs, inode, 1);
	mios_inode_changed(fs, inode, now);
	mios_names_changed(fs, dir, now);
	return err;
}

int mios_fs_link(struct mios_fs *fs, const struct mios_fs_place *at, bool first,
		 u64 now)
{
	int err;

	do {
		err = mios_tx_begin(fs);
		if (!err)
			err = mios_tx_finish(fs, add_link(fs, at, first, now));
	} while (mios_part_grown(fs, &err));
	return err;
}

static bool is_empty(struct mios_fs *fs, u64 dir)
{
	return !mios_tx_get(fs, &inode_at(fs, dir)->pages);
}

int mios_removable(struct mios_fs *fs, u64 inode, bool directory)
{
	u64 mode = mios_tx_get(fs, &inode_at(fs, inode)->mode);

	if (is_directory(mode) != directory)
		return directory ? -ENOTDIR : -EISDIR;
	if (!nlink_of(mode))
		return -EBADMSG;
	return directory && !is_empty(fs, inode) ? -ENOTEMPTY : 0;
}

void mios_name_drop(struct mios_fs *fs, u64 dir, const struct mios_found *found,
		    bool directory, u64 now)
{
	const u64 inode = found->inode;

	mios_entry_unhook(fs, found->link, found->entry);
	mios_entry_free(fs, dir, found->entry);
	mios_links_add(fs, inode, directory ? -2 : -1);
	if (directory)
		mios_links_add(fs, dir, -1);
	mios_inode_changed(fs, inode, now);
}

static int take_away(struct mios_fs *fs, struct mios_fs_place *at,
		     bool directory, u64 now)
{
	struct mios_found found;
	int err = mios_place_find(fs, at, &found);

	if (!err)
		err = mios_place_judged(fs, at, found.inode);
	if (!err)
		err = mios_removable(fs, found.inode, directory);
	if (err)
		return err;
	at->file.inode = found.inode;
	mios_name_drop(fs, at->dir.inode, &found, directory, now);
	mios_names_changed(fs, at->dir.inode, now);
	return 0;
}

int mios_fs_remove(struct mios_fs *fs, struct mios_fs_place *at, bool directory,
		   u64 now)
{
	int err = mios_tx_begin(fs);

	return err ? err : mios_tx_finish(fs, take_away(fs, at, directory, now));
}
