// SPDX-License-Identifier: GPL-2.0
/*
 * Small conversions for output: sizes, times, and copying a stream to
 * standard output; the clock that waits are bounded by.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "libmios.h"

/* For deadlines: it does not jump. */
int64_t mios_now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000ll + ts.tv_nsec / 1000000;
}

/* As much of a text as there is room for, in whole letters of UTF-8. */
void mios_cut(char *to, size_t size, const char *from)
{
	size_t len = strlen(from);

	if (len >= size) {
		len = size - 1;
		while (len && (from[len] & 0xc0) == 0x80)
			len--;
	}
	memcpy(to, from, len);
	to[len] = '\0';
}

/*
 * How many bytes the letter of UTF-8 has that begins here, of @left bytes; 0: none
 * does.  Control characters of more than a byte are none: terminals obey them.
 */
int mios_letter(const char *text, size_t left)
{
	const unsigned char *at = (const unsigned char *)text;
	size_t len = *at < 0x80 ? 1 : *at < 0xc2 ? 0 : *at < 0xe0 ? 2 :
		     *at < 0xf0 ? 3 : *at < 0xf5 ? 4 : 0;
	size_t i;

	if (len > left)
		return 0;
	for (i = 1; i < len; i++)
		if ((at[i] & 0xc0) != 0x80)
			return 0;
	/* Longer than need be, half of a pair, beyond the last; U+0080 to U+009F. */
	if ((*at == 0xe0 && at[1] < 0xa0) || (*at == 0xed && at[1] > 0x9f) ||
	    (*at == 0xf0 && at[1] < 0x90) || (*at == 0xf4 && at[1] > 0x8f) ||
	    (*at == 0xc2 && at[1] < 0xa0))
		return 0;
	return len;
}

/* What is no letter of UTF-8 becomes a question mark: names may be anything. */
void mios_utf8(char *text)
{
	const char *end = text + strlen(text);
	int len;

	for (; text < end; text += len) {
		len = mios_letter(text, end - text);
		if (!len) {
			*text = '?';
			len = 1;
		}
	}
}

/*
 * Prints what others have written, so that it cannot drive the reader's terminal:
 * each byte that is no letter, and each control character but a tab, as \x1b.
 */
void mios_put_visible(const char *text, size_t len)
{
	const char *end = text + len;
	int n;

	for (; text < end; text += n ? n : 1) {
		n = mios_letter(text, end - text);
		if (!n || (iscntrl((unsigned char)*text) && *text != '\t'))
			printf("\\x%02x", (unsigned char)*text);
		else
			fwrite(text, 1, n, stdout);
	}
}

/* 1073741824 as "1.0G"; below a kibibyte as it is. */
void mios_size_text(uint64_t bytes, char *buf, size_t len)
{
	static const char units[] = "KMGTPE";
	double value = bytes;
	int unit = -1;

	while (value >= 1024 && units[unit + 1]) {
		value /= 1024;
		unit++;
	}
	if (unit < 0)
		snprintf(buf, len, "%" PRIu64, bytes);
	else
		snprintf(buf, len, "%.1f%c", value, units[unit]);
}

/* 3725 as "1:02:05", days in front when there are some. */
void mios_time_text(uint64_t seconds, char *buf, size_t len)
{
	unsigned int h = seconds / 3600 % 24, m = seconds / 60 % 60;
	unsigned int s = seconds % 60;
	uint64_t days = seconds / 86400;

	if (days)
		snprintf(buf, len, "%" PRIu64 "d %u:%02u:%02u", days, h, m, s);
	else
		snprintf(buf, len, "%u:%02u:%02u", h, m, s);
}

/* Everything that @fd has to standard output; 0 or -errno of either. */
int mios_copy_out(int fd)
{
	char buf[65536];
	ssize_t got, put;
	char *from;

	for (;;) {
		got = read(fd, buf, sizeof(buf));
		if (!got)
			return 0;
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		for (from = buf; got; from += put, got -= put) {
			put = write(STDOUT_FILENO, from, got);
			if (put < 0 && errno == EINTR)
				put = 0;
			else if (put < 0)
				return -errno;
		}
	}
}
