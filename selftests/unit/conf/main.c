// SPDX-License-Identifier: GPL-2.0
/*
 * conf FILE SEED: writes FILE again and again and reads it by
 * libmios/conf.c.  Exit status 0: all right; 1: the line that failed has been
 * printed.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libmios/conf.h"
#include "libmios/libmios.h"

#define ROUNDS	20000

static const char *path;
static char why[256];

static void write_file(const char *text, size_t len)
{
	FILE *f = fopen(path, "we");

	if (!f || fwrite(text, 1, len, f) != len || fclose(f)) {
		perror(path);
		exit(1);
	}
}

/* Of @text the value of "key" is @want, or NULL: it is refused, or not set. */
static void expect(const char *text, int line, const char *want)
{
	char value[16] = "untouched";
	int got;

	write_file(text, strlen(text));
	why[0] = '\0';
	got = conf_get(path, "key", value, sizeof(value), why, sizeof(why));
	if ((line < 0 ? got < 0 && strstr(why, want) : got == line &&
	     !strcmp(value, want)))
		return;
	printf("FAILED: %d, '%s', '%s' of:\n%s\n", got, value, why, text);
	exit(1);
}

static void cases(void)
{
	char lines[CONF_LINE + 64];

	expect("", 0, "untouched");
	expect("key = 10.77.0.0/16\n", 1, "10.77.0.0/16");
	expect("key=a", 1, "a");
	expect("\n# key = no\n\t key\t=  two words  # and more\r\n", 3,
	       "two words");
	expect("key = a#b\n", 1, "a#b");
	expect("key = a=b\n", 1, "a=b");
	expect("key = a\nkey2 = c\nkey = b\n", 3, "b");
	expect("keys = a\nke = b\n", 0, "untouched");
	expect("other = x\nkey a\n", -1, "line 2: this is not");
	expect("key =\n", -1, "line 1: this is not");
	expect("key = # nothing\n", -1, "line 1: this is not");
	expect("= a\n", -1, "line 1: this is not");
	expect("Key = a\n", -1, "line 1: this is not");
	expect("2key = a\n", -1, "line 1: this is not");
	expect("a key = a\n", -1, "line 1: this is not");
	expect("key = 123456789012345\n", 1, "123456789012345");
	expect("key = 1234567890123456\n", -1, "longer than 15 bytes");
	memset(lines, ' ', sizeof(lines));
	strcpy(lines + CONF_LINE - 8, "key = a\n");
	expect(lines, -1, "line 1: longer than");
	expect(lines + 1, 1, "a");
}

static void missing(void)
{
	char value[8] = "same";

	remove(path);
	if (conf_get(path, "key", value, sizeof(value), why, sizeof(why)) ||
	    strcmp(value, "same")) {
		printf("FAILED: a missing file is not an empty one\n");
		exit(1);
	}
	if (conf_get("/", "key", value, sizeof(value), why,
		     sizeof(why)) >= 0) {
		printf("FAILED: a folder was read\n");
		exit(1);
	}
}

static int check_setting(void *arg, const char *key, const char *value,
			 unsigned int line)
{
	size_t len = strlen(value);

	(void)arg;
	if (line && *key && *value && !strpbrk(key, "= #\t\r\n") &&
	    !strchr(" \t\r\n", *value) && !strchr(" \t\r\n", value[len - 1]))
		return 0;
	printf("FAILED: line %u gave '%s' = '%s'\n", line, key, value);
	exit(1);
}

/* Made of what matters; all that is read is a setting, or is refused. */
static void lots(void)
{
	static const char bits[] = "\n\n\nab9-_.= =# \t\r\0\377";
	char text[200];
	size_t i, len;

	len = rand() % sizeof(text);
	for (i = 0; i < len; i++)
		text[i] = bits[rand() % (sizeof(bits) - 1)];
	write_file(text, len);
	conf_read(path, check_setting, NULL, why, sizeof(why));
}

/* What "network" may be: the same as root/22-network has for the shell's. */
static void networks(void)
{
	static const char * const wrong[] = { "", "x", "/16", "10.77.0.0",
		"10.77.0.0/17", "10.77.0.0/16 ", "10.77.0.1/16", "10.77.1.0/16",
		"127.0.0.0/16", "224.0.0.0/16", "0.1.0.0/16", "300.1.0.0/16",
		"10.077.0.0/16", "1000000000000000.0.0/16", "10.77.0/16" };
	uint32_t net = 0;
	size_t i;

	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		if (mios_network_parse(wrong[i], &net) == -EINVAL && !net)
			continue;
		printf("FAILED: '%s' is a network\n", wrong[i]);
		exit(1);
	}
	if (mios_network_parse("192.168.0.0/16", &net) || net != 0xc0a80000) {
		printf("FAILED: 192.168.0.0/16 is none\n");
		exit(1);
	}
}

int main(int argc, char **argv)
{
	int i;

	if (argc != 3)
		return fprintf(stderr, "Usage: conf FILE SEED\n"), 2;
	path = argv[1];
	printf("seed %s\n", argv[2]);
	srand(strtoul(argv[2], NULL, 0));
	cases();
	missing();
	networks();
	for (i = 0; i < ROUNDS; i++)
		lots();
	printf("ok\n");
	return 0;
}
