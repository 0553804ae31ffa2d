// SPDX-License-Identifier: GPL-2.0
/*
 * Runs the tests of mios/core/channel/channel.c and layout.c in user space:
 *   channel-asan [--seed N] [--messages N] [--garbage ROUNDS] [--only-threads]
 *		[--break NAME]
 * --break breaks a guarantee: the tests must then fail.  Exit status 0:
 * all right; 1: the line that failed has been printed.
 */
#include <string.h>
#include <time.h>

#include "../inject.h"
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

u32 test_random(u64 *state)
{
	*state = *state * 6364136223846793005ull + 1442695040888963407ull;
	return *state >> 33;
}

static void break_on_purpose(const char *name)
{
	if (inject_on(name, -1))
		return;
	fprintf(stderr, "nothing to be broken by that name: %s\n", name);
	exit(2);
}

int main(int argc, char **argv)
{
	unsigned long messages = 200000, garbage = 100000;
	bool threads_only = false;
	u64 seed = time(NULL);
	int i;

	for (i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--seed") && i + 1 < argc)
			seed = strtoull(argv[++i], NULL, 0);
		else if (!strcmp(argv[i], "--messages") && i + 1 < argc)
			messages = strtoul(argv[++i], NULL, 0);
		else if (!strcmp(argv[i], "--garbage") && i + 1 < argc)
			garbage = strtoul(argv[++i], NULL, 0);
		else if (!strcmp(argv[i], "--only-threads"))
			threads_only = true;
		else if (!strcmp(argv[i], "--break") && i + 1 < argc)
			break_on_purpose(argv[++i]);
		else
			return fprintf(stderr, "unknown: %s\n", argv[i]), 2;
	}
	printf("seed %llu\n", (unsigned long long)seed);
	if (!threads_only) {
		test_protocol();
		test_garbage(seed);
		test_layout(seed);
		test_checker(seed);
		test_area(seed, garbage);
	}
	test_stress(seed, messages);
	test_sessions(seed, messages / 40);
	printf("ok\n");
	return 0;
}
