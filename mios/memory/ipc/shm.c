// SPDX-License-Identifier: GPL-2.0
/*
 * System V segments that all instances of the ring have: files of its pool,
 * with one space of keys and ids.  Called by the kernel's shmget() and shmctl()
 * in the initial namespace, through the hook of linux/ipc/; an id that is none
 * of ours is the kernel's own.
 */
#include <linux/cred.h>
#include <linux/ipc.h>
#include <linux/ipc_namespace.h>
#include <linux/module.h>
#include <linux/pid.h>
#include <linux/seq_file.h>
#include <linux/shm.h>
#include <linux/shm_remote.h>
#include <linux/timekeeping.h>
#include <linux/user_namespace.h>
#include <uapi/linux/shm.h>

#include "../fs/share.h"
#include "../fs/vfs.h"

#include "ipc.h"

#define INDICES		(1 << MIOS_FS_SEGMENT_SHIFT)

/* The ring's, while it is mounted. */
static struct mios_mount *segments;
static DEFINE_SPINLOCK(segments_lock);	/* segments */

/**
 * mios_segments_get() - the mount that segments are in, kept mounted
 *
 * NULL: there is none.
 */
struct mios_mount *mios_segments_get(void)
{
	struct mios_mount *m;

	spin_lock(&segments_lock);
	m = segments;
	if (m && (!(READ_ONCE(m->sb->s_flags) & SB_BORN) ||
		  !atomic_inc_not_zero(&m->sb->s_active)))
		m = NULL;
	spin_unlock(&segments_lock);
	return m;
}

void mios_segments_put(struct mios_mount *m)
{
	deactivate_super(m->sb);
}

/* Its index, as SHM_STAT takes it: the id of the one with sequence 0. */
static int index_of(u32 slot)
{
	return slot / MIOS_FS_SEGMENT_INDICES << MIOS_FS_SEGMENT_SHIFT |
	       (INDICES - 1 - slot % MIOS_FS_SEGMENT_INDICES);
}

static int id_of(u32 slot, const struct mios_fs_seg *seg)
{
	return seg->sequence << (MIOS_FS_SEGMENT_SHIFT + 1) | index_of(slot);
}

/* What of an id is the sequence. */
u32 mios_segment_sequence(int id)
{
	return id >> (MIOS_FS_SEGMENT_SHIFT + 1);
}

/**
 * mios_segment_slot() - where the segment with an id lies
 * @id: or index
 *
 * -EOPNOTSUPP: it is none of ours.
 */
int mios_segment_slot(int id)
{
	u32 from_end = INDICES - 1 - id % INDICES;
	u32 upper = id >> MIOS_FS_SEGMENT_SHIFT & 1;
	u32 slot = upper * MIOS_FS_SEGMENT_INDICES + from_end;

	return id >= 0 && from_end < MIOS_FS_SEGMENT_INDICES &&
	       slot < MIOS_FS_SEGMENTS ? slot : -EOPNOTSUPP;
}

static bool is_of(int id, const struct mios_fs_seg *seg)
{
	return seg->sequence == mios_segment_sequence(id);
}

/**
 * mios_segment_read() - the segment with an id
 * @m: the mount
 * @id: of one of ours
 * @seg: out, but for how often it is attached
 *
 * -EINVAL: there is none, or there is another one by now.
 */
int mios_segment_read(struct mios_mount *m, int id, struct mios_fs_seg *seg)
{
	int err = MIOS_LOOK(m, mios_fs_segment_look(&m->fs,
						    mios_segment_slot(id),
						    seg));

	if (err)
		return err == -ENOENT ? -EINVAL : err;
	return is_of(id, seg) ? 0 : -EINVAL;
}

static kuid_t uid_of(u32 uid)
{
	return make_kuid(&init_user_ns, uid);
}

static kgid_t gid_of(u32 gid)
{
	return make_kgid(&init_user_ns, gid);
}

