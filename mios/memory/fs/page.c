// SPDX-License-Identifier: GPL-2.0
/*
 * The index of a file: which page of the pool lies at which place.  Filled by
 * page faults of any instance, without a lock; whoever comes second takes what
 * the first has put there.  Index pages stay until the file goes, so that none
 * vanishes under who walks down.
 */
#include "../../inject/inject.h"
#include "tx.h"

MIOS_INJECT_SWITCH(no_zero, "leave in a page of a file what was there before");
MIOS_INJECT_UNIT(zero_late);
MIOS_INJECT_UNIT(clear_early);
MIOS_INJECT_UNIT(no_size_check);
MIOS_INJECT_UNIT(count_late);
MIOS_INJECT_SWITCH(map_late, "use a page without another look when it is held");
MIOS_INJECT_UNIT(lock_there);

#define LEVEL_BITS	9
#define ROOT_LEVELS	7ull		/* in the low bits of ->root */

static u64 object_make(u64 inode, u32 level, u64 index)
{
	return inode << MIOS_FS_OBJECT_INODE |
	       (u64)level << MIOS_FS_OBJECT_LEVEL | index;
}

/* Pages of the file below a page of this level. */
static u64 span(u32 level)
{
	return 1ull << LEVEL_BITS * level;
}

static u64 page_of(u64 word)
{
	return word & ~(MIOS_FS_PAGE - 1ull);
}

static u32 levels_of(u64 root)
{
	u32 levels = root & ROOT_LEVELS;

	return levels <= MIOS_FS_LEVELS ? levels : 0;
}

static u64 *slot_in(struct mios_fs *fs, u64 table, u32 level, u64 index)
{
	u64 *slots = mios_pool_memory(fs->pool, page_of(table));

	return slots ? &slots[index / span(level) % MIOS_FS_FANOUT] : NULL;
}

/* Where the page of @level that covers @index is found, if that exists. */
static u64 *slot_find(struct mios_fs *fs, u64 inode, u32 level, u64 index)
{
	u64 root = READ_ONCE(inode_at(fs, inode)->root);
	u32 at = levels_of(root);
	u64 table = root;
	u64 *slot;

	if (at && level == at)
		return &inode_at(fs, inode)->root;
	if (level >= at || index >= span(at))
		return NULL;
	while (--at > level) {
		slot = slot_in(fs, table, at, index);
		table = slot ? READ_ONCE(*slot) : 0;
		if (!table)
			return NULL;
	}
	return slot_in(fs, table, level, index);
}

/* What a slot says when the page is there. */
static u64 slot_value(struct mios_fs *fs, u64 inode, const u64 *slot, u32 level,
		      u64 phys)
{
	return slot == &inode_at(fs, inode)->root ? phys | level : phys;
}

/* INDEX: the knob is about what users see, not about index pages. */
static void page_zero(struct mios_fs *fs, const struct mios_page *page,
		      u32 level)
{
	if (level || !inject_no_zero)
		page_clear(mios_pool_memory(fs->pool, page->phys));
}

/* A page that is held becomes zeroes, and says where it is going to be. */
static int page_ready(struct mios_fs *fs, u64 object,
		      const struct mios_page *page)
{
	if (!inject_zero_late)
		page_zero(fs, page, object >> MIOS_FS_OBJECT_LEVEL & 15);
	return mios_pool_object(fs->pool, page, object);
}

static int page_make(struct mios_fs *fs, struct mios_need *need,
		     u64 object, struct mios_page *page)
{
	int err;

	if (!need)
		return -ENOENT;
	err = mios_page_place(fs, need, object >> MIOS_FS_OBJECT_INODE,
			      (u32)object, page);
	return err ? err : page_ready(fs, object, page);
}

/* Pages of the file itself: counted first, and taken off last. */
static void pages_add(struct mios_fs *fs, u64 inode, u64 more)
{
	u64 *pages = &inode_at(fs, inode)->pages;
	u64 was = READ_ONCE(*pages);

	/* Each failure is another one's success. */
	while (!try_cmpxchg(pages, &was, was + more))
		;
}

/* TAKE: held, and only then out of its slot. */
static bool page_remove(struct mios_fs *fs, u64 inode, u32 level, u64 index,
			struct mios_page *page)
{
	u64 *slot = slot_find(fs, inode, level, index);
	u64 word = slot ? READ_ONCE(*slot) : 0;
	u64 object = object_make(inode, level, index);

	if (!word)
		return false;
	if (inject_clear_early)
		WRITE_ONCE(*slot, 0);
	if (mios_pool_take(fs->pool, page_of(word), false, object, page))
		return false;
	try_cmpxchg(slot, &word, 0);
	if (!level)
		pages_add(fs, inode, -1ull);
	return true;
}

static bool is_inside(struct mios_fs *fs, u64 inode, u64 index)
{
	return index < size_pages(READ_ONCE(inode_at(fs, inode)->size));
}

