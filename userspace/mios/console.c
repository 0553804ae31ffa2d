// SPDX-License-Identifier: GPL-2.0
/*
 * mios console: joins the terminal to the console of an instance.  The
 * terminal is raw until the escape, Ctrl-], or another end (tty.c).  Input
 * that is no terminal is passed as it is, so that a script can log in; then
 * the end of the input and a quiet console end it.  No locks.
 */
#include <errno.h>
#include <getopt.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "libmios/mios.h"
#include "mios.h"
#include "tty.h"

#define ESCAPE		0x1d		/* Ctrl-] */
#define LINGER_DEFAULT	2
#define LINGER_MAX	3600

static const char usage[] =
"Usage: mios console INSTANCE [OPTION...]\n"
"Joins this terminal to the console of an instance; Ctrl-] leaves it.\n"
"Input that is no terminal is passed as it is; after its end the output is\n"
"shown until the console has been quiet for a while.\n\n"
"  -l, --linger=SECS  how long that is (default 2)\n"
"  -h, --help         print this\n";

/* All of it, although the console's file may be full for a moment. */
static int put(int fd, const char *buf, size_t len)
{
	struct pollfd pfd = { .fd = fd, .events = POLLOUT };
	ssize_t done;

	while (len) {
		done = write(fd, buf, len);
		if (done < 0 && errno == EAGAIN)
			poll(&pfd, 1, -1);
		else if (done < 0 && errno != EINTR)
			return -errno;
		if (done > 0) {
			buf += done;
			len -= done;
		}
	}
	return 0;
}

/* 1: bytes went across, 0: @from is at its end or the escape came. */
static int move(int from, int to, int escape)
{
	char buf[4096], *end = NULL;
	ssize_t got;
	int ret;

	got = read(from, buf, sizeof(buf));
	if (got < 0)
		return errno == EINTR || errno == EAGAIN ? 1 : -errno;
	if (escape)
		end = memchr(buf, ESCAPE, got);
	ret = put(to, buf, end ? end - buf : got);
	if (ret)
		return ret;
	return got && !end;
}

/* 0 when it was left on purpose; -errno, -ENODEV if the instance ended. */
static int talk(int console, int escape, int linger_ms)
{
	struct pollfd fds[2] = {
		{ .fd = STDIN_FILENO, .events = POLLIN },
		{ .fd = console, .events = POLLIN },
	};
	int ret, timeout = -1;

	for (;;) {
		ret = poll(fds, 2, timeout);
		if (ret < 0 && errno != EINTR)
			return -errno;
		if (!ret)
			return 0;	/* input ended and console is quiet */
		if (ret < 0)
			continue;
		if (fds[1].revents) {
			ret = move(console, STDOUT_FILENO, 0);
			if (ret <= 0)
				return ret ? ret : -ENODEV;
		}
		if (fds[0].revents) {
			ret = move(STDIN_FILENO, console, escape);
			if (ret < 0 || (!ret && escape))
				return ret;
			if (!ret) {
				fds[0].fd = -1;
				timeout = linger_ms;
			}
		}
	}
}

static void run(long instance, long linger)
{
	int console, tty, ret;

	console = mios_stream_open("console", instance, 0, MIOS_IOC_CONSOLE);
	tty = isatty(STDIN_FILENO);
	if (tty) {
		fprintf(stderr, "[console of instance %ld, Ctrl-] leaves it]\n",
			instance);
		ret = tty_change(cfmakeraw);
		if (ret)
			mios_die(MIOS_EXIT_FAILED, "console: this terminal: %s",
				 strerror(-ret));
	}
	ret = talk(console, tty, linger * 1000);
	tty_restore();
	if (tty)
		fprintf(stderr, "\n[left the console of instance %ld]\n",
			instance);
	/* EIO is what a terminal says whose other end went away. */
	if (ret == -EIO || ret == -ENODEV || ret == -EPIPE)
		mios_die(MIOS_EXIT_FAILED, "console %ld: the instance has "
			 "ended: 'mios log %ld' may say why", instance,
			 instance);
	if (ret)
		mios_die(MIOS_EXIT_FAILED, "console %ld: %s", instance,
			 strerror(-ret));
}

int cmd_console(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "linger", required_argument, NULL, 'l' },
		{ "help", no_argument, NULL, 'h' },
		{ }
	};
	long instance, linger = LINGER_DEFAULT;
	int c;

	while ((c = getopt_long(argc, argv, ":l:h", longs, NULL)) != -1)
		switch (c) {
		case 'l':
			if (mios_number(optarg, 0, LINGER_MAX, &linger))
				mios_die(MIOS_EXIT_USAGE, "console: --linger "
					 "is a number of seconds up to %d",
					 LINGER_MAX);
			break;
		case 'h':
			mios_help(usage);
		default:
			mios_bad_option("console", argv, c);
		}
	instance = mios_parse_target("console", argc - optind, argv + optind);
	if ((int)instance == mios_self())
		mios_die(MIOS_EXIT_FAILED, "console %ld: that is the instance "
			 "you are on", instance);
	run(instance, linger);
	return MIOS_EXIT_OK;
}