/**
 * mios_segment_permits() - may this task do that?  As ipcperms() has it
 * @seg: the segment
 * @wanted: permissions, of owner, group or others
 */
bool mios_segment_permits(const struct mios_fs_seg *seg, u32 wanted)
{
	u32 granted = seg->mode;
	kuid_t euid = current_euid();

	wanted = wanted >> 6 | wanted >> 3 | wanted;
	if (uid_eq(euid, uid_of(seg->cuid)) || uid_eq(euid, uid_of(seg->uid)))
		granted >>= 6;
	else if (in_group_p(gid_of(seg->cgid)) || in_group_p(gid_of(seg->gid)))
		granted >>= 3;
	return !(wanted & ~granted & 0007) || capable(CAP_IPC_OWNER);
}

/* As who has made it, for ever; as its owner, as long as that is so; or as root. */
static bool is_owner(struct mios_fs_seg *seg)
{
	kuid_t euid = current_euid();

	seg->by = 0;
	if (uid_eq(euid, uid_of(seg->cuid)))
		return true;
	if (!uid_eq(euid, uid_of(seg->uid)))
		return capable(CAP_SYS_ADMIN);
	seg->by = MIOS_FS_BY_UID;
	return true;
}

/* --- shmget() */

static int get_old(struct mios_mount *m, key_t key, size_t size, int flg)
{
	struct mios_fs_seg seg;
	u32 slot;
	int err;

	if (key == IPC_PRIVATE)
		return -ENOENT;
	err = MIOS_LOOK(m, mios_fs_segment_find(&m->fs, key, &slot, &seg));
	if (err)
		return err;
	if ((flg & IPC_CREAT) && (flg & IPC_EXCL))
		return -EEXIST;
	if (size > seg.size)
		return -EINVAL;
	return mios_segment_permits(&seg, flg) ? id_of(slot, &seg) : -EACCES;
}

static int get_new(struct mios_mount *m, key_t key, size_t size, int flg)
{
	struct mios_fs_seg seg = {
		.key = key, .mode = flg & 0777, .size = size,
		.uid = from_kuid(&init_user_ns, current_euid()),
		.gid = from_kgid(&init_user_ns, current_egid()),
		.ctime = ktime_get_real_seconds(),
		.cpid = task_tgid_nr(current),
	};
	u32 slot;
	int err;

	/* No file is longer: nobody could attach it. */
	if (!size || size > MIOS_FILE_MAX)
		return -EINVAL;
	if (size > mios_maps_size(m))
		return -ENOSPC;
	/* Nothing is kept for it: else no page would be where it is touched. */
	if (!(flg & SHM_NORESERVE) &&
	    !mios_fs_share_fits(&m->fs, seg.uid, DIV_ROUND_UP(size, PAGE_SIZE)))
		return -EDQUOT;
	err = MIOS_PATIENTLY(m, mios_fs_segment_make(&m->fs, &seg,
						     ktime_get_real_ns(),
						     &slot));
	return err ? err : id_of(slot, &seg);
}

static long shm_get(key_t key, size_t size, int flg)
{
	struct mios_mount *m = flg & SHM_HUGETLB ? NULL : mios_segments_get();
	int id;

	if (!m)
		return -EOPNOTSUPP;
	/* Another one may make it, or remove it, in between. */
	do {
		id = get_old(m, key, size, flg);
		if (id == -ENOENT && (key == IPC_PRIVATE || flg & IPC_CREAT))
			id = get_new(m, key, size, flg);
		else
			break;
	} while (id == -EEXIST && !fatal_signal_pending(current));
	mios_segments_put(m);
	/* The kernel may have one of its own with that key. */
	return id == -ENOENT ? -EOPNOTSUPP : id;
}

/* --- shmctl() */

