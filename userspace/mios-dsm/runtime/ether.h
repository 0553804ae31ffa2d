/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Raw Ethernet as nodes and mios-dsm run use it: a socket on an interface, and
 * the notes by which nodes find each other and are told of an end.  Frames of
 * the engine's link have a magic number of their own behind the same EtherType.
 */
#ifndef ETHER_H
#define ETHER_H

#include "../../../mios/dsm/os.h"

/* IEEE 802 leaves it to local experiments. */
#define ETHER_TYPE	0x88b5
#define ETHER_MAGIC	0xd53b
#define ETHER_VERSION	4
#define ETHER_NOBODY	0xff	/* no node, or not yet */
#define ETHER_MTU_LEAST	576
#define ETHER_LEAST	512	/* of that is left for a frame */
#define ETHER_MAC	6
#define ETHER_NAME	16	/* of an interface, with its end */
#define ETHER_NODES	16

enum ether_what {
	ETHER_HELLO,		/* this is what I am */
	ETHER_END,		/* the process that was this node has ended */
	/* Between one mios-dsm run and the next (discover.c): */
	ETHER_ASK,		/* which node am I? */
	ETHER_GIVE,		/* to who asked: that one, or nobody yet */
	ETHER_FULL,		/* to who asked: none, all are there */
	ETHER_LEAD,		/* I am the bootstrap node, or will be */
	ETHER_WHATS,
};

/* In x86's byte order. */
struct ether_note {
	u16 magic;
	u8 version;
	u8 what;
	u16 cluster;		/* several may share a wire */
	u16 life;		/* of the node: another one each time */
	u8 nodes;
	u8 node;
	u16 mtu;		/* longest frame that it can take */
	u32 pages;		/* of the window */
	u32 knows;		/* nodes that it has heard of, a bit each; or how many */
	u8 protocol;		/* enum dsm_protocol */
	u8 runs;		/* it has heard of all others and has begun */
	u8 pad[2];
	/*
	 * Of each node, as the sender has heard: twice how often it was born
	 * again, and one more if it has ended; the life in which it is, or was.
	 */
	u8 list[ETHER_NODES];
	u16 life_of[ETHER_NODES];
};

static_assert(sizeof(struct ether_note) == 72, "note of a node");

struct seal;

struct ether {
	int fd, index;
	u32 mtu;
	u8 mac[ETHER_MAC];
	struct seal *seal;	/* what discover.c sends goes through it */
};

/*
 * 0, or -errno after a line on stderr.  type: SOCK_DGRAM, or SOCK_RAW for the
 * rings of packet.h, which write Ethernet's header themselves.
 */
int ether_open(struct ether *e, const char *interface, int type);
/*
 * Who holds it is the only node of this cluster on the interface.  A descriptor,
 * or -errno after a line.
 */
int ether_claim(const struct ether *e, u16 cluster);
/* Of all that comes in only notes, and what is sealed for one mios-dsm run. */
int ether_notes_only(struct ether *e);
/* To all if mac is NULL.  Sends it or loses it. */
void ether_send(struct ether *e, const u8 *mac, const void *frame, u32 len);

#endif /* ETHER_H */
