// SPDX-License-Identifier: GPL-2.0
/*
 * Changes one setting of /etc/mios.conf: its last line gets the new value, or
 * a line is added; comments and everything else stay.  The file is replaced
 * whole, so that who reads it meanwhile has the old one or the new one; two
 * who change it take turns, by a lock on its folder.  Called by mios set.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libmios/conf.h"
#include "libmios/libmios.h"
#include "set.h"

#define FOLDER		"/etc"
#define FRESH		CONF_PATH ".mios-new"
#define LOCK_MS		10000
#define TRY_US		20000

static int lock_folder(void)
{
	const int64_t limit = mios_now_ms() + LOCK_MS;
	int fd = open(FOLDER, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	while (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB)) {
		if (errno != EWOULDBLOCK || mios_now_ms() > limit) {
			close(fd);
			return -EBUSY;
		}
		usleep(TRY_US);
	}
	return fd < 0 ? -errno : fd;
}

/* The new file in the place of the old one, or neither is changed. */
static int replace(FILE *fresh, int bad)
{
	int err = 0;

	if (fflush(fresh) || fsync(fileno(fresh)) ||
	    fchmod(fileno(fresh), 0644))
		err = -errno;
	if (fclose(fresh) && !err)
		err = -errno;
	if (!err && bad)
		err = -EIO;
	if (!err && rename(FRESH, CONF_PATH))
		err = -errno;
	if (err)
		unlink(FRESH);
	return err;
}

/* All of @old but line @nr, 1 for the first, which becomes the setting. */
static int write_all(FILE *old, unsigned int nr, const char *name,
		     const char *value)
{
	FILE *fresh = fopen(FRESH, "we");
	char line[CONF_LINE];
	unsigned int at = 0;
	int last = '\n';

	if (!fresh)
		return -errno;
	while (old && fgets(line, sizeof(line), old)) {
		if (++at == nr)
			fprintf(fresh, "%s = %s\n", name, value);
		else
			fputs(line, fresh);
		last = at == nr ? '\n' : line[strlen(line) - 1];
	}
	if (!nr)
		fprintf(fresh, "%s%s = %s\n", last == '\n' ? "" : "\n", name,
			value);
	return replace(fresh, ferror(fresh) || (old && ferror(old)));
}

int set_file_change(const char *name, const char *value, char *why,
		    unsigned int size)
{
	char before[CONF_LINE];
	int nr, lock, err;
	FILE *old;

	lock = lock_folder();
	if (lock < 0) {
		snprintf(why, size, FOLDER ": %s", strerror(-lock));
		return lock;
	}
	/* A file that nobody can read is not made worse. */
	nr = conf_get(CONF_PATH, name, before, sizeof(before), why, size);
	if (nr < 0) {
		close(lock);
		return nr;
	}
	old = fopen(CONF_PATH, "re");
	err = !old && errno != ENOENT ? -errno :
	      write_all(old, nr, name, value);
	if (old)
		fclose(old);
	if (err)
		snprintf(why, size, CONF_PATH ": %s", strerror(-err));
	close(lock);
	return err;
}
