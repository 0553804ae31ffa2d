// SPDX-License-Identifier: GPL-2.0
/*
 * The world that the tests of miosfs play in, and short words for what they do
 * there most.
 */
#include "../../../mios/memory/fs/attributes.h"
#include "../pool/explore.h"
#include "fstest.h"

/* It keeps its place in the queue until it asks again. */
static bool at_once(void *ctx)
{
	return true;
}

static void nobody_sleeps(void *ctx, u64 *word)
{
}

static const struct mios_lock_wait waits = {
	.wake = nobody_sleeps, .late = at_once,
};

void world_locks(struct world *w)
{
	u32 i;

	for (i = 0; i < VIEWS; i++) {
		w->fs[i].lock.wait = &waits;
		w->fs[i].lock.state = MIOS_QLOCK_NONE;
		w->fs[i].recovery.wait = &waits;
		w->fs[i].recovery.state = MIOS_QLOCK_NONE;
		w->fs[i].holder = NULL;
		w->fs[i].stores = 0;
	}
}

void world_views(struct world *w)
{
	u32 i, part;

	memset(w->source, 0, sizeof(w->source));
	for (i = 0; i < VIEWS; i++) {
		memset(w->parts[i]->grant, 0, sizeof(w->parts[i]->grant));
		w->pool[i].section[0].full = 0;
		w->pool[i].section[1].full = 0;
		/* Which parts there are may be others. */
		for (part = 1; part < FS_EXTENTS + FAR_EXTENTS; part++) {
			w->parts[i]->at[MIOS_FS_INODES][part] = NULL;
			w->parts[i]->at[MIOS_FS_ENTRIES][part] = NULL;
			w->parts[i]->at[MIOS_FS_SEGMENTS_KIND][part] = NULL;
			w->parts[i]->at[MIOS_FS_USERS_KIND][part] = NULL;
		}
	}
	world_locks(w);
}

static struct world *explored;

void world_explore(struct world *w)
{
	explored = w;
}

static bool is_in(const u8 *at, const void *from, size_t size)
{
	return at >= (const u8 *)from && at < (const u8 *)from + size;
}

/*
 * What an instance knows for itself; image and parts, as few words of them are
 * shared; the records of pages that few others share.
 */
bool explore_is_cold(const volatile void *address)
{
	const struct world *w = explored;
	const u8 *at = (const u8 *)address;
	u32 i;

	for (i = 0; i < VIEWS; i++)
		if (is_in(at, w->parts[i], sizeof(*w->parts[i])))
			return true;
	if (is_in(at, w, sizeof(*w)))
		return true;
	at -= (size_t)(is_in(at, w->far, FAR_EXTENTS *
			     (size_t)MIOS_EXTENT_SIZE) ? w->far : w->memory);
	return (size_t)at < MIOS_POOL_RECORDS_AT ||
	       (size_t)at >= MIOS_EXTENT_SIZE || (size_t)at % 16 == 8;
}

static void far_make(struct world *w)
{
	struct mios_pool_place place = section_place(FAR_BASE, FAR_EXTENTS);
	u32 i;

	place.node = NODE + 1;
	w->far = section_memory(FAR_EXTENTS);
	CHECK(!mios_pool_grow(&w->pool[0], w->far, &place));
	for (i = 1; i < VIEWS; i++)
		CHECK(!mios_pool_adopt(&w->pool[i], w->far, &place));
	mios_pool_open(&w->pool[0], 1);
}

void world_make(struct world *w)
{
	world_make_of(w, FS_EXTENTS);
}

void world_make_of(struct world *w, u32 extents)
{
	struct mios_fs_attr attr = fs_attr(0755);
	const u64 key[2] = { 1, 2 };
	struct mios_page page;
	u32 i;

	memset(w, 0, sizeof(*w));
	w->extents = extents;
	w->memory = section_memory(extents);
	CHECK(!mios_pool_format(w->memory, BASE,
				extents * (u64)MIOS_EXTENT_SIZE, NODE));
	for (i = 0; i < VIEWS; i++)
		view_make(&w->pool[i], w->memory, extents, i, 1);
	mios_pool_open(&w->pool[0], 0);
	far_make(w);
	CHECK(!mios_pool_alloc_huge(&w->pool[0], &page));
	w->image = page.phys;
	CHECK(!mios_fs_format(mios_pool_memory(&w->pool[0], page.phys),
			      page.phys, &attr, key));
	CHECK(!mios_pool_object(&w->pool[0], &page, MIOS_FS_IMAGE));
	CHECK(!mios_pool_keep(&w->pool[0], &page));
	for (i = 0; i < VIEWS; i++) {
		w->parts[i] = calloc(1, sizeof(*w->parts[i]));
		CHECK(w->parts[i]);
		CHECK(!mios_fs_attach(&w->fs[i], &w->pool[i],
				      mios_pool_memory(&w->pool[i], w->image),
				      w->image, w->parts[i]));
	}
	for (i = 1; i < VIEWS; i += 2) {
		w->fs[i].near[0] = 1;
		w->fs[i].near[1] = 0;
	}
	world_locks(w);
	WHOLE(&w->fs[0], 0);
}

