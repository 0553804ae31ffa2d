// SPDX-License-Identifier: GPL-2.0
/*
 * Mounting.  The pool is memory that no kernel has as its own: the ring's, a
 * section in each node, or what mount options "pool" name, a section each.
 * Instance 0 makes the file system: with "format" in any case, with "make" where
 * there is no sound one.
 */
#include <linux/fs_context.h>
#include <linux/module.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/statfs.h>

#include "../../core/link/link.h"

#include "options.h"

/* What statfs(2) calls it: "MIOS". */
#define MIOS_SUPER_MAGIC	0x534f494dUL

static const struct mios_mount_ops *mount_ops;

static int image_make(struct mios_mount *m)
{
	const u64 now = ktime_get_real_ns();
	const struct mios_fs_attr attr = {
		.mode = 01777, .atime = now, .mtime = now, .ctime = now,
	};
	struct mios_page page;
	void *image;
	u64 key[2];
	int err;

	get_random_bytes(key, sizeof(key));
	mios_pool_open(&m->pool, 0);
	err = mios_pool_alloc_huge(&m->pool, &page);
	if (err)
		return err;
	image = mios_pool_memory(&m->pool, page.phys);
	memset(image, 0, MIOS_EXTENT_SIZE);
	err = mios_fs_format(image, page.phys, &attr, key);
	if (!err)
		err = mios_pool_object(&m->pool, &page, MIOS_FS_IMAGE);
	return err ? err : mios_pool_keep(&m->pool, &page);
}

/* The extent that says it is the image. */
static u64 image_find(const struct mios_pool *pool)
{
	const struct mios_section *section = &pool->section[0];
	u32 i;

	for (i = 0; i < section->nr_extents; i++)
		if (READ_ONCE(section->extent[i].object) == MIOS_FS_IMAGE)
			return section->base + (u64)i * MIOS_EXTENT_SIZE;
	return 0;
}

/* How far a section is; what nobody knows is farthest. */
static u32 distance_of(const struct mios_mount *m, u32 node, u32 section)
{
	u32 to = m->pool.section[section].node;

	return to == node ? 0 : mios_link_distance(node, to) ?: U32_MAX;
}

/* Of those that are equally far, the next higher node first, in a circle. */
static void near_set(struct mios_mount *m, u32 node)
{
	u32 nr = m->pool.nr_sections;
	u32 i, at;

	for (i = 0; i < nr; i++) {
		u32 section = (node + i) % nr;

		for (at = i; at && distance_of(m, node, m->fs.near[at - 1]) >
				   distance_of(m, node, section); at--)
			m->fs.near[at] = m->fs.near[at - 1];
		m->fs.near[at] = section;
	}
}

static int image_attach(struct mios_mount *m)
{
	u64 image = image_find(&m->pool);

	if (!image)
		return -EBADMSG;
	return mios_fs_attach(&m->fs, &m->pool,
			      mios_pool_memory(&m->pool, image), image,
			      m->parts);
}

/* The sections behind the first: all instances map them, too, by mounting. */
static int sections_make(struct mios_mount *m, const struct mios_options *o)
{
	unsigned int i;
	int err = 0;

	for (i = 1; i < o->nr && !err; i++) {
		err = mios_pool_grow(&m->pool, m->map[i].memory, &o->place[i]);
		if (!err)
			mios_pool_open(&m->pool, i);
	}
	return err;
}

/* What the pool says of itself is only compared with what is mapped. */
static int sections_adopt(struct mios_mount *m, const struct mios_options *o)
{
	struct mios_pool_place place;
	unsigned int i;
	int err;

	for (i = 1; i < o->nr; i++) {
		err = mios_pool_place(&m->pool, &place);
		if (err != 1 || place.base != o->place[i].base ||
		    place.size != o->place[i].size ||
		    place.node != o->place[i].node)
			return -EBADMSG;
		err = mios_pool_adopt(&m->pool, m->map[i].memory, &place);
		if (err)
			return err;
	}
	return mios_pool_place(&m->pool, &place) ? -EBADMSG : 0;
}

