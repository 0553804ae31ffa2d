// SPDX-License-Identifier: GPL-2.0
/*
 * Checks and unpacks the frame that says what to run.  It was written by the
 * user: nothing in it gives rights, and nothing in it is believed before it
 * has been counted.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "miosd.h"

#define MAX_WORDS	131072	/* arguments; variables */

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

static char **take_strings(char **pos, char *end, size_t count)
{
	char **list;
	size_t i;

	list = calloc(count + 1, sizeof(*list));
	if (!list)
		return NULL;
	for (i = 0; i < count; i++) {
		list[i] = next_string(pos, end);
		if (!list[i]) {
			free(list);
			return NULL;
		}
	}
	return list;
}

void spec_free(struct spec *spec)
{
	free(spec->strings);
	free(spec->argv);
	free(spec->envp);
	memset(spec, 0, sizeof(*spec));
}

int spec_parse(struct spec *spec, const void *data, size_t len)
{
	char *pos, *end;

	memset(spec, 0, sizeof(*spec));
	if (len < sizeof(spec->head))
		return -EPROTO;
	memcpy(&spec->head, data, sizeof(spec->head));
	len -= sizeof(spec->head);
	if (!spec->head.argc || spec->head.argc > MAX_WORDS ||
	    spec->head.envc > MAX_WORDS || spec->head.umask & ~07777u)
		return -EPROTO;
	spec->strings = malloc(len);
	if (!spec->strings)
		return -ENOMEM;
	memcpy(spec->strings, (const char *)data + sizeof(spec->head), len);
	pos = spec->strings;
	end = pos + len;
	spec->cwd = next_string(&pos, end);
	if (spec->cwd)
		spec->argv = take_strings(&pos, end, spec->head.argc);
	if (spec->argv)
		spec->envp = take_strings(&pos, end, spec->head.envc);
	return spec->envp && pos == end ? 0 : -EPROTO;
}
