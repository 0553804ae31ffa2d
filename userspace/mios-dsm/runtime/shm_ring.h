/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Two rings of frames, one each way, in memory that two processes of one host
 * share and nobody else has.  mios-dsm run makes it, local.c uses it.  Neither
 * side trusts the other: each keeps its own position to itself, and what it
 * reads of the other's is copied once and checked before it is used.  A frame
 * is copied out before anybody looks at it.
 */
#ifndef SHM_RING_H
#define SHM_RING_H

#include "../../../mios/dsm/os.h"

#define RING_MAGIC	0x676e6972	/* "ring" */
#define RING_VERSION	1
#define RING_BYTES	(1u << 17)	/* 16 frames with a page, and then some */

struct ring {
	/* Up to there it has been written; counts bytes, for ever. */
	_Alignas(64) u32 tail;
	/* The receiver's: up to there it has read; it sleeps, wake it. */
	_Alignas(64) u32 head;
	u32 sleeps;
	/* Records of 8 times n bytes: the frame's length, the frame. */
	_Alignas(64) u8 byte[RING_BYTES];
};

struct ring_pair {
	u32 magic;
	u32 version;
	struct ring ring[2];	/* [0]: to the node with the lower number */
};

static_assert(sizeof(struct ring) == 128 + RING_BYTES, "a ring's layout");
static_assert(sizeof(struct ring_pair) == 64 + 2 * sizeof(struct ring),
	      "as programs of RING_VERSION have it");

/* A descriptor of new rings, whose size nobody can change, or -errno. */
int ring_make(void);
/* Maps them, not for children; NULL if that is not what ring_make() makes. */
struct ring_pair *ring_open(int fd);

/* tail: the sender's own position.  False: there is no room. */
bool ring_put(struct ring *r, u32 *tail, const void *frame, u32 len);
/*
 * head: the receiver's own position.  A frame's length, 0 if there is none, or
 * -EPROTO: what is there is no ring, and all of it has been skipped.
 */
int ring_get(struct ring *r, u32 *head, void *frame, u32 room);
/* Sender, after ring_put(): the receiver must be woken. */
bool ring_sleeper(struct ring *r);
/* Receiver: it will sleep; true if something has come meanwhile. */
bool ring_doze(struct ring *r, u32 head);
void ring_up(struct ring *r);

#endif /* SHM_RING_H */
