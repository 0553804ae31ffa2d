// SPDX-License-Identifier: GPL-2.0
/*
 * Where a new page comes from: a section of the pool lies in each node, and a
 * policy says which is meant, with numactl's words.  Without one it is that of
 * who needs the page first.  When it is full, the next in distance follows, but
 * for a policy that binds.  Called by page.c; no lock but the source's, which is
 * let go of before anything is done with the page.
 */
#include "../../inject/inject.h"
#include "share.h"
#include "tx.h"

MIOS_INJECT_SWITCH(first_touch,
		   "take pages from the nearest node, whatever is wished");
MIOS_INJECT_SWITCH(far, "take pages from the farthest node");
MIOS_INJECT_UNIT(zero_locked);

#define NONE	MIOS_POOL_SECTIONS

/**
 * struct wish - where a page is wanted
 * @first:	section that comes first; NONE: the nearest
 * @nodes:	a bit for each that is allowed
 */
struct wish {
	u32 first;
	u64 nodes;
};

static bool is_in(const struct mios_fs *fs, u32 section, u64 nodes)
{
	u32 node = fs->pool->section[section].node;

	return node < MIOS_FS_POLICY_MAX && nodes >> node & 1;
}

/* The @at-th section that lies in one of these nodes, counted in a circle. */
static u32 section_of(const struct mios_fs *fs, u64 nodes, u64 at)
{
	u32 i, nr = 0;

	for (i = 0; i < fs->pool->nr_sections; i++)
		nr += is_in(fs, i, nodes);
	if (!nr)
		return NONE;
	at %= nr;
	for (i = 0; !is_in(fs, i, nodes) || at--; i++)
		;
	return i;
}

u64 mios_fs_policy(const struct mios_fs *fs, u64 inode)
{
	return READ_ONCE(inode_at(fs, inode)->next);
}

void mios_fs_policy_set(struct mios_fs *fs, u64 inode, u64 policy)
{
	WRITE_ONCE(inode_at(fs, inode)->next, policy);
}

/* Another kernel may have written anything there: then it is as if nothing. */
static struct wish wish_of(const struct mios_fs *fs, u64 policy, u64 at)
{
	struct wish wish = { NONE, ~0ull };
	u64 nodes = policy >> MIOS_FS_POLICY_NODES;

	if (inject_first_touch)
		return wish;
	switch (policy & MIOS_FS_POLICY_MODE) {
	case MIOS_FS_PREFERRED:
		wish.first = section_of(fs, nodes, 0);
		break;
	case MIOS_FS_BIND:
		wish.nodes = nodes;
		break;
	case MIOS_FS_INTERLEAVE:
		wish.first = section_of(fs, nodes, at);
		break;
	}
	return wish;
}

/* Its column is an instance's own, but several of its tasks may be at it. */
void mios_used_add(struct mios_fs *fs, u64 more)
{
	u64 *used = &redo_of(fs, fs->pool->self)->used;
	u64 was = READ_ONCE(*used);

	while (!try_cmpxchg(used, &was, was + more))
		;
}

u64 mios_fs_used(struct mios_fs *fs)
{
	u64 used = 0;
	u32 i;

	for (i = 0; i < MIOS_FS_INSTANCES; i++)
		used += READ_ONCE(redo_of(fs, i)->used);
	/* Below 0 after a death, or anything after garbage. */
	return used >> 63 ? 0 : used;
}

int mios_fs_give(struct mios_fs *fs, u64 inode, const struct mios_page *page)
{
	int err = mios_pool_free(fs->pool, page);

	if (err)
		return err;
	mios_share_give(fs, inode); /* COUNT */
	mios_used_add(fs, -1ull);
	return 0;
}

/* The lock is for the cursor: nobody has it while the whole section is looked at. */
static int section_try(struct mios_fs *fs, struct mios_need *need, u32 section,
		       struct mios_page *page)
{
	struct mios_cursor *cursor = &need->from->cursor[section];
	int err = -ENOMEM;

	if (mios_pool_is_full(fs->pool, section))
		return -ENOMEM;
	if (!need->look.extent) {
		spin_lock(&need->from->lock);
		cursor->section = section;
		err = mios_pool_alloc(fs->pool, cursor, page);
		if (inject_zero_locked && !err)
			page_clear(mios_pool_memory(fs->pool, page->phys));
		spin_unlock(&need->from->lock);
	}
	if (err == -ENOMEM)
		err = mios_pool_look(fs->pool, cursor, &need->look, page);
	return err;
}

