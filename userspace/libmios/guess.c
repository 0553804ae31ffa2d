// SPDX-License-Identifier: GPL-2.0
/*
 * Which word somebody may have meant who mistyped one: for the lines about
 * commands, options and settings that do not exist.
 */
#include <string.h>

#include "libmios.h"

#define WORD_MAX	32		/* longer ones are not guessed */

static unsigned int least(unsigned int a, unsigned int b)
{
	return a < b ? a : b;
}

/* Letters to add, drop, change or swap with their neighbour. */
static unsigned int edits(const char *a, size_t la, const char *b, size_t lb)
{
	unsigned int d[WORD_MAX + 1][WORD_MAX + 1];
	size_t i, j;

	for (i = 0; i <= la; i++)
		d[i][0] = i;
	for (j = 0; j <= lb; j++)
		d[0][j] = j;
	for (i = 1; i <= la; i++)
		for (j = 1; j <= lb; j++) {
			d[i][j] = least(d[i - 1][j - 1] +
					(a[i - 1] != b[j - 1]),
					least(d[i - 1][j], d[i][j - 1]) + 1);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] &&
			    a[i - 2] == b[j - 1])
				d[i][j] = least(d[i][j], d[i - 2][j - 2] + 1);
		}
	return d[la][lb];
}

/* How far @word is from what was typed; a beginning is as good as a slip. */
static unsigned int distance(const char *typed, size_t len, const char *word)
{
	size_t other = strlen(word);

	if (len && !strncmp(typed, word, len))
		return 1;
	if (other > WORD_MAX)
		return WORD_MAX;
	return edits(typed, len, word, other);
}

/*
 * The nearest of the words that @next(context, i) returns for i = 0, 1 ...
 * until NULL, if it is near enough to have been meant; else NULL.
 */
const char *mios_guess(const char *typed, size_t len,
		       const char *(*next)(const void *context, size_t i),
		       const void *context)
{
	unsigned int here, nearest = 2 + len / 4;
	const char *word, *found = NULL;
	size_t i;

	if (len > WORD_MAX)
		return NULL;
	for (i = 0; (word = next(context, i)); i++) {
		here = distance(typed, len, word);
		if (here < nearest) {
			nearest = here;
			found = word;
		}
	}
	return found;
}
