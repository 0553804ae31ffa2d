/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A lock in a register that a read takes, for the kernels of all instances and
 * for programs: what the files of mios/reglock/ share.  Instance 0 has the
 * device, and tells the others where its register is (MIOS_CALL_REGISTER).
 *
 * The lock itself is mios/reglock/register.c.  Locks here: reglock_lock
 * (main.c), which nobody holds while calling another instance.
 */
#ifndef _MIOS_REGLOCK_H
#define _MIOS_REGLOCK_H

#include <linux/types.h>

#include <mios/msg.h>

#include "register.h"

/**
 * struct mios_reglock - the lock as this instance has it
 * @place:	where it is
 * @page:	the register's page, uncached
 * @words:	struct mios_register_header
 * @kernel:	the view of this kernel, its first seat
 */
struct mios_reglock {
	struct mios_register_place place;
	void __iomem *page;
	void *words;
	struct mios_register kernel;
};

/* main.c */
int mios_reglock_begin(const struct mios_register_place *place, void *words);
void mios_reglock_end(void);
u32 mios_reglock_first_seat(u32 instance);
u32 mios_reglock_epoch(void);
int mios_reglock_bury(u32 seat, u32 epoch);

/* device.c: on instance 0 */
int mios_reglock_device_place(struct mios_register_place *place);
int mios_reglock_device_init(void);
void mios_reglock_device_exit(void);

/* bank.c: the kernel's hwspinlock */
int mios_reglock_bank_begin(struct mios_reglock *lock);
void mios_reglock_bank_end(void);

/* seat.c: programs' */
int mios_reglock_file_begin(struct mios_reglock *lock);
void mios_reglock_file_end(void);
void mios_reglock_file_settled(u32 seat);

#endif /* _MIOS_REGLOCK_H */
