/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The caller's side of a session: what mios exec, mios run, mios top and
 * mios-rsh share.
 */
#ifndef LIBMIOS_CLIENT_H
#define LIBMIOS_CLIENT_H

#include <stdio.h>

#include "frames.h"
#include "libmios.h"

/* client.c APIs: */
int client_request(int instance, int op, unsigned int cpus, char *why,
		   size_t size);
int client_reply(int fd, struct mios_link *l, char *why, size_t size);
int client_connect(int instance, int op, unsigned int cpus,
		   struct mios_link *l, char *why, size_t size);
int client_send_spec(struct mios_link *l, uint32_t flags, char **argv,
		     char **envp, int tty);
const char *client_why(int err);
int client_signals(void);

/* watch.c APIs: */
struct mios_watch {
	int fd;
	int instance;
	unsigned int incarnation;
};

void watch_open(struct mios_watch *w, int instance);
const char *watch_lost(struct mios_watch *w);

/* command.c APIs: one command, like a local one */
struct client_command {
	const char *who;	/* for messages: "mios: exec" */
	int instance;
	unsigned int cpus;	/* to bind, or 0 */
	bool tty;		/* on a terminal of its own */
	bool login;		/* from home, and until the last process ends */
	char **argv;
	char **envp;
};

int client_run(const struct client_command *cmd);

/* unattended.c APIs: */
struct unattended {
	int instance;
	uint32_t pid;		/* of its first process there */
	int status;		/* as a shell has it; unless error */
	int error;		/* 0, or -errno and a line in why */
	char why[MIOS_TEXT_LEN + 32];
	struct mios_buffer out, err;	/* what it has printed */
	FILE *to;			/* or NULL; where out goes instead */
	/* while it runs */
	char **argv;
	uint32_t flags;
	int64_t deadline;		/* with @to: for silence */
	unsigned int ms;
	int asked;			/* the answer is not there yet; or -1 */
	struct mios_link link;
	struct mios_watch watch;
	bool detached, ended;
};

void unattended_run(struct unattended *list, unsigned int nr, char ***argv,
		    unsigned int ms);
void unattended_report(struct unattended *list, unsigned int nr, unsigned int ms);
int unattended_detach(struct unattended *u, char **argv);
void unattended_free(struct unattended *u);

#endif /* LIBMIOS_CLIENT_H */
