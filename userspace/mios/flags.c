// SPDX-License-Identifier: GPL-2.0
/*
 * Reads the options of a command: what has no value is there or not.  Called by
 * all subcommands that have no other options; optind is behind them.
 */
#include <assert.h>
#include <getopt.h>

#include "flags.h"
#include "libmios/libmios.h"

#define NO_LETTER	256	/* and what follows: no character */

void flags_take(const char *command, const char *usage, int argc, char **argv,
		const struct flag *flags)
{
	struct option longs[FLAGS_MAX + 2] = { };
	char letters[FLAGS_MAX + 3] = ":h", *end = letters + 2;
	int c, i, n;

	for (n = 0; flags[n].name; n++) {
		assert(n < FLAGS_MAX);
		longs[n] = (struct option){ flags[n].name, no_argument, NULL,
					    NO_LETTER + n };
		if (flags[n].letter)
			*end++ = flags[n].letter;
	}
	longs[n] = (struct option){ "help", no_argument, NULL, 'h' };
	while ((c = getopt_long(argc, argv, letters, longs, NULL)) != -1) {
		for (i = 0; i < n && c != NO_LETTER + i && c != flags[i].letter;
		     i++)
			;
		if (i == n)
			mios_other_option(command, usage, argv, c, longs);
		*flags[i].given = true;
	}
}
