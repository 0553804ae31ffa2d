// SPDX-License-Identifier: GPL-2.0
/*
 * One step after another: what each call answers, and what is refused.  Then a
 * peer writes anything over the lock, between calls: nothing outside it is
 * touched (AddressSanitizer looks), and every call ends.
 */
#include "test.h"

#define PLACES	16

static bool always_late(void *ctx)
{
	(void)ctx;
	return true;
}

static void nothing(void *ctx, u64 *word, u64 value)
{
	(void)ctx;
	(void)word;
	(void)value;
}

static void no_sleep(void *ctx, u64 *word, u32 value)
{
	nothing(ctx, word, value);
}

static void count_wake(void *ctx, u64 *word)
{
	nothing(ctx, word, 0);
	if (ctx)
		++*(u32 *)ctx;
}

static const struct mios_lock_wait at_once = {
	.spins = 2, .pause = nothing, .sleep = no_sleep, .wake = count_wake,
	.late = always_late,
};

static void *make(void)
{
	void *memory = aligned_alloc(MIOS_LOCK_LINE, mios_qlock_size(PLACES));

	CHECK(memory && !mios_qlock_format(memory, PLACES));
	return memory;
}

static void see(struct mios_qlock *lock, void *memory, u32 seat, u32 epoch)
{
	CHECK(!mios_qlock_attach(lock, memory, mios_qlock_size(PLACES), seat,
				 epoch));
	lock->wait = &at_once;
}

static void test_format(void)
{
	struct mios_lock_header *header = make();
	size_t size = mios_qlock_size(PLACES);
	struct mios_qlock lock;

	CHECK(mios_qlock_format(header, 0) == -EINVAL);
	CHECK(mios_qlock_format(header, 3) == -EINVAL);
	CHECK(mios_qlock_format(header, 2 * MIOS_LOCK_PLACES_MAX) == -EINVAL);
	CHECK(mios_qlock_format((u8 *)header + 8, PLACES) == -EINVAL);
	CHECK(mios_qlock_attach(&lock, header, size, MIOS_LOCK_SEATS, 1) ==
	      -EINVAL);
	CHECK(mios_qlock_attach(&lock, header, size, 1, 1 << 24) == -EINVAL);
	CHECK(mios_qlock_attach(&lock, header, size - 1, 1, 1) == -EBADMSG);
	CHECK(mios_qlock_attach(&lock, header, 8, 1, 1) == -EBADMSG);
	header->nr_places = 2 * PLACES;
	CHECK(mios_qlock_attach(&lock, header, size, 1, 1) == -EBADMSG);
	header->nr_places = PLACES;
	header->version++;
	CHECK(mios_qlock_attach(&lock, header, size, 1, 1) == -EPROTO);
	header->version--;
	header->magic++;
	CHECK(mios_qlock_attach(&lock, header, size, 1, 1) == -EBADMSG);
	CHECK(!mios_qlock_places(0) && !mios_qlock_places(1025));
	CHECK(mios_qlock_places(1) == 16 && mios_qlock_places(64) == 128);
	CHECK(mios_qlock_places(1024) == MIOS_LOCK_PLACES_MAX);
	free(header);
}

