// SPDX-License-Identifier: GPL-2.0
/*
 * mios-dsm key, which makes a file with a key, and how mios-dsm run reads it.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../libmios/cli.h"
#include "commands.h"
#include "key.h"

#define LIMIT	60000	/* ms for a key on standard input */

static const char help[] =
"usage: mios-dsm key FILE\n"
"Makes a key for mios-dsm run --key FILE.  Who has it may join a run, and read and\n"
"write all of its memory; so FILE is its owner's alone, and there is none yet.  Each\n"
"machine of a run needs the same one: copy it there as you would a key of ssh.\n"
"Exit status: 0, or 2 for a mistake.\n";

bool key_draw(u8 *key)
{
	if (getrandom(key, SEAL_KEY, 0) == SEAL_KEY)
		return true;
	cli_error("no random numbers: %s", strerror(errno));
	return false;
}

void key_text(const u8 *key, char *line)
{
	static const char digits[] = "0123456789abcdef";

	for (int i = 0; i < SEAL_KEY; i++) {
		line[2 * i] = digits[key[i] >> 4];
		line[2 * i + 1] = digits[key[i] & 15];
	}
	line[KEY_LINE - 1] = '\n';
}

static int digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool text_key(const char *line, u8 *key)
{
	for (int i = 0; i < SEAL_KEY; i++) {
		int high = digit(line[2 * i]), low = digit(line[2 * i + 1]);

		if (high < 0 || low < 0)
			return false;
		key[i] = high << 4 | low;
	}
	return line[KEY_LINE - 1] == '\n';
}

/* Byte by byte: what follows is somebody else's. */
static bool line_read(int fd, char *line)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	for (int i = 0; i < KEY_LINE; i++)
		if (poll(&p, 1, LIMIT) < 1 || read(fd, line + i, 1) != 1)
			return false;
	return true;
}

/* Why a file cannot be trusted to be a secret, or NULL. */
static const char *file_wrong(int fd)
{
	struct stat s;

	if (fstat(fd, &s))
		return strerror(errno);
	if (!S_ISREG(s.st_mode))
		return "is no file";
	if (s.st_uid && s.st_uid != geteuid())
		return "belongs to somebody else";
	if (s.st_mode & 077)
		return "others can read or write it: it is no secret any more; make another one (mios-dsm key), or chmod 600";
	return NULL;
}

bool key_read(const char *path, u8 *key)
{
	bool input = !strcmp(path, "-");
	/* A FIFO would let us wait. */
	int fd = input ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC |
					     O_NONBLOCK);
	const char *wrong = NULL;
	char line[KEY_LINE];

	if (fd < 0)
		wrong = strerror(errno);
	else if (!input)
		wrong = file_wrong(fd);
	if (!wrong && !(line_read(fd, line) && text_key(line, key)))
		wrong = "is no key; mios-dsm key makes one";
	explicit_bzero(line, sizeof(line));
	if (fd >= 0 && !input)
		close(fd);
	if (wrong)
		cli_error("run: --key '%s': %s", path, wrong);
	return !wrong;
}

static int make(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	char line[KEY_LINE];
	u8 key[SEAL_KEY];
	bool good;

	if (fd < 0)
		return cli_error("key: '%s': %s", path, errno == EEXIST ?
				 "is there, and stays; name another file" :
				 strerror(errno));
	if (!key_draw(key)) {
		close(fd);
		unlink(path);
		return 2;
	}
	key_text(key, line);
	good = write(fd, line, sizeof(line)) == sizeof(line) && !fsync(fd);
	explicit_bzero(line, sizeof(line));
	explicit_bzero(key, sizeof(key));
	if (!close(fd) && good)
		return 0;
	cli_error("key: '%s': %s", path, strerror(errno));
	unlink(path);
	return 2;
}

int cmd_key(int argc, char **argv)
{
	static const struct option options[] = {
		{ "help", no_argument, NULL, 'h' },
		{ }
	};
	int c = getopt_long(argc, argv, "h", options, NULL);

	if (c == 'h') {
		fputs(help, stdout);
		return 0;
	}
	if (c >= 0)
		return 2;
	if (argc - optind != 1)
		return cli_error("key: one file; try mios-dsm key --help");
	return make(argv[optind]);
}
