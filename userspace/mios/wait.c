// SPDX-License-Identifier: GPL-2.0
/*
 * mios wait: until instances are up, or down.  Reads sysfs only, so everybody
 * may.
 */
#include <fcntl.h>
#include <getopt.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "libmios/libmios.h"
#include "subcommands.h"

#define TIMEOUT_DEFAULT	120		/* seconds */
#define TIMEOUT_MAX	86400
#define LOOK_MS		1000

static const char usage[] =
"Usage: mios wait INSTANCES|all up|down [OPTION...]\n"
"Waits until instances are up, or down.\n"
"INSTANCES is a list such as 1 or 0,2-3; all means every one but 0.\n\n"
"      --timeout=SECS  how long at most (default 120)\n"
"  -h, --help          print this\n";

enum { OPT_TIMEOUT = 256 };

/* All that exist, but for 0: it cannot be waited for on itself. */
static uint64_t all_others(void)
{
	struct mios_instance inst;
	uint64_t which = 0;
	int i;

	for (i = 1; i < MIOS_MAX_INSTANCES; i++)
		if (!mios_instance_read(i, &inst))
			which |= 1ULL << i;
	return which;
}

/* The first of @which that is in another state, or -1. */
static int first_other(uint64_t which, enum mios_state wanted,
		       struct mios_instance *inst)
{
	int i;

	for (i = 0; i < MIOS_MAX_INSTANCES; i++) {
		if (!(which & 1ULL << i))
			continue;
		if (mios_instance_read(i, inst))
			mios_die(MIOS_EXIT_FAILED, "wait %d: there is no "
				 "instance %d: 'mios status' lists them", i, i);
		if (inst->state != wanted)
			return i;
	}
	return -1;
}

/* sysfs tells of changes; a look now and then is for what it may not. */
static void sleep_until_change(int instance, enum mios_state seen, int64_t ms)
{
	struct pollfd p = { .events = POLLPRI };
	struct mios_instance inst;
	char text[32];

	p.fd = mios_sysfs_open(instance, "state");
	/* It tells of changes since it was read. */
	if (p.fd >= 0 && read(p.fd, text, sizeof(text)) < 0)
		text[0] = '\0';
	if (!mios_instance_read(instance, &inst) && inst.state == seen)
		poll(&p, 1, ms < LOOK_MS ? ms : LOOK_MS);
	if (p.fd >= 0)
		close(p.fd);
}

static void wait_for(uint64_t which, enum mios_state wanted, long seconds)
{
	const int64_t end = mios_now_ms() + seconds * 1000;
	struct mios_instance inst;
	int64_t left;
	int i;

	while ((i = first_other(which, wanted, &inst)) >= 0) {
		left = end - mios_now_ms();
		if (left <= 0)
			mios_die(MIOS_EXIT_FAILED, "wait %d: it is %s, not %s, "
				 "after %ld s", i, mios_state_name(inst.state),
				 mios_state_name(wanted), seconds);
		sleep_until_change(i, inst.state, left);
	}
}

static enum mios_state parse_state(int argc, char **argv)
{
	const char *word = argc ? argv[argc - 1] : "";

	if (!strcmp(word, "up"))
		return MIOS_STATE_UP;
	if (!strcmp(word, "down"))
		return MIOS_STATE_DOWN;
	mios_usage("wait", "until what? As in 'mios wait 1 up' or 'mios wait "
		   "1-3 down'");
}

int cmd_wait(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "timeout", required_argument, NULL, OPT_TIMEOUT },
		{ "help", no_argument, NULL, 'h' },
		{ }
	};
	long timeout = TIMEOUT_DEFAULT;
	enum mios_state wanted;
	uint64_t which;
	int c, all;

	while ((c = getopt_long(argc, argv, ":h", longs, NULL)) != -1)
		switch (c) {
		case OPT_TIMEOUT:
			if (mios_number(optarg, 0, TIMEOUT_MAX, &timeout))
				mios_usage("wait", "--timeout is a number of "
					   "seconds up to %d", TIMEOUT_MAX);
			break;
		default:
			mios_other_option("wait", usage, argv, c, longs);
		}
	wanted = parse_state(argc - optind, argv + optind);
	all = mios_parse_instances("wait", argc - optind - 1, argv + optind,
				   &which);
	if (mios_self() < 0)
		mios_die(MIOS_EXIT_FAILED, "wait: " MIOS_NO_SYSFS);
	wait_for(all ? all_others() : which, wanted, timeout);
	return MIOS_EXIT_OK;
}
