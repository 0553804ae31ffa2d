/* SPDX-License-Identifier: GPL-2.0 */
/*
 * libmios-lock: a lock that has a name, and is a queue or a device's register,
 * whichever suits so many contenders.  See mios_anylock(3).
 *
 * Calls return 0 or -errno.
 */
#ifndef MIOS_ANYLOCK_H
#define MIOS_ANYLOCK_H

#include <stdbool.h>
#include <time.h>

#ifdef __cplusplus
extern "C" {
#endif

/* From how many contenders on, and up to how many, it is a register. */
#define MIOS_ANYLOCK_REGISTER_FROM	9
#define MIOS_ANYLOCK_REGISTER_TO	28

/* A thread's view; in its own memory, all of it the library's. */
struct mios_anylock {
	unsigned long long opaque[24];
};

/*
 * Makes the lock if there is none of that name, and says then what it is;
 * contenders: how many are expected to want it at a time, 0: a queue.
 */
int mios_anylock_open(struct mios_anylock *lock, const char *path,
		      unsigned int contenders);
int mios_anylock_close(struct mios_anylock *lock);

bool mios_anylock_is_register(const struct mios_anylock *lock);

/* -EOWNERDEAD: it has the lock, and who had it before died with it. */
int mios_anylock_lock(struct mios_anylock *lock);
int mios_anylock_trylock(struct mios_anylock *lock);
int mios_anylock_timedlock(struct mios_anylock *lock,
			   const struct timespec *until);

/* A share, with others who want no more. */
int mios_anylock_rdlock(struct mios_anylock *lock);
int mios_anylock_tryrdlock(struct mios_anylock *lock);
int mios_anylock_timedrdlock(struct mios_anylock *lock,
			     const struct timespec *until);

/* Also of a share. */
int mios_anylock_unlock(struct mios_anylock *lock);

#ifdef __cplusplus
}
#endif

#endif /* MIOS_ANYLOCK_H */
