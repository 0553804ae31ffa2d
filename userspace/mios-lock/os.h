/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The simulator's variant of mios/memory/lock/os.h: each access of the very
 * same files to shared memory goes to a world first, which says when it is
 * done.
 */
#ifndef _MIOS_LOCK_SIM_OS_H
#define _MIOS_LOCK_SIM_OS_H

#include <stdbool.h>

/* Returns when the access may be made, alone. */
void world_access(const volatile void *p, bool changes);

#define lock_access(p, changes)	world_access((p), (changes))

#include "../libmios-lock/os.h"

#endif /* _MIOS_LOCK_SIM_OS_H */
