/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How nodes on an Ethernet find each other when only one of them, the bootstrap
 * node, has been told anything.  It leads: others ask it, until as many are
 * there as there shall be nodes, and it gives each a number.  All of that is
 * between one mios-dsm run and the next, before a program is started.
 */
#ifndef DISCOVER_H
#define DISCOVER_H

#include "../runtime/ether.h"

#define DISCOVER_NODES	16

struct asker {
	u8 mac[ETHER_MAC];
	u16 life;
	u64 heard;		/* ns */
};

/* The bootstrap node's view. */
struct leader {
	struct ether *ether;
	struct ether_note self;		/* cluster, life, nodes, pages, protocol */
	struct asker asker[DISCOVER_NODES];	/* [0] is ourselves */
	u8 askers;		/* with us */
	u64 complete;		/* since when so many as there shall be are here, ns */
	bool given;		/* numbers are, and stay as they are */
};

/* Waits until all are there and know their numbers: 0, or 2 after a line. */
int discover_lead(struct leader *l);
/* Afterwards, when something may have come: who asks again, or too late. */
void discover_answer(struct leader *l);
/*
 * The others': self has cluster and life, and gets the rest.  0, or 2 after a
 * line.
 */
int discover_ask(struct ether *e, struct ether_note *self);

#endif /* DISCOVER_H */
