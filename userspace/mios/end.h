/* SPDX-License-Identifier: GPL-2.0 */
/* What stop.c and kill.c tell end.c: the one call in which they differ. */
#ifndef MIOS_END_H
#define MIOS_END_H

#include <stdint.h>

struct end_request {
	const char *command;	/* "stop" */
	const char *doing;	/* "shutting down" */
	const char *done;	/* "stopped" */
	unsigned long ioctl;
	unsigned int timeout_ms;
};

uint64_t end_targets(const char *command, int argc, char **argv);
int end_all(const struct end_request *req, uint64_t nodes);

#endif /* MIOS_END_H */
