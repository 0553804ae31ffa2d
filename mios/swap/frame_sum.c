// SPDX-License-Identifier: GPL-2.0
/*
 * A sum of a frame, by which it is known again when it is read.
 */
#include <linux/kernel.h>
#include <linux/mm.h>

#include "swap.h"

/*
 * Finds words that have changed, and frames that are others, at one addition
 * for each word: the copy itself costs no more.
 */
u32 mios_frame_sum(const void *frame)
{
	const u64 *word, *end = frame + PAGE_SIZE;
	u64 s[8] = { }, sum = 0;
	unsigned int i;

	for (word = frame; word < end; word += ARRAY_SIZE(s)) {
		s[0] += word[0];
		s[1] += word[1];
		s[2] += word[2];
		s[3] += word[3];
		s[4] += word[4];
		s[5] += word[5];
		s[6] += word[6];
		s[7] += word[7];
	}
	for (i = 0; i < ARRAY_SIZE(s); i++)
		sum = sum * 0x9e3779b97f4a7c15ULL + s[i];
	return sum ^ sum >> 32;
}
