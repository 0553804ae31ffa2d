// SPDX-License-Identifier: GPL-2.0
/*
 * Opens /dev/mios and turns its refusals into lines that a person can act
 * on.  Used by the commands that boot, end or listen to instances.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "libmios.h"

/* The device, or an end with the line that says what is missing. */
int mios_device_open(void)
{
	int fd = open(MIOS_DEVICE, O_RDWR | O_CLOEXEC);

	if (fd >= 0)
		return fd;
	if (errno == EACCES || errno == EPERM)
		mios_die(MIOS_EXIT_FAILED,
			 MIOS_DEVICE ": no permission: run this as root");
	if (errno == ENOENT || errno == ENODEV || errno == ENXIO)
		mios_die(MIOS_EXIT_FAILED,
			 MIOS_DEVICE " is missing: is the mios module loaded "
			 "on this kernel? (modprobe mios)");
	mios_die(MIOS_EXIT_FAILED, MIOS_DEVICE ": %m");
}

/* For calls that leave no reason: a console that cannot be joined. */
static const char *plain_reason(int err)
{
	switch (err) {
	case ENOTCONN:
		return "it is not up";
	case EBUSY:
		return "somebody else is on it";
	case ENODEV:
	case EINVAL:
		return "there is no such instance";
	}
	return strerror(err);
}

/*
 * Why the last call on @fd failed: the kernel's own words where it has some.
 * They end up on a terminal, hence no control characters.
 */
const char *mios_reason(int fd, int err)
{
	static struct mios_reason reason;
	char *c;

	if (!ioctl(fd, MIOS_IOC_REASON, &reason)) {
		reason.text[sizeof(reason.text) - 1] = '\0';
		for (c = reason.text; *c; c++)
			if (*c < ' ' || *c == 0x7f)
				*c = ' ';
		if (reason.text[0])
			return reason.text;
	}
	return plain_reason(err);
}

/* The page frame that stood in the way of the last call on @fd, or 0. */
uint64_t mios_reason_frame(int fd)
{
	struct mios_reason reason;

	return ioctl(fd, MIOS_IOC_REASON, &reason) ? 0 : reason.frame;
}

/* File of an instance's log or console, or -1 once the reason was told. */
int mios_stream_try(const char *command, int instance, unsigned int flags,
		    unsigned long request)
{
	struct mios_stream stream = {
		.instance = instance,
		.flags = flags,
		.fd = -1,
	};
	int fd = mios_device_open();

	if (ioctl(fd, request, &stream))
		mios_error("mios", "%s %d: %s", command, instance,
			   mios_reason(fd, errno));
	close(fd);
	return stream.fd;
}

/* The same, or an end. */
int mios_stream_open(const char *command, int instance, unsigned int flags,
		     unsigned long request)
{
	int fd = mios_stream_try(command, instance, flags, request);

	if (fd < 0)
		exit(MIOS_EXIT_FAILED);
	return fd;
}
