/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The Ethernet that a run is on: its interface, who may be there, and that the
 * others hear of the end.
 */
#ifndef WIRE_H
#define WIRE_H

#include "../runtime/seal.h"

struct wire {
	const char *interface;		/* or NULL: there is none */
	const char *key;		/* a file, - for standard input, or NULL */
	bool trust;			/* no key, and none is needed */
	u64 cluster;
	u16 life;
	struct ether ether;
	struct seal seal;
	struct seal_secret secret;
	int secret_fd;			/* with that, for the node, or -1 */
};

/* Options that go together, and the key; hosts: nodes are elsewhere.  0 or 2. */
int wire_key(struct wire *w, bool hosts);
/* 0, or 2 after a line. */
int wire_open(struct wire *w);
/* What a node is told of it, in so many bytes; in its process. */
#define WIRE_TEXT	(44 + ETHER_NAME)
void wire_text(const struct wire *w, int sockets, char *text);
/* Nobody sees on an Ethernet that a process is gone, but who has waited for it. */
void wire_end(struct wire *w, struct ether_note end);

#endif /* WIRE_H */
