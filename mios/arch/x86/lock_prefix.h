/* SPDX-License-Identifier: GPL-2.0 */
/* Whether instructions that are to be atomic between kernels are; lock_prefix.c. */
#ifndef MIOS_ARCH_X86_LOCK_PREFIX_H
#define MIOS_ARCH_X86_LOCK_PREFIX_H

#include <linux/types.h>

bool mios_lock_prefix_works(void);

#endif /* MIOS_ARCH_X86_LOCK_PREFIX_H */
