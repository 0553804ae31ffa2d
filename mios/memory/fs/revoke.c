// SPDX-License-Identifier: GPL-2.0
/*
 * Taking pages away from who has them mapped, in all instances at once.  The
 * cutter of a file (cut.c) has said which, so that no fault maps them any more;
 * each instance that has the file open unmaps them, which flushes its TLBs, and
 * answers which ones somebody there uses all the same: a pin, or a copy that is
 * being made.  Those are not freed.
 *
 * An instance that has not answered is asked again until it has closed the
 * file, or is dead and recovered: then its bit in ->open is clear, and nothing
 * of it maps or pins anything.  Nobody waits for another instance here with a
 * lock that the answer needs: these are a page's, i_mmap's, and that under which
 * large pages are mapped.
 */
#include <linux/bitmap.h>
#include <linux/jiffies.h>
#include <linux/mm.h>
#include <linux/pagemap.h>
#include <linux/rwsem.h>
#include <linux/slab.h>

#include "../../inject/inject.h"
#include "../../core/link/count.h"
#include "../../core/link/link.h"

#include "fs_trace.h"
#include "vfs.h"

MIOS_INJECT_SWITCH(keep_mapped,
		   "refuse to unmap what another instance takes away");
MIOS_INJECT_SWITCH(serve_locked,
		   "who unmaps for another instance first waits for the lock");
MIOS_INJECT_SWITCH(no_revoke,
		   "free pages that other instances may have mapped");
MIOS_INJECT_SWITCH(large_left,
		   "leave large pages mapped that are taken away");
MIOS_INJECT_SWITCH(any_cutter,
		   "take away for one that removes nothing any more");

/* For one answer; and until who asks gives up, for somebody else to go on. */
#define ANSWER_MS	2000
#define GIVE_UP_MS	60000

/* Read while somebody looks at a mount's files for another instance. */
static DECLARE_RWSEM(mounts_sem);
static LIST_HEAD(mounts);

static struct mios_mount *mount_find(u64 image)
{
	struct mios_mount *m;

	list_for_each_entry(m, &mounts, revoke_entry)
		if (READ_ONCE(m->fs.super->self) == image)
			return m;
	return NULL;
}

static int is_file(struct inode *inode, mios_ino_t id, void *data)
{
	if (inode->i_ino != id)
		return 0;
	/* One on its way out is mapped by nobody, and waits for us, perhaps. */
	return igrab(inode) ? 1 : -1;
}

/**
 * struct revocation - what is taken away
 * @what:	which pages
 * @image:	the file, or what has its number by now
 * @cutter:	who removes them: one that has given up may be served yet
 */
struct revocation {
	const struct mios_call_revoke *what;
	const struct mios_fs_inode *image;
	u64 cutter;
};

static bool is_over(const struct revocation *r)
{
	return !inject_any_cutter &&
	       (READ_ONCE(r->image->cutter) != r->cutter ||
		READ_ONCE(r->image->id) != r->what->id);
}

/* A page that is unmapped by now: nothing here says any more whose it is. */
static bool page_forget(struct inode *inode, u64 index, struct page *page,
			const struct revocation *r)
{
	/* MAP: a fault has it from its last look until the page is mapped. */
	lock_page(page);
	if (is_over(r)) {
		unlock_page(page);
		return true;
	}
	if (inode && folio_mapped(page_folio(page)))
		unmap_mapping_pages(inode->i_mapping, index, 1,
				    r->what->copies);
	page->mapping = NULL;
	unlock_page(page);
	return page_ref_count(page) > 1; /* PIN */
}

