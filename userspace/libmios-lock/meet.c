// SPDX-License-Identifier: GPL-2.0
/*
 * Barriers for programs.  In shared memory a header, a sign of life for each
 * member, and then the barrier itself (mios/memory/lock/).  Each member that
 * waits watches the next one, so each death is found by a member that lives, or
 * by the one that watches that.
 */
#include <time.h>

#include "../../mios/memory/lock/reduce.h"
#include "life.h"
#include "mios_barrier.h"

#define MEETING_MAGIC	0x474e495445454dULL
#define MEETING_VERSION	1
#define FAN		8

/* A member's; nothing else in its cache line. */
struct member_record {
	pthread_mutex_t life;
	u64 pad[3];
};

/**
 * struct meeting_header - what is there (who makes it)
 * @magic:	MEETING_MAGIC, released last
 * @version:	MEETING_VERSION
 * @nr_members:	how many
 * @pad:	a cache line
 * @record:	the members
 */
struct meeting_header {
	u64 magic;
	u32 version, nr_members;
	u64 pad[6];
	struct member_record record[];
};

static_assert(sizeof(struct member_record) == MIOS_LOCK_LINE);
static_assert(sizeof(struct meeting_header) == MIOS_LOCK_LINE);

/* What is in a struct mios_barrier_seat. */
struct meeting {
	struct mios_barrier barrier;
	struct meeting_header *header;
};

static_assert(sizeof(struct meeting) <= sizeof(struct mios_barrier_seat));

static struct meeting *meeting_of(struct mios_barrier_seat *opaque)
{
	return (struct meeting *)opaque;
}

static size_t barrier_at(u32 members)
{
	return sizeof(struct meeting_header) +
	       members * sizeof(struct member_record);
}

size_t mios_barrier_size(unsigned int members)
{
	size_t bytes = mios_barrier_bytes(members, FAN);

	return bytes ? barrier_at(members) + bytes : 0;
}

int mios_barrier_init(void *memory, size_t size, unsigned int members)
{
	struct meeting_header *header = memory;
	size_t at = barrier_at(members);
	u32 i;
	int err;

	if (!mios_barrier_size(members) || size < mios_barrier_size(members))
		return -EINVAL;
	err = mios_barrier_format((u8 *)memory + at, members, FAN);
	if (err)
		return err;
	memset(header, 0, at);
	header->version = MEETING_VERSION;
	header->nr_members = members;
	for (i = 0; i < members; i++) {
		err = life_init(&header->record[i].life);
		if (err)
			return err;
	}
	smp_store_release(&header->magic, MEETING_MAGIC);
	return 0;
}

/* The next one has died?  Its watcher is the one to say so. */
static void watch(void *ctx)
{
	struct meeting *meeting = ctx;
	u32 next = (meeting->barrier.member + 1) % meeting->barrier.nr_members;
	pthread_mutex_t *life = &meeting->header->record[next].life;
	int err;

	if (next == meeting->barrier.member)
		return;
	err = life_take(life);
	if (err == -EOWNERDEAD) {
		mios_barrier_break(&meeting->barrier);
		pthread_mutex_consistent(life);
	}
	if (!err || err == -EOWNERDEAD)
		pthread_mutex_unlock(life);
}

static void pause_a_bit(void *ctx, u64 *word, u64 value)
{
	__builtin_ia32_pause();
}

static void sleep_on(void *ctx, u64 *word, u32 value)
{
	life_sleep(word, value, WATCH_NS, watch, ctx);
}

static bool never_late(void *ctx)
{
	return false;
}

static const struct mios_lock_wait meeting_wait = {
	.spins = SPINS, .pause = pause_a_bit, .sleep = sleep_on,
	.wake = life_wake, .late = never_late,
};

static int header_check(const struct meeting_header *header, size_t size,
			unsigned int member)
{
	u32 members;

	if ((uintptr_t)header % MIOS_BARRIER_ALIGN)
		return -EINVAL;
	if (size < sizeof(*header) ||
	    smp_load_acquire(&header->magic) != MEETING_MAGIC)
		return -EBADMSG;
	if (header->version != MEETING_VERSION)
		return -EPROTO;
	members = READ_ONCE(header->nr_members);
	if (!mios_barrier_size(members) || size < mios_barrier_size(members))
		return -EBADMSG;
	return member < members ? 0 : -EINVAL;
}

int mios_barrier_attach(struct mios_barrier_seat *opaque, void *memory,
			size_t size, unsigned int member)
{
	struct meeting *meeting = meeting_of(opaque);
	struct meeting_header *header = memory;
	int err = header_check(header, size, member);
	size_t at;

	if (err)
		return err;
	memset(opaque, 0, sizeof(*opaque));
	meeting->header = header;
	at = barrier_at(READ_ONCE(header->nr_members));
	if (at > size)
		return -EBADMSG;
	err = mios_barrier_view(&meeting->barrier, (u8 *)memory + at, size - at,
				member);
	if (err)
		return err;
	meeting->barrier.wait = &meeting_wait;
	meeting->barrier.ctx = meeting;
	err = life_begin(&header->record[member].life);
	if (err == -EOWNERDEAD) {
		mios_barrier_break(&meeting->barrier);
		pthread_mutex_consistent(&header->record[member].life);
		err = 0;
	}
	return err;
}

/* Those who have not left the last round yet still find that it is over. */
int mios_barrier_detach(struct mios_barrier_seat *opaque)
{
	struct meeting *meeting = meeting_of(opaque);
	u32 member = meeting->barrier.member;

	mios_barrier_break(&meeting->barrier);
	return -pthread_mutex_unlock(&meeting->header->record[member].life);
}

int mios_barrier_wait(struct mios_barrier_seat *opaque)
{
	return mios_barrier_meet(&meeting_of(opaque)->barrier, NULL, NULL);
}

static double as_double(u64 bits)
{
	double value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

static u64 as_bits(double value)
{
	u64 bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

static u64 sum_double(u64 a, u64 b)
{
	return as_bits(as_double(a) + as_double(b));
}

static u64 min_double(u64 a, u64 b)
{
	return as_double(a) < as_double(b) ? a : b;
}

static u64 max_double(u64 a, u64 b)
{
	return as_double(a) > as_double(b) ? a : b;
}

int mios_barrier_reduce(struct mios_barrier_seat *opaque,
			enum mios_barrier_type type, enum mios_barrier_op op,
			void *value)
{
	static const mios_reduce doubles[] = {
		[MIOS_BARRIER_SUM] = sum_double,
		[MIOS_BARRIER_MIN] = min_double,
		[MIOS_BARRIER_MAX] = max_double,
	};
	size_t size = type == MIOS_BARRIER_INT32 ||
		      type == MIOS_BARRIER_UINT32 ? 4 : 8;
	mios_reduce reduce = NULL;
	u64 all = 0;
	int err;

	if (type != MIOS_BARRIER_DOUBLE)
		reduce = mios_reduce_integer((enum mios_reduce_type)type,
					     (enum mios_reduce_op)op);
	else if (op <= MIOS_BARRIER_MAX)
		reduce = doubles[op];
	if (!reduce)
		return -EINVAL;
	memcpy(&all, value, size);
	err = mios_barrier_meet(&meeting_of(opaque)->barrier, &all, reduce);
	if (!err)
		memcpy(value, &all, size);
	return err;
}
