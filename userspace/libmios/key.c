// SPDX-License-Identifier: GPL-2.0
/*
 * The machine's key, by which one instance's miosd knows another's: made by
 * mios-host-setup on instance 0, put into each instance's initrd by "mios
 * boot", and readable by root only.  It never crosses the network.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "key.h"

/* -ENOENT: none was made; -EPERM: others could have read or written it. */
int mios_key_read(unsigned char key[MIOS_KEY_LEN])
{
	unsigned char more;
	struct stat st;
	int fd, err = 0;

	fd = open(MIOS_KEY_PATH, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st))
		err = -errno;
	else if (!S_ISREG(st.st_mode) || st.st_uid || st.st_mode & 077)
		err = -EPERM;
	else if (read(fd, key, MIOS_KEY_LEN) != MIOS_KEY_LEN ||
		 read(fd, &more, 1))
		err = -EINVAL;
	close(fd);
	return err;
}

const char *mios_key_error(int err)
{
	switch (err) {
	case -ENOENT:
		return "there is no " MIOS_KEY_PATH ": mios-host-setup makes "
		       "it on instance 0, and mios boot hands it on";
	case -EPERM:
		return MIOS_KEY_PATH " must be root's and nobody else's to "
		       "read: remove it on instance 0, run mios-host-setup "
		       "and boot the others again";
	}
	return MIOS_KEY_PATH " cannot be read or is not a key: remove it on "
	       "instance 0, run mios-host-setup and boot the others again";
}
