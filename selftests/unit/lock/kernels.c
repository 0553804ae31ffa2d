// SPDX-License-Identifier: GPL-2.0
/*
 * The program of a test of several kernels.
 * Exit status 0: all right; 1: the line that failed has been printed.
 */
#include "../inject.h"
#include "kernels.h"

void (*test_point)(void);

static int break_on_purpose(const char *name)
{
	u32 i;

	if (inject_on(name, -1))
		return 0;
	for (i = 0; i < kernels_test.breaks; i++)
		if (!strcmp(name, kernels_test.names[i])) {
			kernels_test.broken[i] = true;
			return 0;
		}
	return fprintf(stderr, "nothing to be broken by that name: %s\n", name), 2;
}

int main(int argc, char **argv)
{
	bool deep = argc > 1 && !strcmp(argv[1], "--deep");

	if (argc > 2 && !strcmp(argv[1], "--break") && break_on_purpose(argv[2]))
		return 2;
	explore_list(&kernels_test.common, kernels_test.entries, kernels_test.nr, deep);
	printf("all right\n");
	return 0;
}
