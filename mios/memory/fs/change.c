// SPDX-License-Identifier: GPL-2.0
/*
 * Changes of names and attributes.  Each is one change of tx.c: looked at
 * under the lock, put into the record, carried out, or given up as if it had
 * not been.  What the caller has checked before may no longer be so, and is
 * checked again here.
 */
#include "tx.h"

/* Directories in each other: where there are more no directory is moved to. */
#define DEPTH_MAX	(1u << 20)

/* An entry that is looked for, and the word that leads to it. */
struct found {
	u64 entry;
	u64 inode;
	u64 *link;
};

static bool dir_is_alive(struct mios_fs *fs, u64 dir)
{
	u64 mode;

	if (!inode_exists(fs, dir))
		return false;
	mode = mios_tx_get(fs, &inode_at(fs, dir)->mode);
	return is_directory(mode) && nlink_of(mode);
}

static int find(struct mios_fs *fs, u64 dir, const struct mios_fs_name *name,
		struct found *found)
{
	u64 hash = mios_name_hash(fs, dir, name), *link;
	u32 steps;
	u64 at;

	if (!name->length || name->length > MIOS_FS_NAME)
		return -ENAMETOOLONG;
	if (!dir_is_alive(fs, dir))
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

/* ->sequence when this change has been carried out: only then is it even again. */
static u64 sequence_after(const struct mios_fs *fs)
{
	return (READ_ONCE(fs->super->sequence) | 1) + 1;
}

/* So many names more or less. */
void mios_links_add(struct mios_fs *fs, u64 inode, int more)
{
	u64 mode = mios_tx_get(fs, &inode_at(fs, inode)->mode);

	mios_tx_put(fs, &inode_at(fs, inode)->mode,
		    upper_lower(nlink_of(mode) + more, mode_of(mode)));
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
	return now;
}

/* So has a directory, in its names. */
static void names_changed(struct mios_fs *fs, u64 dir, u64 now)
{
	mios_tx_put(fs, &inode_at(fs, dir)->mtime,
		    mios_inode_changed(fs, dir, now));
}

/* The name, if the directory is still as it was when somebody judged it. */
static int place_find(struct mios_fs *fs, const struct mios_fs_place *at,
		      struct found *found)
{
	int err = -ENOENT;

