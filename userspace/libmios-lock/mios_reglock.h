/* SPDX-License-Identifier: GPL-2.0 */
/*
 * libmios-lock: a lock in a device's register, which the kernels of all instances
 * and programs that root starts may take.  See mios_reglock(3).
 *
 * Calls return 0 or -errno.
 */
#ifndef MIOS_REGLOCK_H
#define MIOS_REGLOCK_H

#include <time.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MIOS_REGLOCK_PATH	"/dev/mios_register"

/* A thread's view; in its own memory, all of it the library's. */
struct mios_reglock {
	unsigned long long opaque[16];
};

int mios_reglock_open(struct mios_reglock *lock, const char *path);
int mios_reglock_close(struct mios_reglock *lock);

/* -EOWNERDEAD: it has the lock, and who had it before died with it. */
int mios_reglock_lock(struct mios_reglock *lock);
int mios_reglock_trylock(struct mios_reglock *lock);
int mios_reglock_timedlock(struct mios_reglock *lock,
			   const struct timespec *until);

/* A share, with others who want no more. */
int mios_reglock_rdlock(struct mios_reglock *lock);
int mios_reglock_tryrdlock(struct mios_reglock *lock);
int mios_reglock_timedrdlock(struct mios_reglock *lock,
			     const struct timespec *until);

/* Also of a share. */
int mios_reglock_unlock(struct mios_reglock *lock);

#ifdef __cplusplus
}
#endif

#endif /* MIOS_REGLOCK_H */
