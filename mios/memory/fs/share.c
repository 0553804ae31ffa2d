// SPDX-License-Identifier: GPL-2.0
/*
 * A user's share of the files.  Who has made a file pays for it as long as it is
 * there: the number of his slot in the table of users stands in the inode.  Files
 * and names are counted with the lock, by the redo record.  Pages come and go
 * without it, and are counted in a column of each instance (COUNT of tx.h).  Who
 * needs one more adds up all columns: lines that other instances write all the time
 * where a program makes pages everywhere.  So he is granted some more at once, as
 * long as there are many left: a user may have so much beyond his share.
 *
 * A user without a file has no page, nor is one of his on its way: whoever makes or
 * frees one has the file open, or frees it.  The dead write no more once they are
 * fenced, and what they had open is closed later than that; who recovers a page
 * counts nothing.  So what deaths have left in his columns is cleared, with the
 * lock, when he makes his first file, and his slot may become another user's.
 */
#include "../../inject/inject.h"
#include "share.h"
#include "tx.h"

MIOS_INJECT_SWITCH(keep_share,
		   "leave what was freed in the count of who has paid for it");

#define FIRST		(MIOS_FS_USER_OTHERS + 1)

/*
 * Granted at once: no more than this, and than this part of what is left.  When
 * nothing is left, other instances may have as much each that they have not used,
 * and as much again for each task that has added up and not yet taken its grant.
 */
#define GRANT_MAX	64u
#define GRANT_PART	(2 * MIOS_FS_INSTANCES)

/* Slots that are looked at for a user: what users choose makes that no longer. */
#define PROBES		32

/* NULL: nobody's share has ever been limited. */
static struct mios_fs_user *users_of(const struct mios_fs *fs)
{
	return READ_ONCE(fs->parts->at[MIOS_FS_USERS_KIND][1]) ?:
	       mios_part_meet(fs, MIOS_FS_USERS_KIND, 1);
}

static u64 *column(struct mios_fs_user *users, u32 instance, u32 slot)
{
	u64 *columns = (u64 *)(users + MIOS_FS_USERS);

	return &columns[(size_t)instance * MIOS_FS_USERS + slot];
}

static u64 pages_of(struct mios_fs_user *users, u32 slot)
{
	u64 pages = 0;
	u32 i;

	for (i = 0; i < MIOS_FS_INSTANCES; i++)
		pages += READ_ONCE(*column(users, i, slot));
	/* Garbage, perhaps. */
	return pages >> 63 ? 0 : pages;
}

/* Who pays for a file; NULL: nobody.  Another kernel may have written anything. */
static struct mios_fs_user *payer_of(const struct mios_fs *fs, u64 inode,
				     u32 *slot)
{
	*slot = READ_ONCE(inode_at(fs, inode)->cut) >> 32;
	return *slot && *slot < MIOS_FS_USERS ? users_of(fs) : NULL;
}

/* @has, with what who asks wants. */
static bool is_over(const struct mios_fs *fs, u64 has, const u64 *share)
{
	u64 most = READ_ONCE(*share);

	return most && has > most && !(fs->exempt && fs->exempt());
}

/* Several tasks of this instance may be at it. */
static void column_add(struct mios_fs *fs, struct mios_fs_user *users, u32 slot,
		       u64 more)
{
	u64 *pages = column(users, fs->pool->self, slot);
	u64 was = READ_ONCE(*pages);

	while (!try_cmpxchg(pages, &was, was + more))
		;
}

/* More than is granted of such a share is from when it was larger, and void. */
static bool is_grant(u32 grant, u64 most)
{
	return grant && grant <= most / GRANT_PART;
}

static bool is_granted(u32 *grant, u64 most)
{
	u32 was = READ_ONCE(*grant);

	while (is_grant(was, most))
		if (try_cmpxchg(grant, &was, was - 1))
			return true;
	return false;
}

/* Two who take the last page at once may both be refused. */
int mios_share_take(struct mios_fs *fs, u64 inode)
{
	u32 slot, *grant, was;
	struct mios_fs_user *users = payer_of(fs, inode, &slot);
	u64 most = READ_ONCE(fs->super->share_pages), has;

	if (!users)
		return 0;
	column_add(fs, users, slot, 1);
	grant = &fs->parts->grant[slot];
	if (!most || is_granted(grant, most))
		return 0;
	was = READ_ONCE(*grant);
	has = pages_of(users, slot);
	/* Where another task has been granted some since, that is enough. */
	if (has < most)
		try_cmpxchg(grant, &was, min_t(u64, (most - has) / GRANT_PART,
					       GRANT_MAX));
	if (!is_over(fs, has, &fs->super->share_pages))
		return 0;
	column_add(fs, users, slot, -1ull);
	return -EDQUOT;
}

void mios_share_give(struct mios_fs *fs, u64 inode)
{
	u32 slot;
	struct mios_fs_user *users = payer_of(fs, inode, &slot);

	if (users && !inject_keep_share)
		column_add(fs, users, slot, -1ull);
}

/*
 * A user's own slot, or one that may become that, or that of the others.  It is
 * never behind one that nobody has ever had, as that would have become his.
 */
static u32 slot_of(const struct mios_fs *fs, const struct mios_fs_user *users,
		   u32 uid)
{
	const struct mios_fs_name none = { "", 0 };
	u64 hash = mios_name_hash(fs, uid, &none);
	u32 spare = 0, slot, i;
	u64 has;

	for (i = 0; i < PROBES; i++) {
		slot = FIRST + (hash + i) % (MIOS_FS_USERS - FIRST);
		has = READ_ONCE(users[slot].uid);
		if (has == uid + 1ull)
			return slot;
		if (!spare && (!has || !READ_ONCE(users[slot].files)))
			spare = slot;
		if (!has)
			break;
	}
	return spare ?: MIOS_FS_USER_OTHERS;
}