static void test_order(void)
{
	void *memory = make();
	struct mios_qlock a, b, c;
	u32 woken = 0;

	see(&a, memory, 1, 1);
	see(&b, memory, 2, 1);
	see(&c, memory, 3, 1);
	a.ctx = &woken;
	CHECK(mios_qlock_unlock(&a) == -EPERM);
	CHECK(!mios_qlock_try(&a, false) && mios_qlock_try(&a, false) == -EDEADLK);
	CHECK(mios_qlock_lock(&a, false) == -EDEADLK);
	CHECK(mios_qlock_try(&b, false) == -EBUSY);
	CHECK(mios_qlock_join(&b, false) == -EINPROGRESS);
	CHECK(mios_qlock_join(&b, false) == -EDEADLK);
	CHECK(mios_qlock_join(&c, false) == -EINPROGRESS);
	CHECK(mios_qlock_doze(&c) == -EINPROGRESS);
	/* b gives up, and c has it before b comes back. */
	CHECK(mios_qlock_leave(&b) == -ETIMEDOUT);
	CHECK(!mios_qlock_unlock(&a) && woken == 1);
	CHECK(!mios_qlock_look(&c));
	CHECK(mios_qlock_lock(&b, false) == -ETIMEDOUT);
	CHECK(mios_qlock_join(&a, false) == -EINPROGRESS);
	/* This time it comes back in time, and is the first. */
	CHECK(mios_qlock_join(&b, false) == -EINPROGRESS);
	CHECK(!mios_qlock_unlock(&c));
	CHECK(mios_qlock_look(&a) == -EINPROGRESS && !mios_qlock_leave(&b));
	CHECK(!mios_qlock_unlock(&b));
	CHECK(!mios_qlock_look(&a) && !mios_qlock_unlock(&a));
	free(memory);
}

static void test_death(void)
{
	void *memory = make();
	struct mios_qlock a, b, c;

	see(&a, memory, 1, 2);
	see(&b, memory, 2, 1);
	see(&c, memory, 3, 1);
	CHECK(!mios_qlock_try(&a, false));
	CHECK(mios_qlock_join(&b, false) == -EINPROGRESS);
	mios_qlock_recover(&c, 1, 1);
	CHECK(mios_qlock_look(&b) == -EINPROGRESS);
	mios_qlock_recover(&c, 1, 2);
	CHECK(mios_qlock_look(&b) == -EOWNERDEAD);
	CHECK(mios_qlock_unlock(&a) == -ESTALE);
	CHECK(!mios_qlock_unlock(&b));
	CHECK(!mios_qlock_try(&c, false) && !mios_qlock_unlock(&c));
	/* With nobody there: the next to come. */
	CHECK(!mios_qlock_try(&b, false));
	mios_qlock_recover(&c, 2, 1);
	CHECK(mios_qlock_try(&c, false) == -EOWNERDEAD && !mios_qlock_unlock(&c));
	/* The dead in the queue. */
	CHECK(!mios_qlock_try(&c, false));
	CHECK(mios_qlock_join(&a, false) == -EINPROGRESS);
	mios_qlock_recover(&c, 1, 2);
	CHECK(mios_qlock_look(&a) == -ESTALE);
	CHECK(!mios_qlock_unlock(&c));
	CHECK(!mios_qlock_try(&c, false) && !mios_qlock_unlock(&c));
	free(memory);
}

void test_steps(void)
{
	test_format();
	test_order();
	test_death();
	printf("steps\n");
}

static void scribble(struct mios_lock_header *header, u64 *seed)
{
	u64 value = (u64)test_random(seed) << 33 ^ test_random(seed);
	u32 at = test_random(seed) % (PLACES + 1);

	/* Laps and seats that exist, so that not all is refused at once. */
	if (test_random(seed) % 4)
		value = header->place[0].word ^ (value & 0x1ff);
	if (at == PLACES)
		header->tail = value >> test_random(seed) % 64;
	else
		header->place[at].word = value;
}

void test_garbage(u64 seed, unsigned long rounds)
{
	void *memory = make();
	struct mios_qlock lock[3];
	u32 i;

	for (i = 0; i < 3; i++)
		see(&lock[i], memory, i, 1);
	while (rounds--) {
		i = test_random(&seed) % 3;
		switch (test_random(&seed) % 6) {
		case 0:
			scribble(memory, &seed);
			break;
		case 1:
			mios_qlock_recover(&lock[i], test_random(&seed) % 4, 1);
			break;
		case 2:
			mios_qlock_unlock(&lock[i]);
			break;
		case 3:
			mios_qlock_try(&lock[i], false);
			break;
		default:
			mios_qlock_lock(&lock[i], false);
		}
	}
	free(memory);
	printf("garbage\n");
}