static void stat_fill(struct shmid64_ds *ds, const struct mios_fs_seg *seg)
{
	struct user_namespace *ns = current_user_ns();

	memset(ds, 0, sizeof(*ds));
	ds->shm_perm.key = seg->key;
	ds->shm_perm.uid = from_kuid_munged(ns, uid_of(seg->uid));
	ds->shm_perm.gid = from_kgid_munged(ns, gid_of(seg->gid));
	ds->shm_perm.cuid = from_kuid_munged(ns, uid_of(seg->cuid));
	ds->shm_perm.cgid = from_kgid_munged(ns, gid_of(seg->cgid));
	ds->shm_perm.mode = seg->mode;
	ds->shm_perm.seq = seg->sequence;
	ds->shm_segsz = seg->size;
	ds->shm_atime = seg->atime;
	ds->shm_dtime = seg->dtime;
	ds->shm_ctime = seg->ctime;
	ds->shm_cpid = seg->cpid;
	ds->shm_lpid = seg->lpid;
	ds->shm_nattch = seg->attached;
}

static int ctl_stat(struct mios_mount *m, int id, int cmd,
		    struct shmid64_ds *ds)
{
	struct mios_fs_seg seg;
	int slot = mios_segment_slot(id);
	int err = MIOS_LOOK(m, mios_fs_segment_stat(&m->fs, slot, &seg));

	if (err)
		return err == -ENOENT ? -EINVAL : err;
	if (cmd == IPC_STAT && !is_of(id, &seg))
		return -EINVAL;
	if (cmd != SHM_STAT_ANY && !mios_segment_permits(&seg, 0444))
		return -EACCES;
	stat_fill(ds, &seg);
	return cmd == IPC_STAT ? 0 : id_of(slot, &seg);
}

static int set_fill(struct mios_fs_seg *seg, const struct shmid64_ds *ds)
{
	kuid_t uid = make_kuid(current_user_ns(), ds->shm_perm.uid);
	kgid_t gid = make_kgid(current_user_ns(), ds->shm_perm.gid);

	if (!uid_valid(uid) || !gid_valid(gid))
		return -EINVAL;
	seg->uid = from_kuid(&init_user_ns, uid);
	seg->gid = from_kgid(&init_user_ns, gid);
	seg->mode = ds->shm_perm.mode;
	seg->ctime = ktime_get_real_seconds();
	return 0;
}

static int change_judge(struct mios_mount *m, int id, int cmd,
			struct mios_fs_seg *seg)
{
	int err = mios_segment_read(m, id, seg);

	if (!err && !is_owner(seg) &&
	    (cmd != SHM_LOCK || !capable(CAP_IPC_LOCK)))
		err = -EPERM;
	return err;
}

static int segment_remove(struct mios_mount *m, int id)
{
	int slot = mios_segment_slot(id);
	struct mios_fs_seg seg;
	u64 inode = 0;
	int err = MIOS_JUDGED(m, change_judge(m, id, IPC_RMID, &seg),
			      mios_fs_segment_remove(&m->fs, slot, &seg,
						     &inode), 0);

	if (err)
		return err;
	mios_segment_forget(m, &seg);
	if (inode)
		mios_file_reap(m, inode);
	return 0;
}

static int segment_set(struct mios_mount *m, int id,
		       const struct shmid64_ds *ds)
{
	int slot = mios_segment_slot(id);
	struct mios_fs_seg seg, to = { };
	int err = set_fill(&to, ds);

	return MIOS_JUDGED(m, change_judge(m, id, IPC_SET, &seg) ?: err,
			   mios_fs_segment_set(&m->fs, slot, &seg, &to), 0);
}

static int ctl_change(struct mios_mount *m, int id, int cmd,
		      const struct shmid64_ds *ds)
{
	struct mios_fs_seg seg;
	int err;

	if (cmd == IPC_RMID)
		err = segment_remove(m, id);
	else if (cmd == IPC_SET)
		err = segment_set(m, id, ds);
	else
		/* What is locked: nothing of it is ever paged out. */
		err = change_judge(m, id, cmd, &seg);
	return err == -ESTALE ? -EIDRM : err;
}