static int pool_attach(struct mios_mount *m, const struct mios_options *o,
		       bool format)
{
	const struct mios_pool_place *first = &o->place[0];
	struct mios_info self;
	int err = mios_link_info(mios_link_self(), &self);

	if (err)
		return err;
	/* What names an owner in a pool has room for no more. */
	if (self.incarnation > MIOS_EPOCH_MAX)
		return -EOVERFLOW;
	if (format)
		err = mios_pool_format(m->map[0].memory, first->base,
				       first->size, first->node);
	if (!err)
		err = mios_pool_attach(&m->pool, m->map[0].memory, first,
				       first->node, mios_link_self(),
				       self.incarnation);
	if (!err && format)
		err = image_make(m);
	if (!err)
		err = format ? sections_make(m, o) : sections_adopt(m, o);
	if (!err)
		err = image_attach(m);
	if (err)
		return err;
	near_set(m, self.node);
	m->fs.exempt = mios_may_exceed;
	mios_image_lock_init(m);
	return 0;
}

/* Whoever is up may have it mounted, and would go on in what is overwritten. */
static noinline_for_stack bool is_anyone_up(void)
{
	struct mios_info info;
	u32 i;

	for (i = 1; i < mios_link_nr(); i++)
		if (!mios_link_info(i, &info) && info.state != MIOS_STATE_DOWN)
			return true;
	return false;
}

static int pool_use(struct mios_mount *m, const struct mios_options *o)
{
	int err = o->format ? -EBADMSG : pool_attach(m, o, false);

	if (err != -EBADMSG && err != -EPROTO)
		return err;
	if (!o->format && !o->make)
		return err;
	if (o->ring && is_anyone_up())
		return -EADDRINUSE;
	return pool_attach(m, o, true);
}

static int mount_attach(struct mios_mount *m, struct fs_context *fc)
{
	const struct mios_options *o = fc->fs_private;
	int err = pool_use(m, o);

	if (!err)
		err = mios_death_watch(m);
	if (!err)
		err = mount_ops->begin(m);
	switch (err) {
	case 0:
		return 0;
	case -EBADMSG:
		errorfc(fc, "no miosfs there, or a damaged one: -o format makes one");
		break;
	case -EPROTO:
		errorfc(fc, "the miosfs in the pool is of another version");
		break;
	case -ENOMEM:
		errorfc(fc, "the pool is too small for a miosfs: give it 6M");
		break;
	case -EADDRINUSE:
		errorfc(fc, "not made anew: other instances are up, and may use what is there");
		break;
	case -EBUSY:
		errorfc(fc, "a change by another instance does not end: try again");
		break;
	case -EOVERFLOW:
		errorfc(fc, "too many boots for a pool: power the machine off and on");
		break;
	default:
		errorfc(fc, "cannot use the pool: error %d", err);
	}
	return err == -EBADMSG || err == -EPROTO ? -EUCLEAN : err;
}

