/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Where the pages of shared files are to be, with numactl's words: options of
 * mios numactl and of mios run.
 */
#ifndef MIOS_POLICY_H
#define MIOS_POLICY_H

#include <stdbool.h>
#include <stdint.h>

enum policy_option {
	POLICY_MEMBIND = 'm',
	POLICY_INTERLEAVE = 'i',
	POLICY_LOCAL = 'l',
	POLICY_PREFERRED = 0x200,	/* numactl's -p */
};

/* For a command's table of long options, and its letters. */
#define LONG_MEMBIND	{ "membind", required_argument, NULL, POLICY_MEMBIND }
#define LONG_INTERLEAVE	\
	{ "interleave", required_argument, NULL, POLICY_INTERLEAVE }
#define LONG_LOCAL	{ "localalloc", no_argument, NULL, POLICY_LOCAL }
#define LONG_PREFERRED	\
	{ "preferred", required_argument, NULL, POLICY_PREFERRED }
#define POLICY_LETTERS	"m:i:l"

/* @option: 0: none was given; @nodes: of the machine */
struct policy {
	int option;
	uint64_t nodes;
};

/* As @command; ends the program where it is not understood. */
void policy_option(const char *command, int option, const char *text,
		   struct policy *policy);

/* As miosfs wants it, in an attribute: "bind=eager:0-2". */
void policy_text(const struct policy *policy, bool eager, char *text,
		 unsigned int size);

/* Of this process, and of all that it starts.  -errno */
int policy_apply(const struct policy *policy);

/*
 * @argv, begun by another instance's "mios numactl" with these options; NULL: no
 * memory.
 */
char **policy_prefix(const struct policy *policy, char **argv);

#endif /* MIOS_POLICY_H */
