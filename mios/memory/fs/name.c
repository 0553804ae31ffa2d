// SPDX-License-Identifier: GPL-2.0
/*
 * Reading names and attributes: local loads, checked by the sequence of what is
 * read, and bounded whatever lies there.  Words of others lie between them, as the
 * chain of a bucket has names of all directories: a name's sequence is that of its
 * chain; a name that a directory's list has leaves it by a change of that.
 */
#include "../../inject/inject.h"
#include "tx.h"

MIOS_INJECT_UNIT(from_newest);
MIOS_INJECT_UNIT(distrust);
MIOS_INJECT_SWITCH(all_names, "a directory that is being read also shows what has come since");

/**
 * struct piece - a piece of a name, as it lies in an entry, or in the rest of one
 * @text:	where
 * @length:	bytes
 * @next:	where the next piece is, in the upper half
 */
struct piece {
	const u8 *text;
	u32 length;
	u64 next;
};

static struct piece first_piece(const struct mios_fs_entry *entry, u32 length)
{
	return (struct piece) {
		entry->name, min_t(u32, length, MIOS_FS_ENTRY_NAME),
		READ_ONCE(entry->next),
	};
}

/* Of @left bytes. */
static struct piece next_piece(const struct mios_fs *fs, u64 before, u32 left)
{
	const struct mios_fs_rest *rest = (void *)entry_at(fs, before >> 32);

	return (struct piece) {
		rest->name, min_t(u32, left, MIOS_FS_REST_NAME),
		READ_ONCE(rest->next),
	};
}

bool mios_name_is(const struct mios_fs *fs, const struct mios_fs_entry *entry,
		  u64 dir, u64 hash, const struct mios_fs_name *name)
{
	struct piece piece;
	u32 at;

	if (READ_ONCE(entry->hash) != hash ||
	    READ_ONCE(entry->parent) != upper_lower(name->length, dir))
		return false;
	piece = first_piece(entry, name->length);
	for (at = 0; !memcmp(piece.text, name->text + at, piece.length);) {
		at += piece.length;
		if (at == name->length)
			return true;
		piece = next_piece(fs, piece.next, name->length - at);
	}
	return false;
}

static u64 find(struct mios_fs *fs, u64 dir, u64 hash,
		const struct mios_fs_name *name)
{
	u64 at = (u32)READ_ONCE(*mios_bucket_at(fs, hash));
	u32 steps;

	for (steps = 0; entry_exists(fs, at) && steps < MIOS_CHAIN_MAX;
	     steps++) {
		const struct mios_fs_entry *entry = entry_at(fs, at);

		if (mios_name_is(fs, entry, dir, hash, name))
			return READ_ONCE(entry->inode);
		at = (u32)READ_ONCE(entry->next);
	}
	return 0;
}

u64 mios_fs_sequence(const struct mios_fs *fs, u64 inode)
{
	return mios_read_begin(sequence_of_file(fs, inode));
}

static u64 stamp_of(u64 hash, u64 sequence)
{
	return sequence << MIOS_FS_GROUP_BITS | hash % MIOS_FS_GROUPS;
}

bool mios_fs_stamp_holds(const struct mios_fs *fs, u64 stamp)
{
	u64 sequence = mios_read_begin(sequence_of_name(fs, stamp));

	return !(sequence & 1) && stamp_of(stamp, sequence) == stamp &&
	       !inject_distrust;
}

/* As it is with the lock. */
u64 mios_name_stamp(const struct mios_fs *fs, u64 dir,
		    const struct mios_fs_name *name)
{
	u64 hash = mios_name_hash(fs, dir, name);

	return stamp_of(hash, mios_read_begin(sequence_of_name(fs, hash)));
}

int mios_fs_lookup(struct mios_fs *fs, u64 dir,
		   const struct mios_fs_name *name, u64 *inode, u64 *stamp)
{
	const u64 *sequence;
	u64 hash, begun;
	int tries;

	if (!name->length || name->length > MIOS_FS_NAME)
		return -ENAMETOOLONG;
	hash = mios_name_hash(fs, dir, name);
	sequence = sequence_of_name(fs, hash);
	for (tries = 0; tries < READ_TRIES; tries++) {
		begun = mios_read_begin(sequence);
		*inode = find(fs, dir, hash, name);
		if (mios_read_again(sequence, begun))
			continue;
		*stamp = stamp_of(hash, begun);
		return inode_exists(fs, *inode) ? 0 : -ENOENT;
	}
	return -EAGAIN;
}