/* By what each instance counts: a look at all pages may be one at gigabytes. */
static int statfs(struct dentry *dentry, struct kstatfs *buf)
{
	struct mios_mount *m = dentry->d_sb->s_fs_info;
	u64 pages = mios_pool_pages(&m->pool), used = mios_fs_used(&m->fs);
	u64 others = min(mios_fs_extents(&m->fs) * MIOS_EXTENT_PAGES, pages);
	u64 limit = READ_ONCE(m->fs.limit), most = READ_ONCE(m->fs.files);
	u64 files, more, whole;

	buf->f_type = MIOS_SUPER_MAGIC;
	buf->f_bsize = PAGE_SIZE;
	buf->f_namelen = MIOS_FS_NAME;
	buf->f_blocks = pages;
	buf->f_bfree = pages - others - min(used, pages - others);
	if (limit) {
		buf->f_blocks = min(pages, limit);
		buf->f_bfree = min(buf->f_bfree, limit - min(used, limit));
	}
	buf->f_bavail = buf->f_bfree;
	/*
	 * Of what is free the image may take a part of each kind, again and
	 * again, but not of the extent in which a section has its records.
	 */
	files = mios_fs_files(&m->fs, &more);
	whole = (u64)m->pool.nr_sections * MIOS_EXTENT_PAGES;
	whole = buf->f_bfree - min(buf->f_bfree, whole);
	buf->f_ffree = more + whole / (2 * MIOS_EXTENT_PAGES) *
		       (MIOS_FS_PART_NUMBERS - MIOS_FS_PART_ENTRIES_AT);
	if (most)
		buf->f_ffree = min(buf->f_ffree, most - min(files, most));
	buf->f_files = files + buf->f_ffree;
	return 0;
}

static const struct super_operations super_ops = {
	.alloc_inode = mios_inode_alloc,
	.free_inode = mios_inode_free,
	.drop_inode = mios_inode_drop,
	.evict_inode = mios_inode_evict,
	.statfs = statfs,
};

static int root_make(struct super_block *sb)
{
	struct inode *root = mios_inode_get(sb, MIOS_FS_ROOT);

	if (IS_ERR(root))
		return PTR_ERR(root);
	sb->s_root = d_make_root(root);
	return sb->s_root ? 0 : -ENOMEM;
}

static void mount_free(struct mios_mount *m)
{
	if (!m)
		return;
	free_percpu(m->source);
	kvfree(m->parts);
	kfree(m);
}

static struct mios_mount *mount_alloc(void)
{
	struct mios_mount *m = kzalloc(sizeof(*m), GFP_KERNEL);
	int cpu;

	if (!m)
		return NULL;
	m->source = alloc_percpu(struct mios_source);
	m->parts = kvzalloc(sizeof(*m->parts), GFP_KERNEL);
	if (!m->source || !m->parts) {
		mount_free(m);
		return NULL;
	}
	for_each_possible_cpu(cpu)
		spin_lock_init(&per_cpu_ptr(m->source, cpu)->lock);
	return m;
}

/* Also of CPUs that are offline by now: what one has leased stays so until here. */
static void sources_release(struct mios_mount *m)
{
	struct mios_source *source;
	u32 i;
	int cpu;

	for_each_possible_cpu(cpu) {
		source = per_cpu_ptr(m->source, cpu);
		for (i = 0; i < m->pool.nr_sections; i++)
			mios_cursor_release(&m->pool, &source->cursor[i]);
	}
}

static int fill(struct super_block *sb, struct fs_context *fc)
{
	const struct mios_options *o = fc->fs_private;
	struct mios_mount *m = mount_alloc();
	int err;

	if (!m)
		return -ENOMEM;
	mutex_init(&m->lock);
	spin_lock_init(&m->open_lock);
	m->sb = sb;
	m->ring = o->ring;
	m->policy = o->policy;
	m->huge = o->huge;
	sb->s_magic = MIOS_SUPER_MAGIC;
	sb->s_op = &super_ops;
	sb->s_xattr = mios_xattr_handlers;
	mios_set_default_d_op(sb, &mios_dentry_ops);
	sb->s_blocksize = PAGE_SIZE;
	sb->s_blocksize_bits = PAGE_SHIFT;
	sb->s_maxbytes = MIOS_FILE_MAX;
	sb->s_time_gran = 1;
	INIT_LIST_HEAD(&m->revoke_entry);
	INIT_LIST_HEAD(&m->entry);
	mios_mend_init(m);
	mios_filelocks_begin(m);
	err = mios_maps_make(m, fc, o->place, o->nr);
	if (err) {
		mount_free(m);
		return err;
	}
	/* From here on mount_end() undoes it. */
	sb->s_fs_info = m;
	mios_number_set(m, o->place[0].base);
	err = mount_attach(m, fc);
	if (err)
		return err;
	m->fs.limit = o->limit;
	m->fs.files = o->files;
	if (mios_policy_fit(m, &m->policy))
		return invalfc(fc, "policy=: a node of it has no part of the pool");
	mios_revoke_begin(m);
	mios_mend_soon(m);
	err = root_make(sb);
	return err ? err : mios_mode_check(fc, d_inode(sb->s_root));
}

