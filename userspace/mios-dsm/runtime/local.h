/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The ways from one process of this host to another, as descriptors: mios-dsm run
 * makes them before it starts the nodes.
 */
#ifndef LOCAL_H
#define LOCAL_H

#include "transport.h"

struct local_way {
	int socket;		/* says when the peer ends; -1: to ourselves */
	int rings;		/* shm_ring.h; -1: frames go through the socket */
	int event;		/* wakes the peer, or us; with rings only */
};

/* way[i] leads to node i. */
int transport_local(struct transport *t, u16 nodes, u16 self,
		    const struct local_way *way);

#endif /* LOCAL_H */
