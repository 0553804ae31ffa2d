/* SPDX-License-Identifier: GPL-2.0 */
/* What stop.c, kill.c and restart.c tell end.c: all in which they differ. */
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
	/* instead of end_one(), as parallel.h has it */
	int (*work)(const void *context, unsigned int instance);
};

struct end_context {
	const struct end_command *cmd;
	unsigned int seconds;
};

int end_one(const void *context, unsigned int instance);

int end_main(int argc, char **argv, const struct end_command *command);

#endif /* MIOS_END_H */