static int ring_pool(struct fs_context *fc, struct mios_options *o)
{
	const struct mios_range *pools = mios_link_pools();
	u32 i;

	for (i = 0; i < MIOS_POOL_SECTIONS; i++)
		if (pools[i].size)
			o->place[o->nr++] = (struct mios_pool_place){
				.base = pools[i].base, .size = pools[i].size,
				.node = i,
			};
	if (!o->nr)
		return invalfc(fc, "this ring has no pool: name one with pool=");
	o->ring = true;
	return 0;
}

static int tree(struct fs_context *fc)
{
	struct mios_options *o = fc->fs_private;
	int err = 0;

	if ((o->format || o->make) && mios_link_self())
		return invalfc(fc, "only instance 0 makes a miosfs; mount it without format");
	if (!o->nr)
		err = ring_pool(fc, o);
	return err ? err : get_tree_nodev(fc, fill);
}

static void context_free(struct fs_context *fc)
{
	kfree(fc->fs_private);
}

static const struct fs_context_operations context_ops = {
	.parse_param = mios_option,
	.get_tree = tree,
	.reconfigure = mios_remount,
	.free = context_free,
};

static int context_init(struct fs_context *fc)
{
	struct mios_options *o = kzalloc(sizeof(*o), GFP_KERNEL);

	if (!o)
		return -ENOMEM;
	fc->fs_private = o;
	fc->ops = &context_ops;
	return 0;
}

/* What is still pinned must stay where it is, and so does all of it. */
static void mount_end(struct super_block *sb)
{
	struct mios_mount *m = sb->s_fs_info;

	if (m) {
		mios_mend_exit(m);
		mios_revoke_end(m);
		mios_number_end(m);
	}
	kill_anon_super(sb);
	if (!m)
		return;
	mios_death_ignore(m);
	if (mount_ops->end(m) || mios_maps_are_pinned(m)) {
		pr_err("miosfs: something still uses pages of the pool at %#llx: it stays mapped here until this kernel ends\n",
		       m->map[0].pages.range.start);
		__module_get(THIS_MODULE);
		return;
	}
	/* Who walks a path without references has looked at it until now. */
	synchronize_rcu();
	mios_opens_end(m);
	mios_filelocks_end(m);
	sources_release(m);
	mios_maps_undo(m);
	mount_free(m);
}

static struct file_system_type type = {
	.owner = THIS_MODULE,
	.name = "miosfs",
	.init_fs_context = context_init,
	.parameters = mios_parameters,
	.kill_sb = mount_end,
};

/**
 * mios_mount_ops_set() - tell somebody of mounts
 * @ops: who; before mios_super_init()
 */
void mios_mount_ops_set(const struct mios_mount_ops *ops)
{
	mount_ops = ops;
}

static const struct mios_inode_kinds kinds = {
	.dir = &mios_dir_inode_ops,
	.dir_open = &mios_dir_ops,
	.symlink = &mios_symlink_inode_ops,
	.file = &mios_file_inode_ops,
	.file_open = &mios_file_ops,
	.pages = &mios_aops,
};

int mios_super_init(void)
{
	int err = mios_inodes_init(&kinds);

	if (err)
		return err;
	err = register_filesystem(&type);
	if (err)
		mios_inodes_exit();
	return err;
}

void mios_super_exit(void)
{
	unregister_filesystem(&type);
	mios_inodes_exit();
}
