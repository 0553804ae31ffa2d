/* SPDX-License-Identifier: GPL-2.0 */
/*
 * libmios-lock: a lock in memory that processes share, also processes of
 * different instances in a file of miosfs.  It goes round in the order of
 * asking, and the next one is told if its holder died.  See mios_lock(3).
 *
 * Calls return 0 or -errno.
 */
#ifndef MIOS_LOCK_H
#define MIOS_LOCK_H

#include <stddef.h>
#include <time.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MIOS_LOCK_ALIGN	64

/* A thread's seat at a lock; in its own memory, all of it the library's. */
struct mios_lock_seat {
	unsigned long long opaque[16];
};

/* Bytes of memory for so many threads at a time, 1 to 1024; 0: not so many. */
size_t mios_lock_size(unsigned int seats);

/* Makes a lock, open; the caller is alone. */
int mios_lock_init(void *memory, size_t size, unsigned int seats);

/* The calling thread takes a seat, and gives it back. */
int mios_lock_attach(struct mios_lock_seat *seat, void *memory, size_t size);
int mios_lock_detach(struct mios_lock_seat *seat);

/* -EOWNERDEAD: it has the lock, and who had it before died with it. */
int mios_lock(struct mios_lock_seat *seat);
int mios_trylock(struct mios_lock_seat *seat);
int mios_timedlock(struct mios_lock_seat *seat, const struct timespec *until);
int mios_unlock(struct mios_lock_seat *seat);

/* A share, with others who want no more; in the order of asking, too. */
int mios_rdlock(struct mios_lock_seat *seat);
int mios_tryrdlock(struct mios_lock_seat *seat);
int mios_timedrdlock(struct mios_lock_seat *seat, const struct timespec *until);

/* Looks who has died; how many that were. */
int mios_lock_recover(struct mios_lock_seat *seat);

#ifdef __cplusplus
}
#endif

#endif /* MIOS_LOCK_H */
