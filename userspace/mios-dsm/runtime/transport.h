/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What carries frames between nodes.  It may lose, double and reorder them:
 * the link layer of the engine puts that right.  A transport declares the order
 * that holds with retransmission, and how it tells that a peer has died for
 * good: one that is only silent is not dead.  Called by dsm_node.c, on the service
 * thread.
 */
#ifndef TRANSPORT_H
#define TRANSPORT_H

#include <poll.h>

#include "../../../mios/dsm/dsm_link.h"

struct seal_secret;
struct seal_counts;

#define TRANSPORT_FDS	32	/* most descriptors to wait for */
#define TRANSPORT_NODES	16
/* ns without a sign of a peer after which a node ends. */
#define TRANSPORT_SILENCE	60000000000ULL

struct transport {
	enum dsm_order order;
	u32 frame_max;		/* longest frame */
	u16 window;		/* frames of one peer that may be under way */
	u64 timeout;		/* ns until a frame is taken for lost */
	u64 pause;		/* ns between two calls of tick, 0: no matter */
	/*
	 * Of each node its incarnation, as frames have it; and how often it was
	 * born again, twice, and one more if it is dead.
	 */
	const u16 *lives;
	const u8 *lists;
	u64 refused;		/* what came and was not for us */
	const struct seal_counts *seals;	/* or NULL */
	bool started;		/* all peers are known */
	int fd[TRANSPORT_FDS];	/* readable: a frame, or a peer's end */
	u32 fds;
	u32 ready;		/* which of them were readable, a bit each */
	int event;		/* -1, or one that wakes us by being written */
	/* Sends it or loses it; not before flush, if there is that. */
	void (*send)(struct transport *t, u16 to, const void *frame, u32 len);
	void (*flush)(struct transport *t);
	/*
	 * From descriptor i: the length of a frame, which stays until the next
	 * call, 0 when there is none, -ECONNRESET once when *from has died, or
	 * -EISCONN once when it was born again.
	 */
	int (*receive)(struct transport *t, u32 i, u16 *from,
		       const void **frame);
	/* NULL, or: -1, or the number of a peer that is silent for too long. */
	int (*tick)(struct transport *t, u64 now, const struct dsm_set *gone);
	/*
	 * NULL, or: we will wait for descriptors (on), or have done so.  True: there
	 * is a frame that none of them will tell of.
	 */
	bool (*doze)(struct transport *t, bool on);
	u16 self;
};

/* Where on an Ethernet a node is. */
struct transport_wire {
	u16 cluster, life;
	bool rings;		/* packet.h */
	const struct seal_secret *secret;	/* or NULL */
	const char *interface;
};

/* ethernet.c: nodes are on one wire; waits for all of them. */
int transport_ethernet(struct transport *t, u16 nodes, u16 self, u32 pages,
		       u8 protocol, const struct transport_wire *w);

#endif /* TRANSPORT_H */