static int ctl_info(struct mios_mount *m, struct shm_info *info)
{
	struct mios_fs_seg seg;
	u32 nr = mios_fs_segments(&m->fs), slot;
	int last = -EOPNOTSUPP;

	for (slot = 0; slot < nr; slot++) {
		cond_resched();
		if (MIOS_LOOK(m, mios_fs_segment_stat(&m->fs, slot, &seg)))
			continue;
		info->used_ids++;
		info->shm_tot += DIV_ROUND_UP(seg.size, PAGE_SIZE);
		last = max(last, index_of(slot));
	}
	return last;
}

static long shm_ctl(int id, int cmd, void *buf)
{
	struct mios_mount *m;
	int ret;

	/* Behind all of the kernel's own: by its lower bits it would take it for one. */
	if ((cmd == SHM_STAT || cmd == SHM_STAT_ANY) && id >= INDICES &&
	    mios_segment_slot(id) < 0)
		return -EINVAL;
	if (cmd != SHM_INFO && mios_segment_slot(id) < 0)
		return -EOPNOTSUPP;
	m = mios_segments_get();
	if (!m)
		return -EOPNOTSUPP;
	if (cmd == SHM_INFO)
		ret = ctl_info(m, buf);
	else if (cmd == IPC_STAT || cmd == SHM_STAT || cmd == SHM_STAT_ANY)
		ret = ctl_stat(m, id, cmd, buf);
	else
		ret = ctl_change(m, id, cmd == SHM_UNLOCK ? SHM_LOCK : cmd,
				 buf);
	mios_segments_put(m);
	return ret;
}

/* As sysvipc_shm_proc_show() has it. */
static long shm_show(struct seq_file *s)
{
	struct mios_mount *m = mios_segments_get();
	struct user_namespace *ns = seq_user_ns(s);
	struct mios_fs_seg seg;
	u32 slot;

	if (!m)
		return -EOPNOTSUPP;
	for (slot = 0; slot < mios_fs_segments(&m->fs); slot++) {
		if (MIOS_LOOK(m, mios_fs_segment_stat(&m->fs, slot, &seg)))
			continue;
		seq_printf(s, "%10d %10d  %4o %21llu %5u %5u  %5u %5u %5u %5u %5u %10llu %10llu %10llu %21lu %21lu\n",
			   (key_t)seg.key, id_of(slot, &seg), seg.mode,
			   seg.size, seg.cpid, seg.lpid, seg.attached,
			   from_kuid_munged(ns, uid_of(seg.uid)),
			   from_kgid_munged(ns, gid_of(seg.gid)),
			   from_kuid_munged(ns, uid_of(seg.cuid)),
			   from_kgid_munged(ns, gid_of(seg.cgid)), seg.atime,
			   seg.dtime, seg.ctime, 0ul, 0ul);
	}
	mios_segments_put(m);
	return 0;
}

static const struct shm_remote_ops ops = {
	.get = shm_get,
	.at = mios_segment_at,
	.dt = mios_segment_dt,
	.ctl = shm_ctl,
	.show = shm_show,
};

int mios_shm_begin(struct mios_mount *m)
{
	int err = m->ring ? mios_files_begin(m) : 0;

	if (err)
		return err;
	spin_lock(&segments_lock);
	if (m->ring)
		segments = m;
	spin_unlock(&segments_lock);
	return 0;
}

void mios_shm_end(struct mios_mount *m)
{
	spin_lock(&segments_lock);
	if (segments == m)
		segments = NULL;
	spin_unlock(&segments_lock);
	mios_files_end(m);
}

void mios_shm_init(void)
{
	shm_remote_set(&ops);
}

void mios_shm_exit(void)
{
	shm_remote_set(NULL);
}
