// SPDX-License-Identifier: GPL-2.0
/*
 * What is known of names.  A dentry, also one that says that there is no such name,
 * is believed as long as the stamp holds that the name had when it was looked up;
 * then the image is asked whether the name is still the same file's.  So what a call
 * has changed, on whatever instance, is seen after it has returned.
 *
 *   STAMP	->d_time is the stamp, ->d_fsdata the dentry's own ->d_seq then: who
 *		gives it another name or inode, as the VFS does here and there,
 *		changes that, and whatever is said of the old name is not believed
 *		of the new one.  Who writes, with ->d_lock: no stamp, ->d_fsdata, the
 *		stamp.  Who reads: ->d_fsdata, the stamp, ->d_seq.  So a stamp is
 *		taken together with its own ->d_fsdata, or with an older one, which
 *		is believed only where no name has come in between.
 */
#include <linux/fs.h>
#include <linux/namei.h>

#include "../../inject/inject.h"
#include "vfs.h"

MIOS_INJECT_SWITCH(stale, "believe names, whatever others have changed");
MIOS_INJECT_SWITCH(ask_always, "ask for each name, though nobody has changed it");

#define FIND_TRIES	100	/* each a change of that name, or of its group */

/* The image is asked. */
static int lookup(struct inode *dir, const struct qstr *qstr, u64 *number,
		  u64 *stamp)
{
	struct mios_fs_name name = name_of(qstr);
	struct mios_mount *m = mount_of(dir);

	mios_fs_asked();
	return MIOS_LOOK(m, mios_fs_lookup(&m->fs, number_of(dir), &name,
					   number, stamp));
}

static int dentry_begin(struct dentry *dentry)
{
	dentry->d_time = MIOS_FS_NO_STAMP;
	return 0;
}

/* A name in a directory, as it has been asked for. */
struct asked {
	struct dentry *parent;
	const struct qstr *name;
	u64 stamp;
};

static void *seq_of(const struct dentry *dentry)
{
	return (void *)(unsigned long)raw_read_seqcount(&dentry->d_seq);
}

/* That it leads to @inode, or to nothing: unless the dentry is another one by now. */
static void believe(struct dentry *dentry, const struct inode *inode,
		    const struct asked *asked)
{
	const struct qstr *name = asked->name;

	spin_lock(&dentry->d_lock);
	if (dentry->d_parent == asked->parent && d_inode(dentry) == inode &&
	    dentry->d_name.len == name->len &&
	    !memcmp(dentry->d_name.name, name->name, name->len)) {
		WRITE_ONCE(dentry->d_time, MIOS_FS_NO_STAMP);
		smp_store_release(&dentry->d_fsdata, seq_of(dentry)); /* STAMP */
		smp_store_release(&dentry->d_time, asked->stamp); /* STAMP */
	}
	spin_unlock(&dentry->d_lock);
}

/* Is it known that no instance has changed the name since? */
static bool is_believed(const struct dentry *dentry)
{
	const struct mios_mount *m = dentry->d_sb->s_fs_info;
	void *seq = smp_load_acquire(&dentry->d_fsdata); /* STAMP */
	u64 stamp = READ_ONCE(dentry->d_time);

	return (mios_fs_stamp_holds(&m->fs, stamp) && !inject_ask_always &&
		!read_seqcount_retry(&dentry->d_seq, (unsigned long)seq)) ||
	       inject_stale;
}

/**
 * mios_dentry_made() - a name has just been made
 * @dentry: of it; its directory is locked, and not for readers
 * @inode: what it leads to
 * @stamp: of the name when that was so
 */
void mios_dentry_made(struct dentry *dentry, const struct inode *inode,
		      u64 stamp)
{
	const struct asked asked = {
		dentry->d_parent, &dentry->d_name, stamp,
	};

	believe(dentry, inode, &asked);
}

/*
 * What a name leads to, open here, or NULL.  Its number is another file's, perhaps,
 * before that is open; but not if it still has the name then.
 */
static struct inode *find(struct inode *dir, struct asked *asked)
{
	const struct mios_mount *m = mount_of(dir);
	struct inode *inode;
	int tries, err;
	u64 number;