/* His first file; most columns are 0, and so nobody has to fetch their lines. */
static void slot_begin(struct mios_fs *fs, struct mios_fs_user *users, u32 slot,
		       u32 uid)
{
	u64 *pages;
	u32 i;

	mios_tx_put(fs, &users[slot].uid, slot == MIOS_FS_USER_OTHERS ?
		    ~0ull : uid + 1ull);
	for (i = 0; i < MIOS_FS_INSTANCES; i++) {
		pages = column(users, i, slot);
		if (READ_ONCE(*pages) && !inject_keep_share)
			WRITE_ONCE(*pages, 0);
	}
}

int mios_share_make(struct mios_fs *fs, const struct mios_fs_attr *attr,
		    u32 *payer)
{
	struct mios_fs_user *users;
	u64 files;

	if (attr->holder_of) {
		users = payer_of(fs, attr->holder_of, payer);
	} else {
		users = attr->uid ? users_of(fs) : NULL;
		if (users)
			*payer = slot_of(fs, users, attr->uid);
	}
	if (!users) {
		*payer = 0;
		return 0;
	}
	files = mios_tx_get(fs, &users[*payer].files);
	if (is_over(fs, files + 1, &fs->super->share_files))
		return -EDQUOT;
	mios_tx_put(fs, &users[*payer].files, files + 1);
	if (!files)
		slot_begin(fs, users, *payer, attr->uid);
	return 0;
}

bool mios_share_is_full(struct mios_fs *fs, u64 inode)
{
	u32 slot;
	struct mios_fs_user *users = payer_of(fs, inode, &slot);

	return users && is_over(fs, mios_tx_get(fs, &users[slot].files) + 1,
				&fs->super->share_files);
}

void mios_share_names(struct mios_fs *fs, u64 inode, int more)
{
	u32 slot;
	struct mios_fs_user *users = payer_of(fs, inode, &slot);

	if (users)
		mios_tx_put(fs, &users[slot].files,
			    mios_tx_get(fs, &users[slot].files) + more);
}

struct mios_fs_share mios_fs_share(const struct mios_fs *fs)
{
	return (struct mios_fs_share) {
		.pages = READ_ONCE(fs->super->share_pages),
		.files = READ_ONCE(fs->super->share_files),
	};
}

static int set(struct mios_fs *fs, const struct mios_fs_share *share)
{
	if (!users_of(fs) && (share->pages || share->files)) {
		fs->wants = MIOS_FS_USERS_KIND + 1;
		return -ENOSPC;
	}
	mios_tx_put(fs, &fs->super->share_pages, share->pages);
	mios_tx_put(fs, &fs->super->share_files, share->files);
	return 0;
}

int mios_fs_share_set(struct mios_fs *fs, const struct mios_fs_share *share)
{
	int err;

	do {
		err = mios_tx_begin(fs);
		if (!err)
			err = mios_tx_finish(fs, set(fs, share));
	} while (mios_part_grown(fs, &err));
	return err;
}

bool mios_fs_payer_next(const struct mios_fs *fs, u32 *slot,
			struct mios_fs_payer *payer)
{
	struct mios_fs_user *users = users_of(fs);
	u64 files;

	while (users && ++*slot < MIOS_FS_USERS) {
		files = READ_ONCE(users[*slot].files);
		if (!files)
			continue;
		*payer = (struct mios_fs_payer) {
			.uid = READ_ONCE(users[*slot].uid) - 1,
			.others = *slot == MIOS_FS_USER_OTHERS,
			.has = { pages_of(users, *slot), files },
		};
		return true;
	}
	return false;
}

/* Pages that a file of so many takes, with its index. */
static u64 with_index(u64 pages)
{
	u64 all = pages;

	do {
		pages = DIV_ROUND_UP(pages, MIOS_FS_FANOUT);
		all += pages;
	} while (pages > 1);
	return all;
}

bool mios_fs_share_fits(const struct mios_fs *fs, u32 uid, u64 pages)
{
	struct mios_fs_user *users = uid ? users_of(fs) : NULL;
	u64 has;
	u32 slot;

	if (!users)
		return true;
	slot = slot_of(fs, users, uid);
	has = READ_ONCE(users[slot].files) ? pages_of(users, slot) : 0;
	return !is_over(fs, has + with_index(pages), &fs->super->share_pages);
}

int mios_share_take_all(struct mios_fs *fs, u64 inode, u64 pages)
{
	u32 slot;
	struct mios_fs_user *users = payer_of(fs, inode, &slot);
	const u64 *share = &fs->super->share_pages;

	if (!users)
		return 0;
	/* Who sees at once that it is too much is in nobody's way. */
	if (is_over(fs, pages_of(users, slot) + pages, share))
		return -EDQUOT;
	column_add(fs, users, slot, pages);
	if (!is_over(fs, pages_of(users, slot), share))
		return 0;
	column_add(fs, users, slot, -pages);
	return -EDQUOT;
}

bool mios_share_refuses(const struct mios_fs *fs, u64 inode, u64 at)
{
	u32 slot;
	struct mios_fs_user *users = payer_of(fs, inode, &slot);
	u64 most = READ_ONCE(fs->super->share_pages);

	if (at / MIOS_FS_PAGE < size_pages(READ_ONCE(inode_at(fs, inode)->size)))
		return false;
	/* What is granted is quickly seen. */
	return users && most && !is_grant(READ_ONCE(fs->parts->grant[slot]), most) &&
	       is_over(fs, pages_of(users, slot) + 1, &fs->super->share_pages);
}
