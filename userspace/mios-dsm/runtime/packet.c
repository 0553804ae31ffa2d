// SPDX-License-Identifier: GPL-2.0
/*
 * See packet.h.  A slot belongs to the kernel or to us, as its status says.  With
 * frames of their own for each slot (version 2, not 3) a frame can be read as
 * soon as it is there: version 3 hands blocks over, after a time.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include "packet.h"

#define SLOTS_IN	1024	/* windows of 15 peers, and then some */
#define SLOTS_OUT	256
#define BLOCK		(1u << 16)
/* Before the bytes: the slot's header, addresses, the Ethernet header. */
#define BEFORE		(TPACKET_ALIGN(TPACKET2_HDRLEN + 16))
#define BEFORE_OUT	(TPACKET2_HDRLEN - sizeof(struct sockaddr_ll))

static struct tpacket2_hdr *slot_at(struct packet *p, u32 i)
{
	return (struct tpacket2_hdr *)(p->base + (size_t)i * p->slot);
}

static int ring_ask(const struct packet *p, int which, u32 slots)
{
	struct tpacket_req r = {
		.tp_block_size = BLOCK, .tp_frame_size = p->slot,
		.tp_frame_nr = slots,
		.tp_block_nr = slots / (BLOCK / p->slot),
	};

	return setsockopt(p->fd, SOL_PACKET, which, &r, sizeof(r)) ?
		-errno : 0;
}

static int rings_open(struct packet *p)
{
	int version = TPACKET_V2, on = 1, err;

	/* A frame that the interface does not take is lost, not in the way. */
	if (setsockopt(p->fd, SOL_PACKET, PACKET_VERSION, &version,
		       sizeof(version)) ||
	    setsockopt(p->fd, SOL_PACKET, PACKET_LOSS, &on, sizeof(on)))
		return -errno;
	err = ring_ask(p, PACKET_RX_RING, SLOTS_IN);
	if (!err)
		err = ring_ask(p, PACKET_TX_RING, SLOTS_OUT);
	if (err)
		return err;
	p->base = mmap(NULL, p->size, PROT_READ | PROT_WRITE, MAP_SHARED, p->fd,
		       0);
	if (p->base == MAP_FAILED ||
	    madvise(p->base, p->size, MADV_DONTFORK))
		return -errno;
	return 0;
}

int packet_open(struct packet *p, const struct ether *e, u32 frame_max)
{
	int err;

	memset(p, 0, sizeof(*p));
	p->fd = e->fd;
	memcpy(p->mac, e->mac, ETHER_MAC);
	for (p->slot = 2048; p->slot < BEFORE + frame_max; )
		p->slot *= 2;
	p->size = (size_t)p->slot * (SLOTS_IN + SLOTS_OUT);
	err = rings_open(p);
	if (err)
		fprintf(stderr, "mios-dsm: no packet rings of %zu bytes: %s; try --transport sockets\n",
			p->size, strerror(-err));
	return err;
}

static void give_back(struct packet *p)
{
	if (!p->held)
		return;
	__atomic_store_n(&slot_at(p, p->in)->tp_status, TP_STATUS_KERNEL,
			 __ATOMIC_RELEASE);
	p->in = (p->in + 1) % SLOTS_IN;
	p->held = false;
}

const void *packet_receive(struct packet *p, u32 *len, u8 *mac, bool *ours)
{
	const struct sockaddr_ll *from;
	struct tpacket2_hdr *h;

	give_back(p);
	h = slot_at(p, p->in);
	if (!(__atomic_load_n(&h->tp_status, __ATOMIC_ACQUIRE) &
	      TP_STATUS_USER))
		return NULL;
	p->held = true;
	from = (void *)((u8 *)h + TPACKET_ALIGN(sizeof(*h)));
	memcpy(mac, from->sll_addr, ETHER_MAC);
	*ours = from->sll_pkttype == PACKET_HOST ||
		from->sll_pkttype == PACKET_BROADCAST;
	/* One that was cut is too short for what it says of itself. */
	*len = h->tp_snaplen > ETH_HLEN ? h->tp_snaplen - ETH_HLEN : 0;
	return (u8 *)h + h->tp_mac + ETH_HLEN;
}

bool packet_put(struct packet *p, const u8 *mac, const void *frame, u32 len)
{
	struct tpacket2_hdr *h = slot_at(p, SLOTS_IN + p->out);
	struct ethhdr *head = (void *)((u8 *)h + BEFORE_OUT);

	if (__atomic_load_n(&h->tp_status, __ATOMIC_ACQUIRE) !=
	    TP_STATUS_AVAILABLE || BEFORE + len > p->slot)
		return false;
	memset(head->h_dest, 0xff, ETHER_MAC);
	if (mac)
		memcpy(head->h_dest, mac, ETHER_MAC);
	memcpy(head->h_source, p->mac, ETHER_MAC);
	head->h_proto = htons(ETHER_TYPE);
	memcpy(head + 1, frame, len);
	h->tp_len = sizeof(*head) + len;
	__atomic_store_n(&h->tp_status, TP_STATUS_SEND_REQUEST,
			 __ATOMIC_RELEASE);
	p->out = (p->out + 1) % SLOTS_OUT;
	p->waits = true;
	return true;
}

/* What the interface does not take now stays for the next time. */
void packet_flush(struct packet *p)
{
	if (p->waits && send(p->fd, NULL, 0, MSG_DONTWAIT) >= 0)
		p->waits = false;
}
