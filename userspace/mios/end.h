/* SPDX-License-Identifier: GPL-2.0 */
/* What stop.c and kill.c tell end.c: all in which they differ. */
#ifndef MIOS_END_H
#define MIOS_END_H

#include <linux/mios.h>

struct end_command {
	const char *name;	/* "stop" */
	const char *usage;
	const char *doing;	/* "shutting down" */
	const char *done;	/* "stopped" */
	unsigned long ioctl;
	long timeout;		/* seconds, unless told */
};

int end_main(int argc, char **argv, const struct end_command *command);

#endif /* MIOS_END_H */
