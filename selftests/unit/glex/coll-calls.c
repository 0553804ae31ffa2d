// SPDX-License-Identifier: GPL-2.0
/* A member of a group, and calls that are drawn by lot, whose results are known. */
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "calls.h"

#define LONGEST	20000u
#define NUMBERS	300u

#define JOIN_US	1000u		/* as libglex/group.c has it */

uint32_t members, seed, look_ms;
glex_ep_addr_t address[MEMBERS];

void check(int ok, const char *what)
{
	if (ok)
		return;
	printf("FAILED: %s\n", what);
	fflush(stdout);
	_exit(1);
}

int usleep(useconds_t us)
{
	struct timespec time = {
		.tv_nsec = us == JOIN_US && look_ms ? look_ms * 1000000 : us * 1000,
	};

	return nanosleep(&time, NULL);
}

/* --- lots: the same for all who draw the same */

uint32_t lot(uint64_t *state, uint32_t below)
{
	*state = *state * 6364136223846793005ull + 1442695040888963407ull;
	return (*state >> 33) % below;
}

static uint8_t byte_of(uint32_t round, uint32_t who, uint32_t at)
{
	return coll_mix(seed, (uint64_t)round << 40 | who << 24 | at);
}

static int64_t number_of(uint32_t round, uint32_t who, uint32_t at)
{
	return (int64_t)(coll_mix(round, who << 16 | at) % 2001) - 1000;
}

/* --- a member */

void member_begin(struct member *m)
{
	struct glex_ep_attr attr = {
		.num = address[m->rank].ep_num, .mpq_capacity = 128, .eq_capacity = 16,
	};
	glex_device_handle_t dev;

	check(!glex_open_device(0, &dev), "a device");
	check(!glex_create_ep(dev, &attr, &m->ep), "an endpoint");
	glex_close_device(dev);
}

void member_joins(struct member *m, int32_t timeout)
{
	check(!glex_coll_join(m->ep, address, members, timeout, &m->coll), "joins");
}

static glex_ret_t bcast(struct member *m, uint32_t round, uint32_t root, uint32_t len)
{
	uint8_t data[LONGEST];
	glex_ret_t ret;
	uint32_t i;

	for (i = 0; i < len; i++)
		data[i] = m->rank == root ? byte_of(round, root, i) : 0;
	ret = glex_coll_bcast(m->coll, root, data, len, -1);
	for (i = 0; i < len && !ret; i++)
		check(data[i] == byte_of(round, root, i), "what was broadcast");
	return ret;
}

static int64_t expected(uint32_t round, uint32_t at, enum glex_coll_reduce_op op,
			uint32_t *location)
{
	int64_t is = number_of(round, 0, at), next;
	uint32_t who;

	*location = 0;
	for (who = 1; who < members; who++) {
		next = number_of(round, who, at);
		if (op == GLEX_COLL_REDUCE_SUM_SIGNED) {
			is += next;
		} else if (op == GLEX_COLL_REDUCE_BXOR) {
			is ^= next;
		} else if (next > is) {
			is = next;
			*location = who;
		}
	}
	return is;
}

static glex_ret_t reduction(struct member *m, uint32_t round, uint32_t root,
			    uint32_t count, bool all)
{
	static const enum glex_coll_reduce_op ops[] = {
		GLEX_COLL_REDUCE_SUM_SIGNED, GLEX_COLL_REDUCE_BXOR,
		GLEX_COLL_REDUCE_MAXLOC_SIGNED,
	};
	enum glex_coll_reduce_op op = ops[round % 3];
	union glex_coll_data_loc from[NUMBERS] = { 0 }, to[NUMBERS] = { 0 };
	uint32_t i, location;
	glex_ret_t ret;

	for (i = 0; i < count; i++) {
		from[i].int64_s.data = number_of(round, m->rank, i);
		from[i].int64_s.location = m->rank;
	}
	ret = all ? glex_coll_allreduce(m->coll, from, to, count,
					GLEX_COLL_REDUCE_DATA_BITS_64, op, -1) :
		    glex_coll_reduce(m->coll, root, from, to, count,
				     GLEX_COLL_REDUCE_DATA_BITS_64, op, -1);
	for (i = 0; i < count && !ret && (all || m->rank == root); i++) {
		check(to[i].int64_s.data == expected(round, i, op, &location),
		      "what was reduced");
		check(op != GLEX_COLL_REDUCE_MAXLOC_SIGNED ||
		      to[i].int64_s.location == location, "where it is from");
	}
	return ret;
}

static glex_ret_t one_call(struct member *m, uint32_t round, uint64_t *lots)
{
	uint32_t what = lot(lots, 4), root = lot(lots, members);
	uint32_t is_long = lot(lots, 2);

	switch (what) {
	case 0:
		return glex_coll_barrier(m->coll, -1);
	case 1:
		return bcast(m, round, root, lot(lots, is_long ? LONGEST : 300));
	default:
		return reduction(m, round, root, 1 + lot(lots, is_long ? NUMBERS : 20),
				 what == 3);
	}
}

/* How many calls were right before one was not, or all. */
uint32_t calls(struct member *m, uint32_t from, uint32_t to)
{
	uint64_t lots = seed + from;
	glex_ret_t ret;
	uint32_t round;

	for (round = from; round < to; round++) {
		ret = one_call(m, round, &lots);
		check(!ret || ret == GLEX_ACCESS_ERR, "right, or an error");
		if (ret)
			break;
	}
	return round;
}
