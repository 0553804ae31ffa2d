/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which nodes of an Ethernet are there, in which of their lives, and where: as
 * their notes say.  Kept by ethernet.c, on the service thread; docs/decisions/
 * dsm-node-comes-back.md has the states.
 */
#ifndef LIVES_H
#define LIVES_H

#include "ether.h"
#include "transport.h"

static_assert(ETHER_NODES == TRANSPORT_NODES, "one for each");

struct lives {
	struct ether_note self;	/* what we say; list and life_of are what we know */
	struct {
		u8 mac[ETHER_MAC];
		u64 heard;	/* ns */
	} peer[TRANSPORT_NODES];
	/* What the engine has not been told, a bit for each peer: */
	u32 ended, back;
	u32 sure;		/* peers that know our life, or run and know another */
	u32 strange;		/* peers that do not know our life yet */
	bool say;		/* somebody should hear of us soon */
	bool other_version;	/* we have said that there is one */
};

/* A note of a node, HELLO or END; 0, or -errno after a line: we cannot begin. */
int lives_take(struct lives *l, struct transport *t, const struct ether_note *m,
	       const u8 *mac, u64 now);
/* Who has the address, or -1. */
int lives_at(const struct lives *l, const u8 *mac);
/* Nodes that we wait for before we begin. */
u32 lives_missing(const struct lives *l);
/* All are there: we begin, as one that was there before if others say so. */
int lives_begin(struct lives *l, struct transport *t);
/* An end or a return that is to be told, as transport's receive has it, or 0. */
int lives_change(struct lives *l, u16 *node);

#endif /* LIVES_H */
