/* SPDX-License-Identifier: GPL-2.0 */
/* Run when the module is loaded; a failure refuses the load. */
#ifndef _MIOS_FS_SELFTEST_H
#define _MIOS_FS_SELFTEST_H

int mios_fs_selftest(void);

#endif /* _MIOS_FS_SELFTEST_H */
