// SPDX-License-Identifier: GPL-2.0
/*
 * Prints JSON: tables of libsmartcols as members of one object, and strings.
 * Called by every command that takes --json.
 */
#include <libsmartcols/libsmartcols.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "libmios/libmios.h"

#define SCHEMA	1

void json_begin(void)
{
	printf("{\n   \"schema\": %d", SCHEMA);
}

void json_end(void)
{
	printf("\n}\n");
	mios_flush_stdout();
}

/* libsmartcols prints an object with one member: what is in its braces. */
void json_table(struct libscols_table *table)
{
	char *text, *first, *last;

	if (scols_print_table_to_string(table, &text))
		mios_die(MIOS_EXIT_FAILED, "no memory left for a table");
	first = strchr(text, '{');
	last = strrchr(text, '}');
	if (first && last) {
		first += 1 + strspn(first + 1, "\n ");
		while (last > first && (last[-1] == ' ' || last[-1] == '\n'))
			last--;
		printf(",\n   %.*s", (int)(last - first), first);
	}
	free(text);
}

/* What is no letter becomes a question mark: it may be anything, JSON is UTF-8. */
void json_string(const char *text)
{
	const char *end;
	int len;

	if (!text) {
		printf("null");
		return;
	}
	putchar('"');
	for (end = text + strlen(text); text < end; text += len ? len : 1) {
		len = mios_letter(text, end - text);
		if (!len)
			putchar('?');
		else if ((unsigned char)*text < ' ')
			printf("\\u%04x", *text);
		else if (*text == '"' || *text == '\\')
			printf("\\%c", *text);
		else
			printf("%.*s", len, text);
	}
	putchar('"');
}