/* @inode: NULL: nobody here can have it mapped. */
static void revoke_here(struct mios_mount *m, struct inode *inode,
			const struct revocation *r, unsigned long *pinned)
{
	const struct mios_call_revoke *what = r->what;
	u64 index = what->first, phys;
	u64 nr = min_t(u64, what->nr ?: U64_MAX, MIOS_REVOKE_PAGES);

	if (inode && !inject_large_left) {
		mios_large_wait(inode); /* LARGE */
		unmap_mapping_pages(inode->i_mapping, what->first, what->nr,
				    what->copies);
	}
	while (mios_fs_next(&m->fs, what->inode, &index, &phys) &&
	       index - 1 - what->first < nr) {
		cond_resched();
		if (mios_pool_memory(&m->pool, phys) &&
		    page_forget(inode, index - 1, pfn_to_page(PHYS_PFN(phys)),
				r))
			__set_bit(index - 1 - what->first, pinned);
	}
	/* Copies that faults have made meanwhile; their mappings are older. */
	if (inode && what->copies &&
	    test_bit(MIOS_WAS_COPIED, &mios_inode_of(inode)->flags))
		unmap_mapping_pages(inode->i_mapping, what->first, what->nr,
				    true);
}

/* @what->inode may be any number yet. */
static struct revocation revocation_of(struct mios_mount *m,
				       const struct mios_call_revoke *what,
				       u32 instance, u32 epoch)
{
	return (struct revocation){
		.what = what,
		.image = inode_at(&m->fs, what->inode),
		.cutter = mios_cutter_word(instance, epoch),
	};
}

/* Names in a directory that has gone: none is kept, and so neither is it. */
static void names_forget(struct inode *dir)
{
	struct dentry *dentry = d_find_any_alias(dir);

	if (!dentry)
		return;
	shrink_dcache_parent(dentry);
	dput(dentry);
}

/* Behind the last bit that is set; as a rule there is none. */
static u32 bits_end(const unsigned long *bits)
{
	u32 last = find_last_bit(bits, MIOS_REVOKE_PAGES);

	return last == MIOS_REVOKE_PAGES ? 0 : last + 1;
}

/* As who closes a file for it may have to. */
static void wait_for_lock(struct mios_mount *m)
{
	u32 slot = MIOS_FS_SEGMENTS;
	u64 inode;

	while (inject_serve_locked &&
	       MIOS_PATIENTLY(m, mios_fs_segment_sweep(&m->fs, &slot, &inode)))
		;
}

static int asked(void *ctx, u32 instance, u32 incarnation, const void *data,
		 u32 length, void *answer, u32 *size)
{
	struct mios_call_revoke what;
	struct revocation r;
	struct mios_mount *m;
	struct inode *inode;

	if (length != sizeof(what))
		return -EINVAL;
	if (inject_keep_mapped)
		return -EAGAIN;
	memcpy(&what, data, sizeof(what));
	memset(answer, 0, MIOS_REVOKE_PAGES / 8);
	down_read(&mounts_sem);
	m = mount_find(what.image);
	if (m) {
		wait_for_lock(m);
		inode = find_inode_nowait(m->sb, what.id, is_file, NULL);
		r = revocation_of(m, &what, instance, incarnation);
		if (inode && S_ISDIR(inode->i_mode))
			names_forget(inode);
		else
			revoke_here(m, inode, &r, answer);
		iput(inode);
	} else {
		/* Unmounted with pins: who knows which ones. */
		memset(answer, 0xff, MIOS_REVOKE_PAGES / 8);
	}
	up_read(&mounts_sem);
	*size = BITS_TO_BYTES(bits_end(answer));
	return 0;
}

static const struct mios_callee callee = { .fn = asked };

/* An instance that is asked. */
struct other {
	unsigned long pinned[BITS_TO_LONGS(MIOS_REVOKE_PAGES)];
};

