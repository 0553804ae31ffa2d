/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What programs share through files of miosfs besides their bytes: to sleep and
 * to be woken (futexes), and to find them by a key (System V segments).  The
 * kernel asks by the hooks of linux/ipc/.
 */
#ifndef _MIOS_IPC_H
#define _MIOS_IPC_H

#include <linux/types.h>

struct mios_mount;

/* main.c */
int mios_ipc_init(void);
void mios_ipc_exit(void);

/* futex.c */
int mios_futex_init(void);
void mios_futex_exit(void);

/* The files of a mount can be mapped from now on; no more. */
int mios_futex_begin(struct mios_mount *m);
int mios_futex_end(struct mios_mount *m);

/* Wakes sent to it may have been lost until now: it is told to look. */
void mios_futex_joined(u32 instance);

/**
 * mios_futex_dead() - an instance is fenced
 * @instance: it waits for nothing any more; what it has not woken, we do
 */
void mios_futex_dead(u32 instance);

/* shm.c: segments of System V */
struct mios_fs_seg;

void mios_shm_init(void);
void mios_shm_exit(void);
int mios_shm_begin(struct mios_mount *m);
void mios_shm_end(struct mios_mount *m);
struct mios_mount *mios_segments_get(void);
void mios_segments_put(struct mios_mount *m);
int mios_segment_slot(int id);
u32 mios_segment_sequence(int id);
int mios_segment_read(struct mios_mount *m, int id, struct mios_fs_seg *seg);
bool mios_segment_permits(const struct mios_fs_seg *seg, u32 wanted);

/* segment_file.c */
struct file;

int mios_files_begin(struct mios_mount *m);
void mios_files_end(struct mios_mount *m);
struct file *mios_segment_file(struct mios_mount *m,
			       const struct mios_fs_seg *seg, int flags);
void mios_segment_forget(struct mios_mount *m, const struct mios_fs_seg *seg);

/* shmat.c */
extern const struct file_operations mios_segment_ops;

long mios_segment_at(int id, unsigned long addr, int flg, unsigned long *raddr);
long mios_segment_dt(unsigned long addr);

#endif /* _MIOS_IPC_H */
