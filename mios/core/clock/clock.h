/* SPDX-License-Identifier: GPL-2.0 */
/* Instance 0's clock as a PTP clock of a child; called by mios/core/main.c. */
#ifndef _MIOS_CLOCK_H
#define _MIOS_CLOCK_H

int mios_clock_init(void);
void mios_clock_exit(void);

#endif /* _MIOS_CLOCK_H */
