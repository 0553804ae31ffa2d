// SPDX-License-Identifier: GPL-2.0
/*
 * Runs the tests of mios/memory/lock/ in user space:
 *   lock-explore [--seed N] [--rounds N] [--kills N] [--deep]
 *	[--only steps|explore|meet|registers|threads|processes] [--break FAULT]
 * --break turns a fault on for good: the tests must then fail.  Exit status 0:
 * all right; 1: the line that failed has been printed.
 */
#include <time.h>

#include "test.h"

bool test_fault[MIOS_LOCK_FAULTS];
void (*test_point)(void);

static void break_on_purpose(const char *name)
{
	static const char *const names[MIOS_LOCK_FAULTS] = {
		[MIOS_LOCK_FAULT_FREE_FIRST] = "free-first",
		[MIOS_LOCK_FAULT_ANY_LAP] = "any-lap",
		[MIOS_LOCK_FAULT_GRANT_ANY_LAP] = "grant-any-lap",
		[MIOS_LOCK_FAULT_WAIT_FOR_TAIL] = "wait-for-tail",
		[MIOS_LOCK_FAULT_SKIP_PLACE] = "skip-place",
		[MIOS_LOCK_FAULT_BLIND_SLEEP] = "blind-sleep",
		[MIOS_LOCK_FAULT_BLIND_LEAVE] = "blind-leave",
		[MIOS_LOCK_FAULT_NO_LAST_WAKE] = "no-last-wake",
		[MIOS_LOCK_FAULT_FORGET] = "forget",
		[MIOS_LOCK_FAULT_ALWAYS_TELL] = "always-tell",
		[MIOS_LOCK_FAULT_LET_WAIT] = "let-wait",
		[MIOS_LOCK_FAULT_ANY_EPOCH] = "any-epoch",
		[MIOS_LOCK_FAULT_PAST_WRITERS] = "past-writers",
		[MIOS_LOCK_FAULT_BLIND_DONE] = "blind-done",
		[MIOS_LOCK_FAULT_SHARE_FORGETS] = "share-forgets",
		[MIOS_LOCK_FAULT_EARLY_END] = "early-end",
		[MIOS_LOCK_FAULT_END_BROKEN] = "end-broken",
		[MIOS_LOCK_FAULT_NO_SECOND_LOOK] = "no-second-look",
		[MIOS_LOCK_FAULT_TELL_NOBODY] = "tell-nobody",
		[MIOS_LOCK_FAULT_NO_FIRST_WAIT] = "no-first-wait",
		[MIOS_LOCK_FAULT_NO_LAST_WAIT] = "no-last-wait",
		[MIOS_LOCK_FAULT_REGISTER_FORGETS] = "register-forgets",
		[MIOS_LOCK_FAULT_PAST_SHARES] = "past-shares",
	};
	int i;

	for (i = 0; i < MIOS_LOCK_FAULTS; i++)
		if (!strcmp(name, names[i])) {
			test_fault[i] = true;
			return;
		}
	fprintf(stderr, "no such fault: %s\n", name);
	exit(2);
}

static bool wanted(const char *only, const char *name)
{
	return !*only || !strcmp(only, name);
}

int main(int argc, char **argv)
{
	unsigned long rounds = 20000, kills = 200;
	const char *only = "";
	u64 seed = time(NULL);
	bool deep = false;
	int i;

	for (i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--deep"))
			deep = true;
		else if (i + 1 == argc)
			return fprintf(stderr, "unknown: %s\n", argv[i]), 2;
		else if (!strcmp(argv[i], "--seed"))
			seed = strtoull(argv[++i], NULL, 0);
		else if (!strcmp(argv[i], "--rounds"))
			rounds = strtoul(argv[++i], NULL, 0);
		else if (!strcmp(argv[i], "--kills"))
			kills = strtoul(argv[++i], NULL, 0);
		else if (!strcmp(argv[i], "--only"))
			only = argv[++i];
		else if (!strcmp(argv[i], "--break"))
			break_on_purpose(argv[++i]);
		else
			return fprintf(stderr, "unknown: %s\n", argv[i]), 2;
	}
	printf("seed %llu\n", seed);
	if (wanted(only, "steps")) {
		test_steps();
		test_meet_steps();
		test_garbage(seed, 10 * rounds);
	}
	if (wanted(only, "explore"))
		test_explore(deep);
	if (wanted(only, "meet"))
		test_meet(deep);
	if (wanted(only, "registers"))
		test_registers(deep);
	if (wanted(only, "threads")) {
		test_threads(seed, rounds);
		test_meet_threads(rounds / 10);
	}
	if (wanted(only, "processes"))
		test_processes(seed, kills);
	printf("all right\n");
	return 0;
}
