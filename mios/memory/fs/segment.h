/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What segment.c offers: segments of System V in the image; see mios/fs.h.  With
 * fs.h, which includes this.
 */
#ifndef _MIOS_FS_SEGMENT_H
#define _MIOS_FS_SEGMENT_H

#include <linux/types.h>

struct mios_fs;

/**
 * struct mios_fs_seg - a segment, as its readers see it
 * @inode, @id:	of its file
 * @key, @sequence, @mode, @uid, @gid, @cuid, @cgid, @size, @atime, @dtime,
 * @ctime, @cpid, @lpid: as in shmctl(2)
 * @attached:	how often it is, in all instances
 * @by:		MIOS_FS_BY_UID: whoever has judged it may change it as its owner
 */
struct mios_fs_seg {
	u64 inode;
	u64 id;
	u64 size;
	u64 atime;
	u64 dtime;
	u64 ctime;
	u32 key;
	u32 sequence;
	u32 mode;
	u32 uid;
	u32 gid;
	u32 cuid;
	u32 cgid;
	u32 cpid;
	u32 lpid;
	u32 attached;
	u32 by;
};

/*
 * @slot: any number.  -ENOENT: there is none; -EAGAIN as in name.c.
 * One that nobody has attached any more, and that is to go then, is not there.
 */
int mios_fs_segment_stat(struct mios_fs *fs, u32 slot, struct mios_fs_seg *seg);
/* All lie below this one. */
u32 mios_fs_segments(const struct mios_fs *fs);

/* But for ->attached, which is a column for each instance. */
int mios_fs_segment_look(struct mios_fs *fs, u32 slot, struct mios_fs_seg *seg);

/* The one with a key other than 0; else as above. */
int mios_fs_segment_find(struct mios_fs *fs, u32 key, u32 *slot,
			 struct mios_fs_seg *seg);

/**
 * mios_fs_segment_make() - make a segment and its file
 * @fs: the file system
 * @seg: key, mode, uid, gid, size, ctime and cpid; out: sequence
 * @now: ns: times of the file
 * @slot: out
 *
 * -EEXIST: the key has one; -ENOSPC; -EBUSY: it was late.
 */
int mios_fs_segment_make(struct mios_fs *fs, struct mios_fs_seg *seg, u64 now,
			 u32 *slot);

/*
 * Of @to: mode, uid, gid, ctime.  -ESTALE: what was judged has gone; -EAGAIN: it is
 * to be judged again.
 */
int mios_fs_segment_set(struct mios_fs *fs, u32 slot,
			const struct mios_fs_seg *judged,
			const struct mios_fs_seg *to);

/*
 * It goes when nobody has it attached any more; its key means it no more.
 * @inode: out: where it has gone, the file to be reaped, else 0.
 */
int mios_fs_segment_remove(struct mios_fs *fs, u32 slot,
			   const struct mios_fs_seg *judged, u64 *inode);

/* Count one more here: it stays meanwhile.  -ESTALE: it has gone. */
int mios_fs_segment_attach(struct mios_fs *fs, u32 slot, u32 sequence);

/* Once more, by who has it attached: so it cannot go meanwhile. */
void mios_fs_segment_attach_again(struct mios_fs *fs, u32 slot);

/* One less.  Is mios_fs_segment_sweep() to be called? */
bool mios_fs_segment_detach(struct mios_fs *fs, u32 slot);

/* By whom, and when; one word each. */
void mios_fs_segment_stamp(struct mios_fs *fs, u32 slot, bool attached,
			   u64 seconds, u32 pid);

/**
 * mios_fs_segment_sweep() - free the next one that is to go
 * @fs: the file system
 * @slot: 0 at first; where to go on
 * @inode: out: the file to be reaped
 *
 * 1, or 0 when there is none; -EBUSY: it was late.
 */
int mios_fs_segment_sweep(struct mios_fs *fs, u32 *slot, u64 *inode);

#endif /* _MIOS_FS_SEGMENT_H */
