/* SPDX-License-Identifier: GPL-2.0 */
/*
 * /sys/kernel/mios, as docs/abi/sysfs-kernel-mios describes it; called by
 * mios/core/main.c.
 */
#ifndef _MIOS_PROC_SYSFS_H
#define _MIOS_PROC_SYSFS_H

int mios_sysfs_init(void);
void mios_sysfs_exit(void);

#endif /* _MIOS_PROC_SYSFS_H */
