// SPDX-License-Identifier: GPL-2.0
/*
 * The one place where an image waits for others: it looks for a while, then
 * sleeps on its bell, and ten times a second asks whether others have died.  It
 * does not yield: on a busy CPU that costs slices of all others.
 *
 * No wake is lost: who waits says that it sleeps, then looks once more; who
 * changes what others may wait for does so, then looks whether they sleep.  A
 * full barrier lies between the two on either side.
 */
#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "../libmios-lock/life.h"
#include "caf.h"

#define LOOKS		2000
#define WATCHED		8	/* images each time */

static void ring(struct caf_image *image)
{
	if (!atomic_load(&image->sleeps))
		return;
	atomic_fetch_add(&image->bell, 1);
	syscall(SYS_futex, &image->bell, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

/* What the image may wait for has been written before. */
void bell_ring(uint32_t image)
{
	atomic_thread_fence(memory_order_seq_cst);
	ring(image_at(image));
}

void bell_ring_all(void)
{
	uint32_t i;

	atomic_thread_fence(memory_order_seq_cst);
	for (i = 0; i < caf_self.window->nr_images; i++)
		ring(image_at(i));
}

/* Stopped or dead: whoever waits has to look again. */
void image_lost(uint32_t number, enum caf_state state)
{
	uint32_t active = CAF_ACTIVE;

	if (!atomic_compare_exchange_strong(&image_at(number)->state, &active,
					    state))
		return;
	atomic_fetch_add(&caf_self.window->losses, 1);
	bell_ring_all();
}

/* Its mutex can be had if it has died; or has not begun, or has just stopped. */
static void look_after(uint32_t number)
{
	pthread_mutex_t *life = &image_at(number)->life;
	int err;

	if (image_state(number) != CAF_ACTIVE)
		return;
	err = life_take(life);
	if (err == -EOWNERDEAD) {
		pthread_mutex_consistent(life);
		image_lost(number, CAF_DEAD);
	}
	if (!err || err == -EOWNERDEAD)
		pthread_mutex_unlock(life);
}

/* Some at a time: each is looked at by all who wait. */
static void watch(void *unused)
{
	static uint32_t next;
	struct caf_window *w = caf_self.window;
	uint32_t i;

	for (i = 0; i < WATCHED && i < w->nr_images; i++) {
		next = (next + 1) % w->nr_images;
		if (next != caf_self.number)
			look_after(next);
	}
}

/* Was it done before it slept? */
static bool sleep_until_rung(struct caf_image *self, wait_fn done, void *ctx)
{
	uint32_t bell = atomic_load(&self->bell);
	bool ended;

	atomic_store(&self->sleeps, 1);
	atomic_thread_fence(memory_order_seq_cst);
	ended = done(ctx);
	if (!ended && !atomic_load(&caf_self.window->over))
		life_sleep((u64 *)&self->bell, bell, WATCH_NS, watch, NULL);
	atomic_store(&self->sleeps, 0);
	return ended;
}

/* Looking takes CPUs from those waited for where images share them. */
static unsigned int how_often(void)
{
	struct caf_window *w = caf_self.window;
	uint32_t here = image_at(caf_self.number)->instance, i;
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	for (i = 0; i < w->nr_images; i++)
		cpus -= image_at(i)->instance == here;
	return cpus < 0 ? 0 : LOOKS;
}

/* What is done is not asked again: it may have taken what it waited for. */
void wait_until(wait_fn done, void *ctx)
{
	static unsigned int most = UINT_MAX;
	struct caf_image *self = image_at(caf_self.number);
	unsigned int looks = 0;

	if (most == UINT_MAX || atomic_load(&caf_self.window->arrived) <
				caf_self.window->nr_images)
		most = how_often();
	for (; !done(ctx); looks++) {
		if (looks < most) {
			__builtin_ia32_pause();
			continue;
		}
		if (atomic_load(&caf_self.window->over))
			image_leave();
		if (sleep_until_rung(self, done, ctx))
			return;
	}
}
