/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The connections between nodes that are processes of this host: mios-dsm run
 * makes all of them, and each node keeps its own.
 */
#ifndef CONNECTIONS_H
#define CONNECTIONS_H

#include "../runtime/local.h"

/* to[i][j] is node i's end of what leads to node j. */
struct connections {
	struct connection to[TRANSPORT_NODES][TRANSPORT_NODES];
};

/* None yet. */
void connections_clear(struct connections *c);
/* memory: with rings, else sockets alone.  0 or -errno. */
int connections_make(struct connections *c, u16 nodes, bool memory);
/* In a child that becomes a node: keeps its own, and says which they are. */
int connections_keep(const struct connections *c, u16 nodes, u16 self,
		     char *text, size_t room);
/* In mios-dsm run: a peer's socket ends when the peer does if nobody else has it. */
void connections_close(struct connections *c, u16 nodes);

#endif /* CONNECTIONS_H */
