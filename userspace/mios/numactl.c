// SPDX-License-Identifier: GPL-2.0
/*
 * mios numactl: on which nodes of the machine the shared pages of a program, or
 * of a file, are to be; numactl's options that are about memory.
 */
#include <errno.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "libmios/libmios.h"
#include "policy.h"
#include "subcommands.h"

/* -f and -t mean other things in other commands. */
enum { OPTION_FILE = 0x300, OPTION_TOUCH };

static const char usage[] =
"Usage: mios numactl POLICY [--] PROGRAM [ARGUMENT...]\n"
"       mios numactl POLICY [--touch] --file=FILE\n"
"       mios numactl --file=FILE\n"
"Runs a program on this instance with a policy for the pages that it is the first\n"
"to touch in /mios, /dev/shm and shared segments; or gives a file one; or shows\n"
"which a file has.  Nodes are the machine's.\n\n"
"  -l, --localalloc         on the own node\n"
"  -m, --membind=NODES      on these alone: 1, 0-2 or all\n"
"  -i, --interleave=NODES   on these in turn\n"
"      --preferred=NODE     on this one, while it has some\n"
"      --file=FILE          the policy is this file's, for all programs\n"
"      --touch              and its pages are there at once, now and when it grows\n"
"  -h, --help               print this\n";

static int fail(const char *file)
{
	if (errno == EOPNOTSUPP || errno == ENODATA)
		mios_error("mios", "numactl: %s is no file of /mios or "
			   "/dev/shm", file);
	else
		mios_error("mios", "numactl: %s: %m", file);
	return MIOS_EXIT_FAILED;
}

static int file_show(const char *file)
{
	char text[256];
	ssize_t length = getxattr(file, "mios.policy", text, sizeof(text));

	if (length < 0)
		return fail(file);
	printf("%.*s\n", (int)length, text);
	mios_flush_stdout();
	return MIOS_EXIT_OK;
}

static int file_set(const char *file, const struct policy *policy, bool touch)
{
	char text[256];

	policy_text(policy, touch, text, sizeof(text));
	return setxattr(file, "mios.policy", text, strlen(text), 0) ?
		fail(file) : MIOS_EXIT_OK;
}

static int program_run(const struct policy *policy, char **argv)
{
	int err = policy_apply(policy);

	if (err)
		mios_die(MIOS_EXIT_FAILED, "numactl: this kernel takes no such "
			 "policy: %s", strerror(-err));
	execvp(argv[0], argv);
	err = errno;
	mios_error("mios", "numactl: %s: %s", argv[0], strerror(err));
	return err == ENOENT ? 127 : 126;
}

int cmd_numactl(int argc, char **argv)
{
	static const struct option longs[] = {
		LONG_MEMBIND,
		LONG_INTERLEAVE,
		LONG_LOCAL,
		LONG_PREFERRED,
		{ "file", required_argument, NULL, OPTION_FILE },
		{ "touch", no_argument, NULL, OPTION_TOUCH },
		{ "help", no_argument, NULL, 'h' },
		{ }
	};
	struct policy policy = { 0 };
	const char *file = NULL;
	bool touch = false;
	int c;

	while ((c = getopt_long(argc, argv, "+:" POLICY_LETTERS "h", longs,
				NULL)) != -1)
		switch (c) {
		case POLICY_MEMBIND:
		case POLICY_INTERLEAVE:
		case POLICY_LOCAL:
		case POLICY_PREFERRED:
			policy_option("numactl", c, optarg, &policy);
			break;
		case OPTION_FILE:
			file = optarg;
			break;
		case OPTION_TOUCH:
			touch = true;
			break;
		default:
			mios_other_option("numactl", usage, argv, c, longs);
		}
	if (file ? optind < argc : optind >= argc)
		mios_usage("numactl", "it wants a program, or --file=FILE");
	if (!policy.option && (!file || touch))
		mios_usage("numactl", "it wants a policy: -l, -m, -i or "
			   "--preferred");
	if (!file)
		return program_run(&policy, argv + optind);
	return policy.option ? file_set(file, &policy, touch) :
		file_show(file);
}
