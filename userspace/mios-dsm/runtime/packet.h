/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Rings of frames that a packet socket shares with the kernel (packet(7),
 * TPACKET_V2): what arrives is read where the kernel has put it, and many frames
 * go out with one system call.  Used by ethernet.c.
 */
#ifndef PACKET_H
#define PACKET_H

#include <stddef.h>

#include "ether.h"

struct packet {
	int fd;
	u8 *base;		/* slots that come in, then those that go out */
	size_t size;
	u32 slot;		/* bytes of each */
	u32 in, out;		/* the next of either kind */
	bool held;		/* what came in last is still being read */
	bool waits;		/* something is to go out */
	u8 mac[ETHER_MAC];
};

/*
 * On a socket of type SOCK_RAW; for frames up to so many bytes.  0, or -errno
 * after a line on stderr.
 */
int packet_open(struct packet *p, const struct ether *e, u32 frame_max);
/*
 * What is behind the Ethernet header, or NULL when there is no frame; it stays
 * until the next call.  mac: the sender's; ours: it is to us, or to all.
 */
const void *packet_receive(struct packet *p, u32 *len, u8 *mac, bool *ours);
/* To all if mac is NULL.  False: there is no room. */
bool packet_put(struct packet *p, const u8 *mac, const void *frame, u32 len);
/* Sends what has been put. */
void packet_flush(struct packet *p);

#endif /* PACKET_H */
