/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What locks run on, and what they ask of it: memory in cache lines
 * (world_access(), os.h), one register, and sleep.  There are two worlds: the
 * simulator's (world.c), and that of selftests/unit/lock/counts.c, in which
 * contenders are threads.
 */
#ifndef _MIOS_LOCK_WORLD_H
#define _MIOS_LOCK_WORLD_H

#include "os.h"

/* Spin: until the own cache has no copy of its line any more. */
void world_until_lost(const u64 *word);

/* As a futex: unless the lower half is not @value, until woken. */
void world_sleep(u64 *word, u32 value);
void world_wake(u64 *word);

/* What the register was; @takes: it is 1 after that. */
u32 world_register_read(bool takes);
/* 0 again, some time: nobody waits for a write. */
void world_register_clear(void);

#endif /* _MIOS_LOCK_WORLD_H */
