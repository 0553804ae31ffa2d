/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mios-dsm run --hosts: one command starts a node on each of several machines.
 * An agent, ssh or another one, runs mios-dsm run --interface there; all that is
 * known of it is its exit status, and that it ends when we close its input.  What
 * comes there before is the key: in a command or an environment others could read
 * it, and so a file of a run's own key need not lie on each machine.
 */
#ifndef HOSTS_H
#define HOSTS_H

#include <stdbool.h>

#include "../runtime/transport.h"

struct hosts {
	const char *agent;	/* a command and its first words */
	const char *interface;	/* of those that have none of their own */
	const u8 *key;		/* SEAL_KEY bytes for each node, or NULL: none */
	u32 nr;
	struct {
		char *name, *interface;
	} host[TRANSPORT_NODES];
};

/* HOST[:INTERFACE],...; cut in place.  False after a line. */
bool hosts_list(struct hosts *h, char *list);
/* A file with HOST [INTERFACE] on each line, and # before comments. */
bool hosts_file(struct hosts *h, const char *path);
/*
 * Runs node K on the K-th: option are more words for mios-dsm run there, up to NULL;
 * file, of those that are the name of a file, gets .K behind it.  The exit
 * status of the first that failed.
 */
struct hosts_word {
	const char *word;
	bool file;
};

int hosts_run(const struct hosts *h, const struct hosts_word *option,
	      char **program);

#endif /* HOSTS_H */
