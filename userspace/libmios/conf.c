// SPDX-License-Identifier: GPL-2.0
/*
 * Reads a file of settings, one "key = value" a line:
 *
 *	# a comment; so is what follows a blank and this sign
 *	network = 10.77.0.0/16
 *
 * A key is of small letters, digits, '-', '_' and '.', and begins with a
 * letter.  A value is the rest of the line without the blanks around it, and
 * is not empty.  Of two lines with one key the last counts.  A file that is
 * missing holds no settings.  Nothing is printed: @why gets the one line that
 * says what is wrong, and where.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "conf.h"

#define BLANKS		" \t\r\n"
#define LETTERS		"abcdefghijklmnopqrstuvwxyz"

struct wanted {
	const char *key;
	char *value;
	size_t room;
	unsigned int line;	/* 0: not found */
};

/* What comes after a '#' that a word does not hold. */
static void drop_comment(char *line)
{
	char *p = line;

	while ((p = strchr(p, '#')) && p != line && !strchr(BLANKS, p[-1]))
		p++;
	if (p)
		*p = '\0';
}

/* @text without the blanks around it. */
static char *trim(char *text)
{
	size_t len;

	text += strspn(text, BLANKS);
	len = strlen(text);
	while (len && strchr(BLANKS, text[len - 1]))
		len--;
	text[len] = '\0';
	return text;
}

static int is_key(const char *key)
{
	return *key && strchr(LETTERS, *key) &&
	       !key[strspn(key, LETTERS "0123456789-_.")];
}

/* 1: a setting, 0: nothing, -EINVAL: neither. */
static int split(char *line, char **key, char **value)
{
	char *equals;

	drop_comment(line);
	*key = trim(line);
	if (!**key)
		return 0;
	equals = strchr(*key, '=');
	if (!equals)
		return -EINVAL;
	*equals = '\0';
	*key = trim(*key);
	*value = trim(equals + 1);
	return is_key(*key) && **value ? 1 : -EINVAL;
}

static int read_lines(FILE *f, const char *path, conf_fn each, void *arg,
		      char *why, size_t size)
{
	char line[CONF_LINE], *key, *value;
	unsigned int nr = 0;
	int err;

	while (fgets(line, sizeof(line), f)) {
		nr++;
		if (!strchr(line, '\n') && !feof(f)) {
			snprintf(why, size, "%s, line %u: longer than %d bytes",
				 path, nr, CONF_LINE - 2);
			return -EINVAL;
		}
		err = split(line, &key, &value);
		if (err < 0)
			snprintf(why, size, "%s, line %u: this is not 'key = "
				 "value'", path, nr);
		if (err > 0)
			err = each(arg, key, value, nr);
		if (err)
			return err;
	}
	if (!ferror(f))
		return 0;
	snprintf(why, size, "%s: %m", path);
	return -EIO;
}

/*
 * Calls @each for every setting, in the file's order.  0, what @each
 * returned, or -errno with @why filled in.
 */
int conf_read(const char *path, conf_fn each, void *arg, char *why,
	      size_t size)
{
	FILE *f = fopen(path, "re");
	int err;

	if (!f && errno == ENOENT)
		return 0;
	if (!f) {
		err = -errno;
		snprintf(why, size, "%s: %m", path);
		return err;
	}
	err = read_lines(f, path, each, arg, why, size);
	fclose(f);
	return err;
}

static int take(void *arg, const char *key, const char *value,
		unsigned int line)
{
	struct wanted *w = arg;

	if (strcmp(key, w->key))
		return 0;
	if (strlen(value) >= w->room)
		return -E2BIG;
	strcpy(w->value, value);
	w->line = line;
	return 0;
}

/*
 * The value of @key into @value: the number of its line, 0 if it is not set
 * (@value is as it was), or -errno with @why filled in.
 */
int conf_get(const char *path, const char *key, char *value, size_t room,
	     char *why, size_t size)
{
	struct wanted w = { .key = key, .value = value, .room = room };
	int err;

	err = conf_read(path, take, &w, why, size);
	if (err == -E2BIG)
		snprintf(why, size, "%s: the value of %s is longer than %zu "
			 "bytes", path, key, room - 1);
	return err ? err : (int)w.line;
}
