// SPDX-License-Identifier: GPL-2.0
/*
 * main() of an example program whose nodes are processes.
 */

#include "program.h"

int main(int argc, char **argv)
{
	int size = argc == 2 ? atoi(argv[1]) : program_size, bad;

	if (argc > 2 || size < 1) {
		fprintf(stderr, "usage: mios-dsm run -n NODES %s [SIZE]\n",
			argv[0]);
		return 2;
	}
	if (mios_dsm_start())
		return 3;	/* it has said why */
	bad = program(size);
	if (!mios_dsm_node())
		printf("%s: %s\n", program_name, bad ? "WRONG" : "right");
	must(mios_dsm_finish(), "finish");
	return bad ? 1 : 0;
}
