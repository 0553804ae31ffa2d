/* SPDX-License-Identifier: GPL-2.0 */
/* PCI configuration space of segment 0 through two ports; see conf1.c. */
#ifndef MIOS_ARCH_X86_CONF1_H
#define MIOS_ARCH_X86_CONF1_H

#include <linux/types.h>

bool mios_conf1_works(void);
u32 mios_conf1_read(void *ctx, u32 function, u32 at);
void mios_conf1_write(void *ctx, u32 function, u32 at, u32 value, u32 bytes);

#endif /* MIOS_ARCH_X86_CONF1_H */
