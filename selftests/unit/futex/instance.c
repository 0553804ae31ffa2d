// SPDX-License-Identifier: GPL-2.0
/* mios/memory/ipc/futex.c on the instance SELF: all but this name is its own */
#include "../../../mios/memory/ipc/futex.c"

#define NAME_OF(self)	instance_##self
#define NAME(self)	NAME_OF(self)

static void begin(void *columns)
{
	struct mios_mount m = {
		.pool.self = SELF, .fs.super = (char *)columns - MIOS_FS_WAITERS_AT,
	};

	mios_futex_begin(&m);
}

static void pay(void)
{
	owed_pay(NULL);
}

const struct instance NAME(SELF) = {
	.begin = begin, .ops = &ops, .asked = asked, .pay = pay,
	.dead = mios_futex_dead,
};