void world_forget(struct world *w)
{
	u32 i;

	for (i = 0; i < VIEWS; i++)
		free(w->parts[i]);
	section_forget(w->far, FAR_EXTENTS);
	section_forget(w->memory, w->extents);
}

void world_release(struct world *w, u32 self)
{
	u32 i;

	for (i = 0; i < 2; i++)
		mios_cursor_release(&w->pool[self], &w->source[self].cursor[i]);
}

struct mios_fs_name fs_name(const char *text)
{
	return (struct mios_fs_name){ text, strlen(text) };
}

struct mios_fs_attr fs_attr(u32 mode)
{
	return (struct mios_fs_attr){ .mode = mode, .uid = 5, .gid = 6,
				      .mtime = 1 };
}

struct mios_fs_judged fs_judged(const struct mios_fs *fs, u64 inode)
{
	return (struct mios_fs_judged){
		.inode = inode, .by = MIOS_FS_BY_ID,
		.id = inode_at(fs, inode)->id,
	};
}

struct mios_fs_place fs_place(const struct mios_fs *fs, u64 dir,
			      const char *name)
{
	return (struct mios_fs_place){
		.dir = fs_judged(fs, dir), .name = fs_name(name),
	};
}

u64 fs_make(struct mios_fs *fs, u64 dir, const char *name, u32 mode)
{
	struct mios_fs_place at = fs_place(fs, dir, name);
	struct mios_fs_attr attr = fs_attr(mode);
	u64 inode = 0;

	CHECK(!mios_fs_make(fs, &at, &attr, &inode));
	return inode;
}

u64 fs_find(struct mios_fs *fs, u64 dir, const char *name)
{
	struct mios_fs_name n = fs_name(name);
	u64 inode, stamp;
	int err = mios_fs_lookup(fs, dir, &n, &inode, &stamp);

	CHECK(!err || err == -ENOENT);
	return err ? 0 : inode;
}

void fs_size(struct mios_fs *fs, u64 inode, u64 size)
{
	struct mios_fs_judged file = fs_judged(fs, inode);
	struct mios_fs_attr attr = { .size = size };

	CHECK(!mios_fs_setattr(fs, &file, &attr, MIOS_FS_SET_SIZE));
}

void fs_attributes(struct world *w, u32 self, u64 inode, bool some)
{
	struct mios_fs_judged file = fs_judged(&w->fs[self], inode);
	struct mios_fs_holder was, holder = { };
	struct mios_fs_attr attr = fs_attr(0100000);
	struct mios_fs *fs = &w->fs[self];

	CHECK(!mios_fs_attributes(fs, inode, file.id, &was));
	attr.uid = inode_at(fs, inode)->owner;
	attr.holder_of = inode;
	if (some) {
		CHECK(!mios_fs_make_nameless(fs, &file, &attr, &holder.inode));
		holder.id = inode_at(fs, holder.inode)->id;
		fs_size(fs, holder.inode, 4096);
		*fs_page(w, self, holder.inode, 0) = 1;
	}
	CHECK(!mios_fs_attributes_set(fs, &file, &was, &holder, 99));
	if (some)
		mios_fs_close(fs, holder.inode);
	if (was.inode)
		CHECK(!fs_reap(fs, was.inode));
}

int fs_fault_at(struct mios_fs *fs, struct mios_source *from, u64 policy,
		u64 inode, u64 index, u64 *phys)
{
	struct mios_need need = { .from = from, .policy = policy };
	int err;

	do {
		err = mios_fs_page(fs, &need, inode, index, phys);
	} while (err == -EINPROGRESS);
	return err;
}

int fs_fault(struct mios_fs *fs, struct mios_source *from, u64 inode, u64 index,
	     u64 *phys)
{
	return fs_fault_at(fs, from, 0, inode, index, phys);
}