/*
 * INDEX: into a slot that says @was, or back to the pool.  SIZE: a page that
 * lies beyond the end by now is left to the next cutter, before it is kept: if
 * its maker dies first, recovery comes by.  Its maker must not remove it: the
 * file may have grown again, and somebody have mapped it.
 */
static int page_publish(struct mios_fs *fs, u64 inode, u32 level, u64 index,
			u64 *slot, u64 was, struct mios_page *page)
{
	bool beyond;

	if (!level && !inject_count_late)
		pages_add(fs, inode, 1);
	if (!try_cmpxchg(slot, &was,
			 slot_value(fs, inode, slot, level, page->phys))) {
		if (!level)
			pages_add(fs, inode, -1ull);
		mios_fs_give(fs, inode, page);
		return -EAGAIN;
	}
	beyond = !level && !is_inside(fs, inode, index) &&
		 !inject_no_size_check;
	if (beyond)
		mios_fs_leave(fs, inode, index);
	/* Who has taken it by now also takes it out of the slot. */
	if (mios_pool_keep(fs->pool, page))
		return -EAGAIN;
	if (inject_zero_late)
		page_zero(fs, page, level);
	if (!level && inject_count_late)
		pages_add(fs, inode, 1);
	return beyond ? -ERANGE : 0;
}

int mios_page_put(struct mios_fs *fs, u64 inode, u64 index, u64 *slot,
		  struct mios_page *page)
{
	int err = page_ready(fs, object_make(inode, 0, index), page);

	return err ? err : page_publish(fs, inode, 0, index, slot, 0, page);
}

/* One more level, above all that there are. */
static int index_raise(struct mios_fs *fs, struct mios_need *need,
		       u64 inode)
{
	u64 *root = &inode_at(fs, inode)->root;
	u64 was = READ_ONCE(*root);
	u32 level = levels_of(was) + 1;
	struct mios_page page;
	int err;

	if (level > MIOS_FS_LEVELS)
		return -EFBIG;
	err = page_make(fs, need, object_make(inode, level, 0), &page);
	if (err)
		return err;
	*(u64 *)mios_pool_memory(fs->pool, page.phys) = page_of(was);
	return page_publish(fs, inode, level, 0, root, was, &page);
}

u64 *mios_index_slot(struct mios_fs *fs, u64 inode, u64 index)
{
	return slot_find(fs, inode, 0, index);
}

/* The slot of a page of the file, with all that is above it. */
int mios_index_reach(struct mios_fs *fs, struct mios_need *need, u64 inode,
		     u64 index, u64 **out)
{
	u32 levels = levels_of(READ_ONCE(inode_at(fs, inode)->root));
	struct mios_page page;
	u64 first, *slot;
	u32 level;
	int err;

	if (!levels || index >= span(levels)) {
		err = index_raise(fs, need, inode);
		return err ? err : -EAGAIN;
	}
	for (level = levels - 1; level; level--) {
		slot = slot_find(fs, inode, level, index);
		if (!slot)
			return -EAGAIN;
		if (READ_ONCE(*slot))
			continue;
		first = index - index % span(level);
		err = page_make(fs, need, object_make(inode, level, first),
				&page);
		if (!err)
			err = page_publish(fs, inode, level, first, slot, 0,
					   &page);
		if (err)
			return err;
	}
	*out = slot_find(fs, inode, 0, index);
	return *out ? 0 : -EAGAIN;
}

static int page_add(struct mios_fs *fs, struct mios_need *need, u64 inode,
		    u64 index, u64 *phys)
{
	struct mios_page page;
	u64 *slot;
	int err = mios_index_reach(fs, need, inode, index, &slot);

	if (err)
		return err;
	*phys = READ_ONCE(*slot);
	if (*phys)
		return 0;
	err = page_make(fs, need, object_make(inode, 0, index), &page);
	if (!err)
		err = page_publish(fs, inode, 0, index, slot, 0, &page);
	*phys = page.phys;
	return err;
}

int mios_fs_page(struct mios_fs *fs, struct mios_need *need, u64 inode,
		 u64 index, u64 *phys)
{
	int tries, err = -EAGAIN;
	u64 *slot;

	if (!inode_exists(fs, inode))
		return -ENOENT;
	if (!is_inside(fs, inode, index))
		return -ERANGE;
	if (is_in_hole(inode_at(fs, inode), index))
		return -EBUSY;
	slot = slot_find(fs, inode, 0, index);
	*phys = slot ? READ_ONCE(*slot) : 0;
	if (*phys && inject_lock_there && need) {
		spin_lock(&need->from->lock);
		spin_unlock(&need->from->lock);
	}
	if (*phys)
		return 0;
	for (tries = 0; tries < READ_TRIES && err == -EAGAIN; tries++)
		err = page_add(fs, need, inode, index, phys);
	/* HOLE: it stays there, and is zero, if nobody has removed it. */
	return !err && is_in_hole(inode_at(fs, inode), index) ? -EBUSY : err;
}