/* The @turn-th section to look at, or NONE: not there. */
static u32 section_at(const struct mios_fs *fs, const struct wish *wish,
		      u32 turn)
{
	u32 nr = fs->pool->nr_sections, section;

	if (!turn)
		return wish->first < nr ? wish->first : NONE;
	section = fs->near[inject_far ? nr - turn : turn - 1];
	return section != wish->first &&
	       (wish->nodes == ~0ull || is_in(fs, section, wish->nodes)) ?
		section : NONE;
}

/* Each section, to its last page, before the next one. */
static int sections_try(struct mios_fs *fs, struct mios_need *need,
			const struct wish *wish, struct mios_page *page)
{
	u32 section;
	int err;

	for (; need->turn <= fs->pool->nr_sections; need->turn++) {
		section = section_at(fs, wish, need->turn);
		err = section == NONE ? -ENOMEM :
			section_try(fs, need, section, page);
		if (err != -ENOMEM)
			return err;
		memset(&need->look, 0, sizeof(need->look));
	}
	return -ENOMEM;
}

/* Where it has been looked for is worth nothing for another page. */
static void need_begin(struct mios_need *need, u64 place)
{
	need->place = place;
	need->turn = 0;
	memset(&need->look, 0, sizeof(need->look));
}

/* As many goes as who waits in a fault can wait for: one who comes later goes on. */
#define RUN_GOES	64

/* Near and small is better than large and far: only where a page would come from. */
static int run_look(struct mios_fs *fs, struct mios_need *need,
		    const struct wish *wish, u64 *phys)
{
	struct mios_look look = { 0 };
	u32 turn, section = NONE;
	int goes, err = -EINPROGRESS;

	for (turn = 0; turn <= fs->pool->nr_sections; turn++) {
		section = section_at(fs, wish, turn);
		if (section != NONE && !mios_pool_is_full(fs->pool, section))
			break;
	}
	if (turn > fs->pool->nr_sections)
		return -ENOMEM;
	for (goes = 0; goes < RUN_GOES && err == -EINPROGRESS; goes++) {
		err = mios_pool_alloc_run(fs->pool, section,
					  &need->from->cursor[section], &look,
					  phys);
		cond_resched();
	}
	return err == -EINPROGRESS ? -ENOMEM : err;
}

/* Counted before they are there: whoever is at it meanwhile finds no room for more. */
static int run_count(struct mios_fs *fs, u64 inode)
{
	u64 limit = READ_ONCE(fs->limit);
	int err;

	if (limit && mios_fs_used(fs) + MIOS_EXTENT_PAGES > limit)
		return -ENOMEM;
	mios_used_add(fs, MIOS_EXTENT_PAGES);
	err = limit && mios_fs_used(fs) > limit ? -ENOMEM :
	      mios_share_take_all(fs, inode, MIOS_EXTENT_PAGES); /* COUNT */
	if (err)
		mios_used_add(fs, -(u64)MIOS_EXTENT_PAGES);
	return err;
}

int mios_run_place(struct mios_fs *fs, struct mios_need *need, u64 inode,
		   u64 first, u64 *phys)
{
	u64 policy = mios_fs_policy(fs, inode) ?: need->policy;
	const struct wish wish = wish_of(fs, policy,
					 inode + first / MIOS_EXTENT_PAGES);
	int err = run_count(fs, inode);
	u32 i;

	if (err)
		return err;
	err = run_look(fs, need, &wish, phys);
	for (i = 0; err && i < MIOS_EXTENT_PAGES; i++)
		mios_share_give(fs, inode);
	if (err)
		mios_used_add(fs, -(u64)MIOS_EXTENT_PAGES);
	return err;
}

/*
 * For page @index of a file, or of its index: that follows the same policy, if
 * it has to be on certain nodes.
 */
int mios_page_place(struct mios_fs *fs, struct mios_need *need, u64 inode,
		    u64 index, struct mios_page *page)
{
	u64 policy = mios_fs_policy(fs, inode) ?: need->policy;
	const struct wish wish = wish_of(fs, policy, inode + index);
	u64 limit = READ_ONCE(fs->limit), place = inode + index + 1;
	int err;

	if (limit && mios_fs_used(fs) >= limit)
		return -ENOMEM;
	err = mios_share_take(fs, inode); /* COUNT */
	if (err)
		return err;
	if (need->place != place)
		need_begin(need, place);
	err = sections_try(fs, need, &wish, page);
	if (err != -EINPROGRESS)
		need_begin(need, 0);
	if (err)
		mios_share_give(fs, inode);
	else
		mios_used_add(fs, 1);
	return err;
}