u8 *fs_page(struct world *w, u32 self, u64 inode, u64 index)
{
	u64 phys;

	CHECK(!fs_fault(&w->fs[self], &w->source[self], inode, index,
			&phys));
	return mios_pool_memory(&w->pool[self], phys);
}

static u64 cut_once(struct world *w, u32 self, u64 inode,
		    const struct mios_fs_cut *cut, u64 pinned)
{
	struct mios_fs *fs = &w->fs[self];
	u64 index = cut->first, nr = 0, phys;
	struct mios_page page;

	while (mios_fs_next(fs, inode, &index, &phys) && index <= cut->end) {
		if (index - 1 == pinned) {
			if (cut->what == MIOS_FS_REMOVE_HOLE)
				memset(mios_pool_memory(&w->pool[self], phys),
				       0, MIOS_POOL_PAGE);
			else
				mios_fs_leave(fs, inode, pinned);
			continue;
		}
		if (mios_fs_take(fs, inode, index - 1, &page))
			continue;
		CHECK(!mios_fs_give(fs, inode, &page));
		nr++;
	}
	return nr;
}

u64 fs_cut(struct world *w, u32 self, u64 inode, u64 pinned)
{
	bool left = pinned == NO_PIN;
	struct mios_fs_cut cut;
	u64 nr = 0;

	while (mios_fs_cut(&w->fs[self], inode, left, &cut)) {
		nr += cut_once(w, self, inode, &cut, pinned);
		while (mios_fs_cut_end(&w->fs[self], inode, &cut))
			explore_pause();
	}
	return nr;
}

/* More often than anybody is in the way; not for ever, where all is garbage. */
#define TRIES	100000

/* Whoever has begun to free it ends it, however late. */
static int reap(struct mios_fs *fs, u64 inode)
{
	int tries, err = 0;

	for (tries = 0; inode && tries < TRIES; tries++) {
		if (err)
			explore_pause();
		else
			mios_fs_reap_pages(fs, inode);
		err = mios_fs_reap_end(fs, &inode);
	}
	return err;
}

int fs_reap(struct mios_fs *fs, u64 inode)
{
	int err = mios_fs_reap_begin(fs, inode);

	return err ? err : reap(fs, inode);
}

int fs_recover(struct mios_fs *fs, u32 instance, u32 epoch)
{
	struct mios_fs_recovery r = {
		.pool = { .instance = instance, .epoch = epoch },
	};
	int err;

	do {
		err = mios_fs_recover(fs, &r);
	} while (err > 0);
	if (err && r.reap)
		reap(fs, r.reap);
	return err;
}

/* One whose file somebody opens just now is reaped by him. */
static void segment_reap(struct mios_fs *fs, u64 inode)
{
	int tries;

	for (tries = 0; tries < TRIES && fs_reap(fs, inode) == -EBUSY; tries++)
		explore_pause();
}

int fs_sweep(struct mios_fs *fs)
{
	u32 slot = 0;
	u64 inode;
	int found;

	while ((found = mios_fs_segment_sweep(fs, &slot, &inode)) == 1)
		segment_reap(fs, inode);
	return found;
}

int fs_segment_remove(struct mios_fs *fs, u32 slot,
		      const struct mios_fs_seg *judged)
{
	u64 inode = 0;
	int err = mios_fs_segment_remove(fs, slot, judged, &inode);

	if (!err && inode)
		segment_reap(fs, inode);
	return err;
}

static size_t describe(struct mios_fs *fs, u64 dir, char *text, size_t size)
{
	struct mios_fs_reading r = { .before = ~0ull };
	struct mios_fs_dirent entry;
	struct mios_fs_attr attr;
	size_t used = 0;

	while (mios_fs_readdir(fs, dir, &r, &entry) == 1) {
		CHECK(!mios_fs_stat(fs, entry.inode, &attr));
		used += snprintf(text + used, size - used,
				 "%.*s=%llu,%o,%u,%llu,%llu,%llu,%llx ",
				 (int)entry.length, entry.name,
				 attr.id, attr.mode, attr.nlink, attr.size,
				 attr.mtime, attr.ctime, attr.rdev);
		CHECK(used < size);
		if ((attr.mode & MIOS_FS_TYPE) != MIOS_FS_DIRECTORY)
			continue;
		used += snprintf(text + used, size - used, "( ");
		used += describe(fs, entry.inode, text + used, size - used);
		used += snprintf(text + used, size - used, ") ");
		CHECK(used < size);
	}
	return used;
}

void fs_describe(struct mios_fs *fs, char *text, size_t size)
{
	*text = 0;
	describe(fs, MIOS_FS_ROOT, text, size);
}
