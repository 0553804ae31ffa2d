// SPDX-License-Identifier: GPL-2.0
/* See directory.h.  One mutex for all of it, which nobody has while time passes. */
#include <linux/futex.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "../../../userspace/mios-lock/world.h"
#include "directory.h"

#define SECOND		1000000000ll

/**
 * struct line - a cache line and its home (the mutex)
 * @copies:	whose, as bits
 * @owner:	who has the only one and may change it, or NOBODY
 * @next, @served: the number of who asks next, and of who is served
 * @hits:	accesses to a copy under way, which none takes away meanwhile
 * @wanted:	somebody waits for that, and nobody begins another one
 * @free:	when it was to be done with the last one that it served
 * @news:	of all of these
 */
struct line {
	u32 copies, owner;
	u64 next, served;
	u32 hits;
	bool wanted;
	long long free;
	pthread_cond_t news;
};

u8 directory_memory[LINES_MAX * MIOS_LOCK_LINE] __attribute__((aligned(64)));
struct directory_counts directory_counts;

static struct {
	pthread_mutex_t mutex;
	struct line line[LINES_MAX];
	u32 reg;
	long long register_free, cleared;	/* cleared: when, or 0 */
} w = { .mutex = PTHREAD_MUTEX_INITIALIZER };

static bool uneven, counting;

/* Of the thread: what it accesses, and whether its home serves that. */
static __thread u32 me = NOBODY;
static __thread struct line *open_line;
static __thread bool open_serves;
static __thread u64 *random_state;

static long long clock_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * SECOND + t.tv_nsec;
}

static void sleep_until(long long at)
{
	struct timespec t = { at / SECOND, at % SECOND };

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
}

static long long scaled(long long ns)
{
	ns *= SCALE;
	return uneven ? ns * (test_random(random_state) % 2049) >> 10 : ns;
}

void directory_takes(long long ns)
{
	sleep_until(clock_now() + scaled(ns));
}

static struct line *line_of(const volatile void *p)
{
	u32 number = ((const volatile u8 *)p - directory_memory) / MIOS_LOCK_LINE;

	CHECK(number < LINES_MAX);
	return &w.line[number];
}

/* The access that was begun is over when its thread wants something else. */
static void enter(void)
{
	pthread_mutex_lock(&w.mutex);
	if (!open_line)
		return;
	if (open_serves)
		open_line->served++;
	else
		open_line->hits--;
	pthread_cond_broadcast(&open_line->news);
	open_line = NULL;
}

static void leave(void)
{
	pthread_mutex_unlock(&w.mutex);
}

static void leave_for(long long ns)
{
	leave();
	directory_takes(ns);
}

static bool has_it(const struct line *line, bool changes)
{
	return changes ? line->owner == me : line->copies >> me & 1;
}

static void change_served(struct line *line)
{
	u32 others = __builtin_popcount(line->copies & ~(1u << me));

	if (counting) {
		directory_counts.transfers += !(line->copies >> me & 1);
		directory_counts.invalidations += others;
	}
	line->copies = 1u << me;
	line->owner = me;
	/* Who looked at its copy looks again. */
	pthread_cond_broadcast(&line->news);
	open_line = line;
	open_serves = true;
	leave_for(TRANSFER + others * INVALIDATE);
	line->free = clock_now();
}

/* One of many at once: whoever is late does not keep up those behind it. */
static void read_served(struct line *line, bool waited)
{
	long long began = waited ? line->free : clock_now();

	line->free = began + scaled(line->owner == NOBODY ? OCCUPANCY : TRANSFER);
	directory_counts.transfers += counting;
	line->owner = line->copies ? NOBODY : me;
	line->copies |= 1u << me;
	leave();
	sleep_until(line->free);
	pthread_mutex_lock(&w.mutex);
	line->served++;
	pthread_cond_broadcast(&line->news);
	leave();
	sleep_until(began + scaled(TRANSFER));
}

void world_access(const volatile void *p, bool changes)
{
	struct line *line;
	bool waited = false;
	u64 number;

	if (me == NOBODY)
		return;
	line = line_of(p);
	enter();
	while (line->wanted && has_it(line, changes))
		pthread_cond_wait(&line->news, &w.mutex);
	if (has_it(line, changes)) {
		open_line = line;
		open_serves = false;
		line->hits++;
		leave_for(HIT);
		return;
	}
	number = line->next++;
	while (line->served != number || line->hits) {
		line->wanted |= line->served == number;
		waited |= line->served != number;
		pthread_cond_wait(&line->news, &w.mutex);
	}
	line->wanted = false;
	if (changes)
		change_served(line);
	else
		read_served(line, waited);
}

void world_until_lost(const u64 *word)
{
	struct line *line = line_of(word);

	enter();
	while (has_it(line, false))
		pthread_cond_wait(&line->news, &w.mutex);
	leave();
}

void directory_done(void)
{
	enter();
	leave();
}

void world_sleep(u64 *word, u32 value)
{
	bool woken;

	world_access(word, false);
	directory_done();
	woken = !syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, NULL);
	if (woken)
		directory_takes(IPI);
}

void world_wake(u64 *word)
{
	long woken;

	enter();
	woken = syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1 << 30);
	if (counting)
		directory_counts.ipis += woken;
	leave();
}

u32 world_register_read(bool takes)
{
	long long now, back;
	u32 was;

	enter();
	leave_for(REGISTER / 2);
	pthread_mutex_lock(&w.mutex);
	now = clock_now();
	if (w.cleared && w.cleared <= now)
		w.reg = w.cleared = 0;
	was = w.reg;
	w.reg |= takes;
	directory_counts.reads += counting;
	if (w.register_free < now)
		w.register_free = now;
	w.register_free += SERVICE * SCALE;
	back = w.register_free + scaled(REGISTER - REGISTER / 2);
	leave();
	sleep_until(back);
	return was;
}

void world_register_clear(void)
{
	enter();
	w.cleared = clock_now() + REGISTER / 2 * SCALE;
	leave();
}

void directory_counting(void)
{
	pthread_mutex_lock(&w.mutex);
	counting = true;
	leave();
}

void directory_join(u32 number, u64 *seed)
{
	me = number;
	random_state = seed;
}

void directory_make(bool unevenly)
{
	u32 i;

	uneven = unevenly;
	for (i = 0; i < LINES_MAX; i++) {
		w.line[i].owner = NOBODY;
		pthread_cond_init(&w.line[i].news, NULL);
	}
}
