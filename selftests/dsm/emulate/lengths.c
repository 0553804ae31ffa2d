// SPDX-License-Identifier: GPL-2.0
/*
 * Instructions as lines of hexadecimal digits; for each the length that the
 * decoder finds, 0 if it is not one that is emulated.
 */
#include "trial.h"

int main(void)
{
	char line[128];

	while (fgets(line, sizeof(line), stdin)) {
		struct dsm_insn in;
		u8 code[sizeof(line) / 2];
		unsigned int byte;
		size_t len = 0;

		while (sscanf(line + 2 * len, "%2x", &byte) == 1)
			code[len++] = byte;
		printf("%d\n", dsm_insn_decode(&in, code, len) ? 0 :
		       in.length);
	}
	return 0;
}
