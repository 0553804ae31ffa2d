// SPDX-License-Identifier: GPL-2.0
/*
 * mios console: joins the terminal to the console of an instance.  The
 * terminal is raw until the escape, Ctrl-], or another end (tty.c).  Input
 * that is no terminal is passed as it is, so that a script can log in; then
 * the end of the input and a quiet console end it.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "libmios/libmios.h"
#include "subcommands.h"
#include "tty.h"

#define ESCAPE		0x1d		/* Ctrl-] */
#define LINGER_DEFAULT	2
#define LINGER_MAX	3600
#define FULL_MS		10

static const char usage[] =
"Usage: mios console INSTANCE [OPTION...]\n"
"Joins this terminal to the console of an instance; Ctrl-] leaves it.\n"
"Input that is no terminal is passed as it is; after its end the output is\n"
"shown until the console has been quiet for a while.\n\n"
"  -l, --linger=SECS  how long that is (default 2)\n"
"  -h, --help         print this\n";

/* What was typed and the console has not taken yet: its program may not read. */
struct typed {
	char buf[65536];
	size_t len;
};

/* Standard output waits for its reader. */
static int put(const char *buf, size_t len)
{
	ssize_t done;

	while (len) {
		done = write(STDOUT_FILENO, buf, len);
		if (done < 0 && errno != EINTR)
			return -errno;
		if (done > 0) {
			buf += done;
			len -= done;
		}
	}
	return 0;
}

/* 1: go on; -ENODEV: the instance has ended. */
static int show(int console)
{
	char buf[4096];
	ssize_t got;
	int ret;

	got = read(console, buf, sizeof(buf));
	if (got < 0)
		return errno == EINTR || errno == EAGAIN ? 1 : -errno;
	ret = put(buf, got);
	if (ret)
		return ret;
	return got ? 1 : -ENODEV;
}

/* 1: go on, 0: the input is at its end or the escape came. */
static int take(struct typed *t, int escape)
{
	const size_t room = sizeof(t->buf) - t->len;
	char lost[4096], *to = room ? t->buf + t->len : lost;
	char *end = NULL;
	ssize_t got;

	got = read(STDIN_FILENO, to, room ? room : sizeof(lost));
	if (got < 0)
		return errno == EINTR || errno == EAGAIN ? 1 : -errno;
	if (escape)
		end = memchr(to, ESCAPE, got);
	if (room)
		t->len += end ? end - to : got;
	else if (!end)
		put("\a", 1);	/* as a terminal that cannot take more */
	return got && !end;
}

static int send_typed(int console, struct typed *t)
{
	ssize_t done = write(console, t->buf, t->len);

	if (done > 0) {
		t->len -= done;
		memmove(t->buf, t->buf + done, t->len);
	} else if (done < 0 && errno == EAGAIN) {
		/* Its window has room, its channel has none for a moment. */
		poll(NULL, 0, FULL_MS);
	} else if (done < 0 && errno != EINTR) {
		return -errno;
	}
	return 0;
}

/* 0 when it was left on purpose; -errno, -ENODEV if the instance ended. */
static int talk(int console, int escape, int linger_ms)
{
	static struct typed typed;
	struct pollfd fds[2] = { { .events = POLLIN }, { .fd = console } };
	bool ended = false;
	int ret;

	for (;;) {
		/* The escape is looked for however much is waiting. */
		fds[0].fd = ended || (typed.len == sizeof(typed.buf) &&
				      !escape) ? -1 : STDIN_FILENO;
		fds[1].events = POLLIN | (typed.len ? POLLOUT : 0);
		ret = poll(fds, 2, ended && !typed.len ? linger_ms : -1);
		if (ret < 0 && errno != EINTR)
			return -errno;
		if (!ret)
			return 0;	/* input ended and console is quiet */
		if (ret < 0)
			continue;
		if (fds[1].revents & ~POLLOUT) {
			ret = show(console);
			if (ret <= 0)
				return ret;
		}
		if (fds[1].revents & POLLOUT) {
			ret = send_typed(console, &typed);
			if (ret)
				return ret;
		}
		if (fds[0].revents) {
			ret = take(&typed, escape);
			if (ret < 0)
				return ret;
			/* What came before it, as far as there is room. */
			if (!ret && escape)
				return typed.len ?
				       send_typed(console, &typed) : 0;
			ended = !ret;
		}
	}
}

static void run(long instance, long linger)
{
	int console, tty, ret;

	console = mios_stream_open("console", instance, 0, MIOS_IOC_CONSOLE);
	fcntl(console, F_SETFL, O_RDWR | O_NONBLOCK);
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
				mios_usage("console", "--linger is a number of "
					   "seconds up to %d", LINGER_MAX);
			break;
		default:
			mios_other_option("console", usage, argv, c, longs);
		}
	instance = mios_parse_target("console", argc - optind, argv + optind);
	if ((int)instance == mios_self())
		mios_die(MIOS_EXIT_FAILED, "console %ld: that is the instance "
			 "you are on", instance);
	run(instance, linger);
	return MIOS_EXIT_OK;
}
