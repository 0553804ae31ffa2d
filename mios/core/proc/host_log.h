/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The log of instance 0, as the others read it.
 */
#ifndef _MIOS_PROC_HOSTLOG_H
#define _MIOS_PROC_HOSTLOG_H

#include <linux/types.h>

/* On a child, after the sync point; 0 or -ENOMEM. */
int mios_hostlog_follow(void);
void mios_hostlog_forget(void);

/**
 * mios_hostlog_open() - a file to read the log of instance 0 from
 * @flags: MIOS_STREAM_FOLLOW or 0
 *
 * Also when instance 0 is dead.  -ENODATA on instance 0 itself.
 */
struct file *mios_hostlog_open(u32 flags);

#endif /* _MIOS_PROC_HOSTLOG_H */