bool mios_fs_page_is(struct mios_fs *fs, u64 inode, u64 index, u64 phys)
{
	u64 now;

	if (inject_map_late)
		return true;
	return !mios_fs_page(fs, NULL, inode, index, &now) && now == phys;
}

/* The next place from @index on at which a page of @level is, below the root. */
static bool next_slot(struct mios_fs *fs, u64 inode, u32 level, u64 *index)
{
	u32 levels = levels_of(READ_ONCE(inode_at(fs, inode)->root));
	u32 above;
	u64 *slot;

	while (level < levels && *index < span(levels)) {
		/* As much as is empty is left behind in one step. */
		for (above = levels - 1; above > level; above--) {
			slot = slot_find(fs, inode, above, *index);
			if (!slot || !READ_ONCE(*slot))
				break;
		}
		if (above > level) {
			*index += span(above) - *index % span(above);
			continue;
		}
		slot = slot_find(fs, inode, level, *index);
		for (; slot; slot++) {
			if (READ_ONCE(*slot))
				return true;
			*index += span(level);
			if (!(*index % span(level + 1)))
				break;
		}
		if (!slot)
			*index += span(level + 1) - *index % span(level + 1);
	}
	return false;
}

int mios_fs_next(struct mios_fs *fs, u64 inode, u64 *index, u64 *phys)
{
	u64 *slot;

	if (!inode_exists(fs, inode))
		return 0;
	while (next_slot(fs, inode, 0, index)) {
		slot = slot_find(fs, inode, 0, (*index)++);
		*phys = slot ? READ_ONCE(*slot) : 0;
		if (*phys)
			return 1;
	}
	return 0;
}

int mios_fs_take(struct mios_fs *fs, u64 inode, u64 index,
		 struct mios_page *page)
{
	if (!inode_exists(fs, inode))
		return -ENOENT;
	return page_remove(fs, inode, 0, index, page) ? 0 : -ENOENT;
}

/* Level by level: an index page goes when nothing is below it any more. */
void mios_fs_reap_pages(struct mios_fs *fs, u64 inode)
{
	u32 levels = levels_of(READ_ONCE(inode_at(fs, inode)->root));
	struct mios_page page;
	u32 level;
	u64 index;

	for (level = 0; level < levels; level++) {
		for (index = 0; next_slot(fs, inode, level, &index);
		     index += span(level)) {
			if (page_remove(fs, inode, level, index, &page))
				mios_fs_give(fs, inode, &page);
			cond_resched();
		}
	}
	if (page_remove(fs, inode, levels, 0, &page))
		mios_fs_give(fs, inode, &page);
}

/*
 * Of a page beyond the end, whose maker or remover is dead: will somebody come
 * to remove it?  A cutter may have gone past, and so it is left to the next.
 */
static bool is_doomed(struct mios_fs *fs, u64 inode, u64 index)
{
	u32 left = READ_ONCE(inode_at(fs, inode)->left);

	if (left && index >= left - 1)
		return true;
	if (!(u32)READ_ONCE(inode_at(fs, inode)->cut))
		return false;
	mios_fs_leave(fs, inode, index);
	return true;
}

/* SIZE: not beyond the end of the file, where nobody has been told of it. */
static bool is_found(struct mios_fs *fs, u64 phys, u64 object)
{
	u64 inode = object >> MIOS_FS_OBJECT_INODE;
	u32 level = object >> MIOS_FS_OBJECT_LEVEL & 15;
	u64 index = (u32)object;
	u64 *slot, value;

	if (!inode_exists(fs, inode) || level > MIOS_FS_LEVELS)
		return false;
	slot = slot_find(fs, inode, level, index);
	if (!slot)
		return false;
	value = slot_value(fs, inode, slot, level, phys);
	if (READ_ONCE(*slot) != value)
		return false;
	if (level || is_inside(fs, inode, index) ||
	    is_doomed(fs, inode, index))
		return true;
	if (!try_cmpxchg(slot, &value, 0))
		return true;
	pages_add(fs, inode, -1ull);
	return false;
}

/*
 * KEEP: is a page of a dead one found where it says?  COUNT: else nobody's count is
 * touched.  Somebody else may take it at this moment, and the file may have gone,
 * and its number be another one's.  The caller has the lock.
 */
bool mios_page_is_named(void *ctx, u64 phys, bool huge, u64 object)
{
	struct mios_fs *fs = ctx;

	if (huge)
		return object == MIOS_FS_IMAGE ||
		       mios_part_is_named(fs, phys, object);
	return is_found(fs, phys, object);
}

u64 mios_fs_pages(const struct mios_fs *fs, u64 inode)
{
	const struct mios_fs_inode *image = inode_at(fs, inode);

	/* A directory has names there. */
	return is_directory(READ_ONCE(image->mode)) ? 0 :
	       READ_ONCE(image->pages);
}
