/* SPDX-License-Identifier: GPL-2.0 */
/* Interrupts to one CPU, whoever's it is: doorbells, NMI, INIT, SIPI. */
#ifndef MIOS_ARCH_X86_ICR_H
#define MIOS_ARCH_X86_ICR_H

#include <linux/types.h>

void mios_icr_post(u32 low, u32 apicid);
int mios_icr_send(u32 low, u32 apicid);

#endif /* MIOS_ARCH_X86_ICR_H */