/* Ask all of @who at once: those that have not answered.  @pinned: or NULL. */
static u64 ask(u64 who, const struct mios_call_revoke *what,
	       unsigned long *pinned)
{
	u32 nr = hweight64(who), n = 0, i;
	struct mios_ask *ask = kcalloc(nr, sizeof(*ask), GFP_KERNEL);
	struct other *other = kvcalloc(nr, sizeof(*other), GFP_KERNEL);

	if (!ask || !other)
		goto out;
	for (i = 0; i < MIOS_FS_INSTANCES; i++) {
		if (!(who & BIT_ULL(i)))
			continue;
		ask[n].instance = i;
		ask[n].answer = other[n].pinned;
		ask[n].soon = true;
		ask[n++].size = sizeof(other[n].pinned);
	}
	mios_call_all(ask, nr, MIOS_CALL_REVOKE, what, sizeof(*what),
		      ANSWER_MS);
	for (n = 0; n < nr; n++) {
		if (ask[n].result < 0)
			continue;
		who &= ~BIT_ULL(ask[n].instance);
		if (pinned)
			bitmap_or(pinned, pinned, other[n].pinned,
				  MIOS_REVOKE_PAGES);
	}
out:
	kvfree(other);
	kfree(ask);
	return who;
}

/**
 * mios_revoke() - unmap pages of a file, everywhere
 * @inode: this instance is its cutter
 * @first: from this page on
 * @nr: so many; 0: to the end
 * @copies: private copies of them, too
 * @pinned: out: MIOS_REVOKE_PAGES bits, from @first on: not to be freed
 *
 * -EBUSY: an instance does not answer, and is not dead.
 */
int mios_revoke(struct inode *inode, u64 first, u64 nr, bool copies,
		unsigned long *pinned)
{
	struct mios_mount *m = mount_of(inode);
	unsigned long end = jiffies + msecs_to_jiffies(GIVE_UP_MS);
	const struct mios_call_revoke what = {
		.image = READ_ONCE(m->fs.super->self),
		.inode = number_of(inode),
		.id = inode->i_ino,
		.first = first,
		.nr = nr,
		.copies = copies,
	};
	const struct revocation r = revocation_of(m, &what, m->pool.self,
						  m->pool.epoch);
	u64 who;

	bitmap_zero(pinned, MIOS_REVOKE_PAGES);
	/* SIZE, HOLE, MAP, PIN: who opens it, or looks, from here on sees what goes. */
	smp_mb();
	who = open_elsewhere(inode);
	if (inject_no_revoke)
		who = 0;
	trace_mios_revoke(what.inode, first, nr, who);
	mios_count(MIOS_COUNT_REVOKES);
	revoke_here(m, inode, &r, pinned);
	/* What a device of the dead may write to is as good as pinned there. */
	if (who & 1 && mios_devices_never_quiet(0)) {
		bitmap_fill(pinned, MIOS_REVOKE_PAGES);
		who &= ~1ull;
	}
	while (who) {
		who = ask(who, &what, pinned) & open_elsewhere(inode);
		if (!who)
			break;
		if (time_after(jiffies, end) || fatal_signal_pending(current))
			return -EBUSY;
		usleep_range(500, 1000);
	}
	return 0;
}

/**
 * mios_forget() - have the others close a directory that has gone
 * @dir: nobody finds it any more
 *
 * An instance that keeps names of what was in it has it open.  One that does
 * not answer in time keeps it, until it needs the memory.
 */
void mios_forget(struct inode *dir)
{
	struct mios_mount *m = mount_of(dir);
	const struct mios_call_revoke what = {
		.image = READ_ONCE(m->fs.super->self),
		.inode = number_of(dir),
		.id = dir->i_ino,
	};
	u64 who = open_elsewhere(dir);

	if (who)
		ask(who, &what, NULL);
}

/**
 * mios_revoke_begin() - answer others who take pages away
 * @m: mounted; nothing of it is open yet
 */
void mios_revoke_begin(struct mios_mount *m)
{
	down_write(&mounts_sem);
	list_add(&m->revoke_entry, &mounts);
	up_write(&mounts_sem);
}

/**
 * mios_revoke_end() - answer that all is pinned
 * @m: nobody has anything of it mapped any more
 */
void mios_revoke_end(struct mios_mount *m)
{
	down_write(&mounts_sem);
	list_del_init(&m->revoke_entry);
	up_write(&mounts_sem);
}

int mios_revoke_init(void)
{
	return mios_callee_register(MIOS_CALL_REVOKE, &callee);
}

void mios_revoke_exit(void)
{
	mios_callee_unregister(MIOS_CALL_REVOKE);
}
