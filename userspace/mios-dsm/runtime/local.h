/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What connects one process of this host with another, as descriptors: mios-dsm
 * run makes them before it starts the nodes.
 */
#ifndef LOCAL_H
#define LOCAL_H

#include "transport.h"

struct connection {
	int socket;		/* says when the peer ends; -1: to ourselves */
	int rings;		/* shm_ring.h; -1: frames go through the socket */
	int event;		/* wakes the peer, or us; with rings only */
};

/* to[i] leads to node i. */
int transport_local(struct transport *t, u16 nodes, u16 self,
		    const struct connection *to);

#endif /* LOCAL_H */
