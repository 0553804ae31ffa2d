// SPDX-License-Identifier: GPL-2.0
/*
 * Runs the tests of mios/core/channel/channel.c and layout.c in user space:
 *   channel-asan [--seed N] [--messages N] [--garbage ROUNDS]
 *		[--only rules|threads] [--break NAME]
 * --break breaks a guarantee: the tests must then fail.  Exit status 0:
 * all right; 1: the line that failed has been printed.
 */
#include <string.h>
#include <time.h>

#include "../options.h"
#include "test.h"

void ends_make(struct ends *e, u32 slot_size, u32 nr_slots, u32 max_total)
{
	size_t size = sizeof(struct mios_chan) + (size_t)slot_size * nr_slots;

	e->shape = (struct mios_shape){ slot_size, nr_slots, max_total };
	e->chan = aligned_alloc(256, round_up(size, 256));
	CHECK(e->chan);
	memset(e->chan, 0, size);
	mios_producer_init(&e->p, e->chan, &e->shape);
	mios_consumer_init(&e->c, e->chan, &e->shape);
}

void ends_open(struct ends *e, u32 from, u32 to)
{
	mios_producer_open(&e->p, from, to);
	mios_consumer_open(&e->c, to, from);
}

void ends_free(struct ends *e)
{
	free(e->chan);
}

int main(int argc, char **argv)
{
	unsigned long messages = 200000, garbage = 100000;
	const struct test_number numbers[] = {
		{ "--messages", &messages }, { "--garbage", &garbage }, { }
	};
	const struct test_options o = test_options(argc, argv, numbers);

	if (test_wanted(&o, "rules")) {
		test_protocol();
		test_garbage(o.seed);
		test_layout(o.seed);
		test_checker(o.seed);
		test_area(o.seed, garbage);
	}
	if (test_wanted(&o, "threads")) {
		test_stress(o.seed, messages);
		test_sessions(o.seed, messages / 40);
	}
	printf("ok\n");
	return 0;
}
