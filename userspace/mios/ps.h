/* SPDX-License-Identifier: GPL-2.0 */
/* What mios ps was asked for, and what showing and signalling share. */
#ifndef MIOS_PS_H
#define MIOS_PS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define PS_NAME		16	/* bytes that the kernel keeps of a name, its end included */
#define PS_PIDS		8192
#define PS_DIGITS	sizeof("4194304")
#define PS_ANSWER_MS	45000	/* more than miosd takes to say why it cannot */

struct unattended;

struct ps_wish {
	bool all, kernel, json;
	bool by_user;
	uid_t user;
	char command[PS_NAME];	/* or empty */
	struct {
		long pid;
		bool found;
	} pids[PS_PIDS];
	unsigned int nr_pids;
	uint64_t instances;	/* 0: all */
	const char *signal;	/* NULL: show them */
};

/* ps_signal.c: a signal's name, or an end with the line that there is none */
const char *ps_signal(const char *text);
/* @from as a pattern of pgrep that nothing else matches; @to: twice the room */
void ps_quote(char *to, const char *from);
void ps_send(struct ps_wish *wish, struct unattended *list, unsigned int nr,
	     int *status);

/* ps.c: this one of the PIDs is there; a line for each that is not */
void ps_mark(struct ps_wish *wish, long pid);
void ps_missing(const struct ps_wish *wish, int *status);

#endif /* MIOS_PS_H */