	if (dir_is_alive(fs, at->dir.inode))
		err = mios_judged_holds(fs, &at->dir);
	return err ? err : find(fs, at->dir.inode, &at->name, found);
}

/* And what it leads to: in a sticky directory another one may be another user's. */
static int place_judged(struct mios_fs *fs, const struct mios_fs_place *at,
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

/* A new file, of @parent if it is a directory; 0: there are too many. */
u64 mios_inode_make(struct mios_fs *fs, const struct mios_fs_attr *attr,
		    u32 links, u64 parent)
{
	u64 number = mios_number_take(fs, MIOS_FS_INODES);
	struct mios_fs_inode *inode = inode_at(fs, number);
	u64 id;

	if (!number)
		return 0;
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
	mios_tx_put(fs, &inode->cut, 0);
	return number;
}

/* An entry for a name that a directory which is there has not got yet. */
static int entry_new(struct mios_fs *fs, const struct mios_fs_place *place,
		     u64 *at)
{
	struct found found;
	int err;

	mios_buckets_grow(fs);
	err = place_find(fs, place, &found);
	if (err != -ENOENT)
		return err ? err : -EEXIST;
	if (!dir_is_alive(fs, place->dir.inode))
		return -ENOENT;
	*at = mios_entry_take(fs);
	return *at ? 0 : -ENOSPC;
}

/* In a directory from now on. */
static int insert_new(struct mios_fs *fs, u64 at, u64 dir,
		      const struct mios_fs_name *name, u64 inode)
{
	mios_entry_list(fs, dir, at);
	mios_tx_put(fs, &entry_at(fs, at)->born, sequence_after(fs));
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
	*number = mios_inode_make(fs, attr, attr->nlink, directory ? dir : 0);
	if (!*number)
		return -ENOSPC;
	attr->id = mios_tx_get(fs, &inode_at(fs, *number)->id);
	err = insert_new(fs, at, dir, &place->name, *number);
	names_changed(fs, dir, attr->ctime);
	if (directory)
		mios_links_add(fs, dir, 1);
	return err;
}

static int make_once(struct mios_fs *fs, const struct mios_fs_place *at,
		     struct mios_fs_attr *attr, u64 *inode)
{
	int err = mios_tx_begin(fs);

	if (err)
		return err;
	err = make(fs, at, attr, inode);
	if (!err) {
		mios_tx_apply(fs);
		/* As it is with the lock: nothing has followed yet. */
		attr->sequence = mios_fs_sequence(fs);
	}
	mios_tx_end(fs);
	return err;
}

int mios_fs_make(struct mios_fs *fs, const struct mios_fs_place *at,
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

	if (err)
		return err;
	*number = mios_inode_make(fs, attr, 0, 0);
	if (!*number)
		return -ENOSPC;
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
	err = entry_new(fs, place, &at);
	if (err)
		return err;
	err = insert_new(fs, at, dir, &place->name, inode);
	mios_links_add(fs, inode, 1);
	mios_inode_changed(fs, inode, now);
	names_changed(fs, dir, now);
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

/* May this be taken away, as a directory or as something else? */
static int removable(struct mios_fs *fs, u64 inode, bool directory)
{
	u64 mode = mios_tx_get(fs, &inode_at(fs, inode)->mode);

	if (is_directory(mode) != directory)
		return directory ? -ENOTDIR : -EISDIR;
	if (!nlink_of(mode))
		return -EBADMSG;
	return directory && !is_empty(fs, inode) ? -ENOTEMPTY : 0;
}

static void drop(struct mios_fs *fs, u64 dir, const struct found *found,
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
	struct found found;
	int err = place_find(fs, at, &found);

	if (!err)
		err = place_judged(fs, at, found.inode);
	if (!err)
		err = removable(fs, found.inode, directory);
	if (err)
		return err;
	at->file.inode = found.inode;
	drop(fs, at->dir.inode, &found, directory, now);
	names_changed(fs, at->dir.inode, now);
	return 0;
}

int mios_fs_remove(struct mios_fs *fs, struct mios_fs_place *at, bool directory,
		   u64 now)
{
	int err = mios_tx_begin(fs);

	return err ? err : mios_tx_finish(fs, take_away(fs, at, directory, now));
}

/* Is @inode @dir itself, or above it? */
static bool is_above(struct mios_fs *fs, u64 inode, u64 dir)
{
	u32 steps;

	for (steps = 0; steps < DEPTH_MAX; steps++) {
		if (dir == inode)
			return true;
		if (dir == MIOS_FS_ROOT || !inode_exists(fs, dir))
			return false;
		dir = inode_at(fs, dir)->parent;
	}
	return true;
}

/* A directory that has come from another one. */
static void adopt(struct mios_fs *fs, u64 inode, u64 dir, u64 to_dir)
{
	mios_tx_put(fs, &inode_at(fs, inode)->parent, to_dir);
	mios_links_add(fs, dir, -1);
	mios_links_add(fs, to_dir, 1);
}

/* What is to have another name: a directory only where one is meant. */
static int move_from(struct mios_fs *fs, const struct mios_fs_place *at,
		     const struct mios_fs_place *to, bool directory,
		     struct found *from)
{
	int err = place_find(fs, at, from);

	if (!err)
		err = place_judged(fs, at, from->inode);
	if (err)
		return err;
	if (is_directory(inode_at(fs, from->inode)->mode) != directory)
		return -ESTALE;
	return directory && is_above(fs, from->inode, to->dir.inode) ? -EINVAL :
		0;
}

/* What has that name already, or nothing: then ->entry is 0. */
static int move_over(struct mios_fs *fs, const struct mios_fs_place *at,
		     u64 inode, bool directory, struct found *old)
{
	int err = place_find(fs, at, old);

	if (err == -ENOENT && dir_is_alive(fs, at->dir.inode)) {
		old->entry = 0;
		return 0;
	}
	if (err)
		return err;
	if (at->file.by & MIOS_FS_BY_NONE)
		return -EEXIST;
	if (old->inode == inode)
		return 0;
	err = place_judged(fs, at, old->inode);
	return err ? err : removable(fs, old->inode, directory);
}

static int move(struct mios_fs *fs, struct mios_fs_place *at,
		struct mios_fs_place *to, bool directory, u64 now)
{
	u64 dir = at->dir.inode, to_dir = to->dir.inode;
	struct found from, old;
	int err = move_from(fs, at, to, directory, &from);

	if (!err)
		err = move_over(fs, to, from.inode, directory, &old);
	if (err)
		return err;
	to->file.inode = 0;
	if (old.entry && old.inode == from.inode)
		return 0;
	if (old.entry) {
		drop(fs, to_dir, &old, directory, now);
		to->file.inode = old.inode;
		/* It may have been what led to the other one. */
		err = find(fs, dir, &at->name, &from);
		if (err)
			return err;
	}
	mios_entry_unhook(fs, from.link, from.entry);
	mios_entry_rest_drop(fs, from.entry);
	/* Who reads a directory meets a name once that changes in it. */
	if (dir == to_dir) {
		err = mios_entry_insert(fs, from.entry, to_dir, &to->name, from.inode);
	} else {
		mios_entry_unlist(fs, dir, from.entry);
		err = insert_new(fs, from.entry, to_dir, &to->name, from.inode);
	}
	if (directory)
		adopt(fs, from.inode, dir, to_dir);
	mios_inode_changed(fs, from.inode, now);
	names_changed(fs, dir, now);
	names_changed(fs, to_dir, now);
	at->file.inode = from.inode;
	return err;
}

int mios_fs_rename(struct mios_fs *fs, struct mios_fs_place *from,
		   struct mios_fs_place *to, bool directory, u64 now)
{
	int err;

	do {
		err = mios_tx_begin(fs);
		if (!err)
			err = mios_tx_finish(fs, move(fs, from, to, directory,
						      now));
	} while (mios_part_grown(fs, &err));
	return err;
}
