// SPDX-License-Identifier: GPL-2.0
/*
 * Checks the frame that says what to run, and finds its strings in it.  It was
 * written by the user: nothing in it gives rights, and nothing in it is
 * believed before it has been counted.
 */
#include <errno.h>
#include <string.h>

#include "miosd.h"

/* The next string, or NULL if the bytes end before it does. */
static char *next_string(char **pos, char *end)
{
	char *s = *pos, *nul;

	nul = memchr(s, '\0', end - s);
	if (!nul)
		return NULL;
	*pos = nul + 1;
	return s;
}

/* @count of them into @list, which has room for one more, the NULL. */
static bool take_strings(char **list, char **pos, char *end, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++) {
		list[i] = next_string(pos, end);
		if (!list[i])
			return false;
	}
	list[count] = NULL;
	return true;
}

/*
 * The strings stay where they are, and @words, room for @nr, points at them:
 * what @spec names lasts as long as these two.
 */
int spec_parse(struct spec *spec, char *data, size_t len, char **words,
	       size_t nr)
{
	char *pos = data + sizeof(spec->head), *end = data + len;

	memset(spec, 0, sizeof(*spec));
	if (len < sizeof(spec->head))
		return -EPROTO;
	memcpy(&spec->head, data, sizeof(spec->head));
	if (!spec->head.argc || spec->head.umask & ~07777u)
		return -EPROTO;
	if (spec->head.argc > MIOS_SPEC_WORDS ||
	    spec->head.envc > MIOS_SPEC_WORDS ||
	    spec->head.argc + spec->head.envc + 2 > nr)
		return -E2BIG;
	spec->argv = words;
	spec->envp = words + spec->head.argc + 1;
	spec->cwd = next_string(&pos, end);
	if (!spec->cwd ||
	    !take_strings(spec->argv, &pos, end, spec->head.argc) ||
	    !take_strings(spec->envp, &pos, end, spec->head.envc) ||
	    pos != end)
		return -EPROTO;
	return 0;
}
