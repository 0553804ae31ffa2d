// SPDX-License-Identifier: GPL-2.0
/*
 * Files of segments, which have no name: the inode is the segment's in miosfs,
 * the dentry one of a mount that no path leads to.  A file keeps miosfs active
 * through its dentry, as if it lay there, so that it need not have a mount made
 * for each.  When nobody here has a segment attached, its inode sleeps.
 */
#include <linux/file.h>
#include <linux/hex.h>
#include <linux/mount.h>
#include <linux/pseudo_fs.h>

#include "../fs/vfs.h"

#include "ipc.h"

/* What statfs(2) would call it: "MSEG". */
#define SEGMENTS_MAGIC	0x4745534dUL

/*
 * Where nobody else uses it: as any file whose last dentry is put.  Who begins to
 * meanwhile waits for that, a second if a page is pinned: by the inode's own lock,
 * so that he who pins one is in nobody's way but theirs who share that segment.
 */
static void rest(struct inode *inode)
{
	inode_lock(inode);
	if (atomic_read(&inode->i_count) == 1 && mios_pages_let_go(inode)) {
		clear_bit(MIOS_WAS_MAPPED, &mios_inode_of(inode)->flags);
		mios_inode_sleep(inode);
	}
	inode_unlock(inode);
}

/* Last of all it lets miosfs go, whose inode that was. */
static void file_end(struct dentry *dentry, struct inode *inode)
{
	struct super_block *sb = dentry->d_fsdata;

	if (sb)
		rest(inode);
	iput(inode);
	if (sb)
		deactivate_super(sb);
}

/* As simple_dname(), which modules do not have. */
static char *file_name(struct dentry *dentry, char *buffer, int size)
{
	char text[32];
	int length = snprintf(text, sizeof(text), "/%pd (deleted)", dentry) + 1;

	if (length > size)
		return ERR_PTR(-ENAMETOOLONG);
	return memcpy(buffer + size - length, text, length);
}

static const struct dentry_operations dentry_ops = {
	.d_iput = file_end,
	.d_dname = file_name,
};

static int context_init(struct fs_context *fc)
{
	struct pseudo_fs_context *ctx = init_pseudo(fc, SEGMENTS_MAGIC);

	if (!ctx)
		return -ENOMEM;
	ctx->dops = &dentry_ops;
	return 0;
}

static struct file_system_type type = {
	.owner = THIS_MODULE,
	.name = "miosegments",
	.init_fs_context = context_init,
	.kill_sb = kill_anon_super,
};

/**
 * mios_files_begin() - the files of a mount's segments can be opened
 * @m: the mount
 */
int mios_files_begin(struct mios_mount *m)
{
	struct vfsmount *mount = kern_mount(&type);

	if (IS_ERR(mount))
		return PTR_ERR(mount);
	m->segments = mount;
	return 0;
}

/**
 * mios_files_end() - no more
 * @m: the mount; none is open, but the last one's end may call this
 */
void mios_files_end(struct mios_mount *m)
{
	if (m->segments)
		kern_unmount(m->segments);
	m->segments = NULL;
}

/* It does not fall asleep any more; who is just looking at it looks no more then. */
static struct inode *segment_inode(struct mios_mount *m, u64 number)
{
	struct inode *inode = mios_inode_get(m->sb, number);

	if (IS_ERR(inode))
		return inode;
	inode_lock(inode);
	set_bit(MIOS_STAYS, &mios_inode_of(inode)->flags);
	inode_unlock(inode);
	return inode;
}

/**
 * mios_segment_file() - open the file of a segment
 * @m: the mount, kept mounted by the caller
 * @seg: the segment
 * @flags: O_RDONLY or O_RDWR
 */
struct file *mios_segment_file(struct mios_mount *m,
			       const struct mios_fs_seg *seg, int flags)
{
	struct inode *inode = segment_inode(m, seg->inode);
	char name[] = "SYSV01234567", *digits = name + 4;
	struct file *file;
	int i;

	if (IS_ERR(inode))
		return ERR_CAST(inode);
	for (i = 24; i >= 0; i -= 8)
		digits = hex_byte_pack(digits, seg->key >> i);
	file = alloc_file_pseudo(inode, m->segments, name, flags,
				 &mios_segment_ops);
	if (IS_ERR(file)) {
		iput(inode);
		return file;
	}
	/* What file_end() gives back. */
	atomic_inc(&m->sb->s_active);
	file->f_path.dentry->d_fsdata = m->sb;
	return file;
}

/**
 * mios_segment_forget() - a segment has been removed, perhaps
 * @m: the mount
 * @seg: the segment, as it was
 *
 * What other instances remove sleeps here until memory is wanted.
 */
void mios_segment_forget(struct mios_mount *m, const struct mios_fs_seg *seg)
{
	struct inode *inode = ilookup(m->sb, seg->id);

	if (inode)
		iput(inode);
}
