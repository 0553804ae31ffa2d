/* SPDX-License-Identifier: GPL-2.0 */
/* /dev/mios, on every instance. */
#ifndef MIOS_DEV_H
#define MIOS_DEV_H

int mios_dev_init(void);
void mios_dev_exit(void);

#endif /* MIOS_DEV_H */
