// SPDX-License-Identifier: GPL-2.0
/*
 * Threads that meet: each writes a plain word of its own before, and reads those
 * of all after, so that TSan sees whether a barrier is one.  And what integers
 * make together.
 */
#include <pthread.h>

#include "../../../mios/memory/lock/reduce.h"
#include "futex.h"

#define THREADS	5

static u8 memory[128 + (4 + THREADS) * MIOS_LOCK_LINE]
	__attribute__((aligned(64)));
static unsigned long written[THREADS], rounds;

static bool never_late(void *ctx)
{
	(void)ctx;
	return false;
}

static const struct mios_lock_wait for_ever = {
	.spins = 5, .pause = futex_pause, .sleep = futex_sleep,
	.wake = futex_wake, .late = never_late,
};

static void *meet(void *arg)
{
	u32 member = (unsigned long *)arg - written, i;
	mios_reduce max = mios_reduce_integer(MIOS_REDUCE_U64, MIOS_REDUCE_MAX);
	struct mios_barrier barrier;
	unsigned long round;
	u64 most;

	CHECK(!mios_barrier_view(&barrier, memory, sizeof(memory), member));
	barrier.wait = &for_ever;
	for (round = 1; round <= rounds; round++) {
		written[member] = round * THREADS + member;
		most = written[member];
		CHECK(!mios_barrier_meet(&barrier, &most, max));
		CHECK(most == round * THREADS + THREADS - 1);
		for (i = 0; i < THREADS; i++)
			CHECK(written[i] == round * THREADS + i);
		CHECK(!mios_barrier_meet(&barrier, NULL, NULL));
	}
	return NULL;
}

void test_meet_threads(unsigned long nr)
{
	pthread_t thread[THREADS];
	u32 i;

	rounds = nr;
	CHECK(mios_barrier_bytes(THREADS, 3) <= sizeof(memory));
	CHECK(!mios_barrier_format(memory, THREADS, 3));
	for (i = 0; i < THREADS; i++)
		CHECK(!pthread_create(&thread[i], NULL, meet, &written[i]));
	for (i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	printf("threads that meet\n");
}

static u64 made(enum mios_reduce_type type, enum mios_reduce_op op, u64 a, u64 b)
{
	return mios_reduce_integer(type, op)(a, b);
}

static void test_view(void)
{
	struct mios_barrier_header *header = (void *)memory;
	struct mios_barrier barrier;
	size_t size = sizeof(memory);

	CHECK(!mios_barrier_bytes(0, 2) && !mios_barrier_bytes(2, 1));
	CHECK(!mios_barrier_bytes(1025, 8) && !mios_barrier_bytes(2, 65));
	CHECK(mios_barrier_bytes(5, 3) == 128 + (2 + 1 + 5) * 64);
	CHECK(mios_barrier_format(memory + 8, 5, 3) == -EINVAL);
	CHECK(mios_barrier_format(memory, 5, 1) == -EINVAL);
	CHECK(mios_barrier_view(&barrier, memory, size, 0) == -EBADMSG);
	CHECK(!mios_barrier_format(memory, 5, 3));
	CHECK(mios_barrier_view(&barrier, memory, size, 5) == -EINVAL);
	CHECK(mios_barrier_view(&barrier, memory, 128, 0) == -EBADMSG);
	header->fan = 0;
	CHECK(mios_barrier_view(&barrier, memory, size, 0) == -EBADMSG);
	header->version++;
	CHECK(mios_barrier_view(&barrier, memory, size, 0) == -EPROTO);
	header->magic = 0;
}

void test_meet_steps(void)
{
	u64 less = (u64)-3ll;

	test_view();
	CHECK(made(MIOS_REDUCE_S32, MIOS_REDUCE_MIN, 5, less) == less);
	CHECK(made(MIOS_REDUCE_U32, MIOS_REDUCE_MIN, 5, less) == 5);
	CHECK(made(MIOS_REDUCE_S64, MIOS_REDUCE_MAX, 5, less) == 5);
	CHECK(made(MIOS_REDUCE_U64, MIOS_REDUCE_MAX, 5, less) == less);
	CHECK((__s32)made(MIOS_REDUCE_S32, MIOS_REDUCE_SUM, 5, less) == 2);
	CHECK((__u32)made(MIOS_REDUCE_U32, MIOS_REDUCE_SUM, 1u << 31,
			  1u << 31) == 0);
	CHECK(made(MIOS_REDUCE_U64, MIOS_REDUCE_AND, 12, 10) == 8);
	CHECK(made(MIOS_REDUCE_S32, MIOS_REDUCE_OR, 12, 10) == 14);
	CHECK(!mios_reduce_integer(MIOS_REDUCE_TYPES, MIOS_REDUCE_SUM));
	CHECK(!mios_reduce_integer(MIOS_REDUCE_S32, MIOS_REDUCE_OPS));
}
