/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The ways between nodes that are processes of this host: mios-dsm run makes all
 * of them, and each node keeps its own.
 */
#ifndef WAYS_H
#define WAYS_H

#include "../runtime/local.h"

/* way[i][j] leads from node i to node j. */
struct ways {
	struct local_way way[TRANSPORT_NODES][TRANSPORT_NODES];
};

/* None yet. */
void ways_clear(struct ways *w);
/* memory: with rings, else sockets alone.  0 or -errno. */
int ways_make(struct ways *w, u16 nodes, bool memory);
/* In a child that becomes a node: keeps its own, and says which they are. */
int ways_keep(const struct ways *w, u16 nodes, u16 self, char *text, size_t room);
/* In mios-dsm run: a peer's socket ends when the peer does if nobody else has it. */
void ways_close(struct ways *w, u16 nodes);

#endif /* WAYS_H */