	for (tries = 0; tries < FIND_TRIES; tries++) {
		err = lookup(dir, asked->name, &number, &asked->stamp);
		if (err)
			return err == -ENOENT ? NULL : ERR_PTR(err);
		inode = mios_inode_get(dir->i_sb, number);
		if (IS_ERR(inode) ? PTR_ERR(inode) != -ESTALE :
				    mios_fs_stamp_holds(&m->fs, asked->stamp))
			return inode;
		if (!IS_ERR(inode))
			iput(inode);
		if (fatal_signal_pending(current))
			return ERR_PTR(-EINTR);
		cond_resched();
	}
	return ERR_PTR(-ESTALE);
}

struct dentry *mios_dir_lookup(struct inode *dir, struct dentry *dentry,
			       unsigned int flags)
{
	struct asked asked = { .parent = dentry->d_parent };
	struct name_snapshot name;
	struct dentry *found;
	struct inode *inode;

	/* Another look-up may move a directory as soon as that is known. */
	take_dentry_name_snapshot(&name, dentry);
	asked.name = &name.name;
	inode = find(dir, &asked);
	/* Names that it has no more, perhaps; it is kept with one alone. */
	if (!IS_ERR_OR_NULL(inode) && !S_ISDIR(inode->i_mode))
		d_prune_aliases(inode);
	found = d_splice_alias(inode, dentry);
	if (!IS_ERR(found))
		believe(found ?: dentry, inode, &asked);
	release_dentry_name_snapshot(&name);
	return found;
}

/*
 * Is it open here, with the attributes that it has?  That these cannot be had says
 * nothing of the name: who is told that it has gone takes away what is mounted there.
 */
static int inode_is_ready(struct inode *inode)
{
	int err = 0;

	if (inode)
		err = mios_inode_wake(inode) ?: mios_inode_look(inode);
	return err == -ESTALE || err == -ENOENT ? 0 : err ?: 1;
}

static int look_again(struct dentry *dentry, struct inode *inode)
{
	struct asked asked = { .parent = dget_parent(dentry) };
	struct name_snapshot name;
	u64 number = 0;
	int ret;

	take_dentry_name_snapshot(&name, dentry);
	asked.name = &name.name;
	ret = lookup(d_inode(asked.parent), asked.name, &number, &asked.stamp);
	if (!ret || ret == -ENOENT)
		ret = (inode ? number_of(inode) : 0) == (ret ? 0 : number) ?
		      inode_is_ready(inode) : 0;
	if (ret > 0)
		believe(dentry, inode, &asked);
	release_dentry_name_snapshot(&name);
	dput(asked.parent);
	return ret;
}

static int MIOS_REVALIDATE(revalidate)
{
	struct inode *inode = d_inode_rcu(dentry);
	bool believed = is_believed(dentry);

	if (believed && (!inode || (mios_inode_is_fresh(inode) &&
				    !mios_inode_is_asleep(inode))))
		return 1;
	/* Who wakes it has to use the dentry: else it would not sleep again. */
	if (flags & LOOKUP_RCU)
		return -ECHILD;
	return believed ? inode_is_ready(inode) : look_again(dentry, inode);
}

static bool is_named(const struct inode *inode)
{
	return mios_fs_is_named(&mount_of(inode)->fs, number_of(inode),
				inode->i_ino);
}

/*
 * Nobody uses it any more; is it not to be kept?  It keeps its directory, so that the
 * number in the hash of its name stays that directory's, and so not in one that has
 * gone.  Who walks a path without references and has found it awake must not get hold
 * of it: for him it is another one by now.
 */
static int forget(const struct dentry *of)
{
	struct dentry *dentry = (struct dentry *)of;
	struct inode *inode = d_inode(dentry);
	void *seq = seq_of(dentry);

	if (!is_named(d_inode(dentry->d_parent)))
		return 1;
	if (!inode)
		return 0;
	if (!mios_inode_sleep(inode))
		return 1;
	write_seqcount_invalidate(&dentry->d_seq);
	/* Its name is the same. */
	if (dentry->d_fsdata == seq)
		smp_store_release(&dentry->d_fsdata, seq_of(dentry)); /* STAMP */
	return 0;
}

const struct dentry_operations mios_dentry_ops = {
	.d_init = dentry_begin,
	.d_revalidate = revalidate,
	.d_delete = forget,
};
