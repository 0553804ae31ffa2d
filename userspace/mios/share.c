// SPDX-License-Identifier: GPL-2.0
/*
 * A user's share of /mios, the setting shm.user: miosfs keeps it, and is told in an
 * extended attribute of its root, "BYTES FILES".  Called by mios set and mios pool.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/xattr.h>

#include "pages.h"

#define NAME		"mios.share"
#define BYTES_MAX	(1ULL << 53)	/* of all pools there can be */
#define FILES_MAX	(1ULL << 32)

/* "4G" or "1000": what it is, @rest behind it; 0: it is none, or too much. */
static uint64_t number(const char *text, char **rest, bool bytes)
{
	const char *units = "KMGT", *unit;
	uint64_t most = bytes ? BYTES_MAX : FILES_MAX, value;
	int shift = 0;

	if (*text < '0' || *text > '9')
		return 0;
	value = strtoull(text, rest, 10);
	unit = bytes && **rest ? strchr(units, **rest) : NULL;
	if (unit) {
		shift = 10 * (unit - units + 1);
		++*rest;
	}
	return value > most >> shift ? 0 : value << shift;
}

/* Names take memory, too: so nobody has any number of files. */
int share_parse(const char *text, struct pool_share *share)
{
	char *rest;

	*share = (struct pool_share) { };
	if (!strcmp(text, "none"))
		return 0;
	share->bytes = number(text, &rest, true);
	if (share->bytes < SHARED_PAGE)
		return -EINVAL;
	share->files = share->bytes / SHARED_PAGE;
	if (*rest == ',') {
		share->files = number(rest + 1, &rest, false);
		if (!share->files)
			return -EINVAL;
	}
	return *rest ? -EINVAL : 0;
}

/* -ENODEV: no /mios is mounted, or what holds there is instance 0's to say. */
int share_change(const char *text)
{
	struct pool_share share;
	char value[64];

	if (share_parse(text, &share))
		return -EINVAL;
	if (mios_self() > 0 || !pool_is_there())
		return -ENODEV;
	snprintf(value, sizeof(value), "%" PRIu64 " %" PRIu64, share.bytes,
		 share.files);
	return setxattr(SHARED_DIR, NAME, value, strlen(value), 0) ? -errno : 0;
}

int share_read(struct pool_share *share)
{
	char value[64];
	ssize_t length = getxattr(SHARED_DIR, NAME, value, sizeof(value) - 1);

	if (length < 0)
		return -errno;
	value[length] = '\0';
	return sscanf(value, "%" SCNu64 " %" SCNu64, &share->bytes,
		      &share->files) == 2 ? 0 : -EPROTO;
}

static int bytes_print(char *text, size_t size, uint64_t bytes)
{
	static const char * const units[] = { "", "K", "M", "G", "T" };
	int unit = 0;

	while (unit < 4 && bytes && !(bytes & 1023)) {
		bytes >>= 10;
		unit++;
	}
	return snprintf(text, size, "%" PRIu64 "%s", bytes, units[unit]);
}

/* As share_parse() takes it. */
int share_now(char *text, size_t size)
{
	struct pool_share share;
	int err = share_read(&share), length;

	if (err)
		return err;
	if (!share.bytes && !share.files) {
		snprintf(text, size, "none");
		return 0;
	}
	length = bytes_print(text, size, share.bytes);
	if (share.files != share.bytes / SHARED_PAGE)
		snprintf(text + length, size - length, ",%" PRIu64, share.files);
	return 0;
}
