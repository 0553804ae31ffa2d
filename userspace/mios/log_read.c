// SPDX-License-Identifier: GPL-2.0
/*
 * Reads one kernel log: text from the mios module, or this kernel's own
 * records from /dev/kmsg, which become the same text; chooses lines by their
 * stamps and their number.  Called by mios log and mios journal.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libmios/libmios.h"
#include "log.h"

#define CHUNK		16384		/* longer than any record */
#define PRESENT_MS	2000		/* a hasty writer has no end of its own */

static void hang_up(struct log *log)
{
	if (log->fd >= 0)
		close(log->fd);
	log->fd = -1;
}

static int failed(struct log *log, int err)
{
	hang_up(log);
	if (err)
		mios_error("mios", "log %d: %s", log->instance, strerror(-err));
	return err;
}

int log_open(struct log *log, int instance, bool self,
	     const struct log_options *opt)
{
	*log = (struct log){ .instance = instance, .self = self, .opt = opt };
	if (self)
		log->fd = open("/dev/kmsg", O_RDONLY | O_CLOEXEC);
	else
		log->fd = mios_stream_try("log", instance, opt->follow ?
					  MIOS_STREAM_FOLLOW : 0,
					  MIOS_IOC_LOG);
	if (log->fd < 0)
		return self ? failed(log, -errno) : -ENOENT;
	/* What follows is polled for; /dev/kmsg has no other end. */
	if ((self || opt->follow) && fcntl(log->fd, F_SETFL, O_NONBLOCK))
		return failed(log, -errno);
	return 0;
}

/* What has been read is forgotten. */
void log_close(struct log *log)
{
	hang_up(log);
	free(log->text);
	*log = (struct log){ .instance = log->instance, .fd = -1 };
}

static int make_room(struct log *log, size_t more)
{
	char *grown;

	if (log->size - log->len >= more)
		return 0;
	grown = realloc(log->text, 2 * log->size + more);
	if (!grown)
		return -ENOMEM;
	log->text = grown;
	log->size = 2 * log->size + more;
	return 0;
}

static int add(struct log *log, const char *text, size_t len)
{
	int err = make_room(log, len);

	if (err)
		return err;
	memcpy(log->text + log->len, text, len);
	log->len += len;
	return 0;
}

/* The character that "\xNN" at @from stands for, if it is one we print. */
static int escaped(const char *from, const char *end)
{
	if (end - from < 4 || from[0] != '\\' || from[1] != 'x')
		return 0;
	if (!memcmp(from + 2, "0a", 2))
		return '\n';
	if (!memcmp(from + 2, "09", 2))
		return '\t';
	return memcmp(from + 2, "5c", 2) ? 0 : '\\';
}

/* "prio,seq,usec,flags;text", a line, and lines about it that nobody wants. */
static int add_record(struct log *log, const char *record, size_t len)
{
	const char *text = memchr(record, ';', len), *end;
	char stamp[48], c;
	uint64_t usec;
	int err;

	if (!text++ || sscanf(record, "%*u,%*u,%" SCNu64, &usec) != 1)
		return 0;
	end = memchr(text, '\n', record + len - text);
	if (!end)
		end = record + len;
	snprintf(stamp, sizeof(stamp), "[%5" PRIu64 ".%06" PRIu64 "] ",
		 usec / 1000000, usec % 1000000);
	err = add(log, stamp, strlen(stamp));
	for (; !err && text < end; text++) {
		c = escaped(text, end);
		if (c)
			text += 3;
		else
			c = *text;
		err = add(log, &c, 1);
		if (!err && c == '\n')
			err = add(log, stamp, strlen(stamp));
	}
	return err ? err : add(log, "\n", 1);
}

/* 1: more may be there, 0: nothing now, or the end (and fd is -1); -errno */
static int read_chunk(struct log *log)
{
	char buf[CHUNK + 1];
	ssize_t got;
	int err;

	got = read(log->fd, buf, CHUNK);
	if (got < 0 && (errno == EINTR || errno == EPIPE))
		return 1;	/* EPIPE: records were overwritten, go on */
	if (got < 0)
		return errno == EAGAIN ? 0 : -errno;
	if (!got) {
		hang_up(log);
		return 0;
	}
	buf[got] = '\0';
	err = log->self ? add_record(log, buf, got) : add(log, buf, got);
	return err ? err : 1;
}

/* The stamp that a line begins with, or that of the line before. */
double log_stamp(const char *line, const char *end, double before)
{
	char text[32], *digits = text + 1, *after;
	size_t len = end - line < 31 ? end - line : 31;
	double stamp;

	memcpy(text, line, len);
	text[len] = '\0';
	if (text[0] != '[')
		return before;
	stamp = strtod(digits, &after);
	return after != digits && *after == ']' ? stamp : before;
}

const char *log_next_line(const char *line, const char *end)
{
	const char *newline = memchr(line, '\n', end - line);

	return newline ? newline + 1 : end;
}

/* What --since means on this log; "before the last" is of what is there. */
static double since_stamp(const struct log *log, const char *end)
{
	const double since = log->opt->since;
	const char *line;
	double last = 0;

	if (since >= 0)
		return since;
	for (line = log->text; line < end; line = log_next_line(line, end))
		last = log_stamp(line, end, last);
	return last + since;
}

/* Prints the lines up to @end that are young enough, but for the first @skip. */
static long put_lines(const struct log *log, const char *end, long skip,
		      bool print)
{
	const char *line, *next;
	double stamp = 0;
	long nr = 0;

	for (line = log->text; line < end; line = next) {
		next = log_next_line(line, end);
		stamp = log_stamp(line, next, stamp);
		if (stamp < log->since)
			continue;
		if (print && nr >= skip) {
			if (log->opt->name)
				printf("%d: ", log->instance);
			mios_put_visible(line, next - line -
					 (next[-1] == '\n'));
			putchar('\n');
		}
		nr++;
	}
	return nr;
}

/* Reads what there is now.  0 or -errno, which has been told. */
int log_fill(struct log *log)
{
	const int64_t limit = mios_now_ms() + PRESENT_MS;
	int ret;

	do {
		ret = read_chunk(log);
	} while (ret > 0 && (!(log->self || log->opt->follow) ||
			    mios_now_ms() < limit));
	return ret < 0 ? failed(log, ret) : 0;
}

/* Half a line waits for its other half, if that can come. */
const char *log_end(const struct log *log)
{
	const char *end = log->text + log->len;

	while (log->opt->follow && log->fd >= 0 && end > log->text &&
	       end[-1] != '\n')
		end--;
	return end;
}

/* What is before @end has been dealt with. */
void log_forget(struct log *log, const char *end)
{
	log->len -= end - log->text;
	if (log->len)
		memmove(log->text, end, log->len);
}

/*
 * Prints what can be read now, whole lines, the first time those of it that
 * were asked for.  0 or -errno, which has been told.
 */
int log_print(struct log *log)
{
	const char *end;
	long skip = 0;
	int err = log_fill(log);

	if (err)
		return err;
	end = log_end(log);
	if (!log->follows) {
		log->since = since_stamp(log, end);
		skip = put_lines(log, end, 0, false) - log->opt->lines;
		if (log->opt->lines < 0)
			skip = 0;
	}
	put_lines(log, end, skip, true);
	log->follows = true;
	log_forget(log, end);
	return 0;
}
