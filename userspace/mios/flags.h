/* SPDX-License-Identifier: GPL-2.0 */
/* The options of a command whose options have no values. */
#ifndef MIOS_FLAGS_H
#define MIOS_FLAGS_H

#include <stdbool.h>

#define FLAGS_MAX	8

struct flag {
	const char *name;
	int letter;		/* 0: none */
	bool *given;
};

/* @flags end with one without a name; --help is understood, too. */
void flags_take(const char *command, const char *usage, int argc, char **argv,
		const struct flag *flags);

#endif /* MIOS_FLAGS_H */
