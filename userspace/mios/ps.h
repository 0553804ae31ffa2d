/* SPDX-License-Identifier: GPL-2.0 */
/* What mios ps was asked for, and what showing and signalling share. */
#ifndef MIOS_PS_H
#define MIOS_PS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define PS_NAME		16	/* bytes that the kernel keeps of a name, its end included */
#define PS_PIDS		65536
#define PS_ANSWER_MS	30000

struct unattended;

struct ps_wish {
	bool all, kernel, json;
	bool by_user;
	uid_t user;
	char command[PS_NAME];	/* or empty */
	char pids[PS_PIDS];	/* "12,13", or empty */
	uint64_t instances;
	const char *signal;	/* NULL: show them */
};

/* ps_signal.c: a signal's name, or an end with the line that there is none */
const char *ps_signal(const char *text);
void ps_send(struct ps_wish *wish, struct unattended *list, unsigned int nr,
	     int *status);

#endif /* MIOS_PS_H */