int mios_fs_stat(struct mios_fs *fs, u64 number, struct mios_fs_attr *attr)
{
	const u64 *sequence = sequence_of_file(fs, number);
	struct mios_fs_inode *inode, copy;
	u64 begun;
	int tries;

	if (!inode_exists(fs, number))
		return -ENOENT;
	inode = inode_at(fs, number);
	for (tries = 0; tries < READ_TRIES; tries++) {
		begun = mios_read_begin(sequence);
		copy.id = READ_ONCE(inode->id);
		copy.mode = READ_ONCE(inode->mode);
		copy.owner = READ_ONCE(inode->owner);
		copy.size = READ_ONCE(inode->size);
		copy.atime = READ_ONCE(inode->atime);
		copy.mtime = READ_ONCE(inode->mtime);
		copy.ctime = READ_ONCE(inode->ctime);
		copy.parent = READ_ONCE(inode->parent);
		copy.next = READ_ONCE(inode->next);
		if (mios_read_again(sequence, begun))
			continue;
		if (!copy.id)
			return -ENOENT;
		*attr = (struct mios_fs_attr) {
			.id = copy.id, .mode = mode_of(copy.mode),
			.nlink = nlink_of(copy.mode), .uid = copy.owner,
			.gid = copy.owner >> 32, .size = copy.size,
			.atime = copy.atime, .mtime = copy.mtime,
			.ctime = copy.ctime, .parent = (u32)copy.parent,
			.rdev = is_device(copy.mode) ? copy.next : 0,
			.sequence = begun,
		};
		return 0;
	}
	return -EAGAIN;
}

/* How a name is met in its directory: no other has come with that change. */
static bool is_there(const struct mios_fs_entry *entry, u64 dir, u64 born)
{
	return (u32)READ_ONCE(entry->parent) == dir &&
	       READ_ONCE(entry->born) == born;
}

/*
 * Where to go on: after the last one, if that is where it was, else behind one
 * that was passed, else from the newest on.
 */
static u64 name_begin(struct mios_fs *fs, u64 dir,
		      const struct mios_fs_reading *r)
{
	const struct mios_fs_entry *last = entry_at(fs, r->place);
	const struct mios_fs_entry *passed = entry_at(fs, r->passed);

	if (r->born && is_there(last, dir, r->born))
		return (u32)READ_ONCE(last->beside);
	if (r->passed && is_there(passed, dir, r->passed_born))
		return (u32)READ_ONCE(passed->beside);
	return READ_ONCE(inode_at(fs, dir)->pages);
}

/*
 * The name that comes next.  Each is older than the one before, and so there is an
 * end.  Who has to look again, as something has changed, goes on where he was.
 */
static u64 name_next(struct mios_fs *fs, u64 dir, struct mios_fs_reading *r)
{
	u64 end = r->born ?: ~0ull, last = ~0ull, at, born;
	const struct mios_fs_entry *entry;

	for (at = name_begin(fs, dir, r); entry_exists(fs, at);
	     at = (u32)READ_ONCE(entry->beside)) {
		entry = entry_at(fs, at);
		born = READ_ONCE(entry->born);
		if ((u32)READ_ONCE(entry->parent) != dir || born >= last)
			return 0;
		if (born < end && (born <= r->before || inject_all_names))
			return at;
		last = born;
		if (!inject_from_newest) {
			r->passed = at;
			r->passed_born = born;
		}
	}
	return 0;
}

static void name_copy(struct mios_fs *fs, u64 at, struct mios_fs_dirent *name)
{
	const struct mios_fs_entry *entry = entry_at(fs, at);
	struct piece piece;
	u32 done = 0;

	name->inode = READ_ONCE(entry->inode);
	name->length = READ_ONCE(entry->parent) >> 32;
	if (name->length > MIOS_FS_NAME)
		return;
	piece = first_piece(entry, name->length);
	while (true) {
		memcpy(name->name + done, piece.text, piece.length);
		done += piece.length;
		if (done == name->length)
			break;
		piece = next_piece(fs, piece.next, name->length - done);
	}
}

int mios_fs_readdir(struct mios_fs *fs, u64 dir, struct mios_fs_reading *r,
		    struct mios_fs_dirent *name)
{
	const u64 *sequence = sequence_of_file(fs, dir);
	u64 begun, at, born = 0;
	int tries;

	for (tries = 0; tries < READ_TRIES; tries++) {
		begun = mios_read_begin(sequence);
		at = name_next(fs, dir, r);
		if (at) {
			name_copy(fs, at, name);
			born = READ_ONCE(entry_at(fs, at)->born);
		}
		if (!mios_read_again(sequence, begun))
			break;
	}
	if (tries == READ_TRIES)
		return -EAGAIN;
	if (!at)
		return 0;
	if (!inode_exists(fs, name->inode) || name->length > MIOS_FS_NAME)
		return -EBADMSG;
	r->place = at;
	r->born = born;
	r->passed = 0;
	return 1;
}
