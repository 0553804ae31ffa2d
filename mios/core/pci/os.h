/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What walk.c needs of the kernel.  selftests/unit/pci has another file of
 * this guard.
 */
#ifndef _MIOS_PCI_OS_H
#define _MIOS_PCI_OS_H

#include <linux/string.h>
#include <linux/types.h>

#endif /* _MIOS_PCI_OS_H */
