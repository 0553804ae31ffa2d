/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Who is there, and who has died: a robust mutex, taken for as long as somebody
 * is there.  So the kernel tells of a thread that has ended, and
 * mios/memory/ipc/ of one whose instance is dead, to whoever tries to get that
 * mutex.
 */
#ifndef LIFE_H
#define LIFE_H

#include <pthread.h>

#include "os.h"

#include "../../mios/memory/lock/lock.h"

int life_init(pthread_mutex_t *life);

/* -EOWNERDEAD: it is the caller's, and who had it died; -EBUSY. */
int life_take(pthread_mutex_t *life);

/* The same, for a while if it is taken: others take it for a moment to ask. */
int life_begin(pthread_mutex_t *life);

/* How to wait for ever with a futex: ten times a second @watch is called. */
void life_sleep(u64 *word, u32 value, long ns, void (*watch)(void *ctx),
		void *ctx);
void life_wake(void *ctx, u64 *word);

#define WATCH_NS	100000000l
#define SPINS		200

#endif
