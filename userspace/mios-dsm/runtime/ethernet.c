// SPDX-License-Identifier: GPL-2.0
/*
 * Frames between machines, or network namespaces, on one Ethernet.  Each node
 * knows its number and how many there are, and tells so to all until it has
 * heard of every other one (lives.c); then the sender's address tells who sent
 * a frame.
 *
 * A node is dead when the mios-dsm run that started it says so: it has waited
 * for the process.  Silence is not death.  But nobody waits for ever: a node
 * that has heard nothing of another one for SILENCE ends itself.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/if_packet.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "ether.h"
#include "lives.h"
#include "dsm_node.h"
#include "packet.h"
#include "seal.h"

#define SECOND		1000000000ULL
#define HELLO_FIRST	(SECOND / 20)	/* between two, until all are here, */
#define HELLO		SECOND		/* and then */
#define TIMEOUT		(SECOND / 100)
#define FOREIGN		1024		/* frames that are none, before we look around */

/* A process is one node. */
static struct {
	struct ether ether;
	struct packet packet;
	bool rings;		/* frames go through those of packet */
	struct seal seal;	/* and through this one before */
	struct lives lives;
	u64 said;
	u8 held[DSM_FRAME_MAX];	/* lossy: a frame that others overtake */
	u32 held_len;
	u8 held_to;
} net;

static const u16 one_life[NODE_NODES];

static u64 now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * SECOND + t.tv_nsec;
}

/* seal.put */
static void put(void *arg, const u8 *mac, const void *frame, u32 len)
{
	(void)arg;
	/* A full ring is a lost frame. */
	if (net.rings)
		packet_put(&net.packet, mac, frame, len);
	else
		ether_send(&net.ether, mac, frame, len);
}

static void ethernet_flush(struct transport *t)
{
	(void)t;
	packet_flush(&net.packet);
}

static void hello(void)
{
	net.said = now_ns();
	net.lives.say = false;
	seal_send(&net.seal, NULL, &net.lives.self, sizeof(net.lives.self));
	packet_flush(&net.packet);
}

/* What a test asks for. */
static bool test_is(const char *name)
{
#ifdef DSM_KNOBS
	const char *text = secure_getenv("MIOS_DSM_TEST");

	return text && !strcmp(text, name);
#else
	(void)name;
	return false;
#endif
}

/*
 * A wire of a test's: of 100 frames it loses one, doubles one, and lets one
 * come behind a later one.
 */
static bool lossy(u8 to, const void *frame, u32 len)
{
	u32 lot = test_is("lossy") ? rand() % 100 : 100;

	if (lot == 0)
		return true;
	if (lot == 1)
		seal_send(&net.seal, net.lives.peer[to].mac, frame, len);
	if (lot == 2 && !net.held_len) {
		memcpy(net.held, frame, len);
		net.held_len = len;
		net.held_to = to;
		return true;
	}
	return false;
}

static void ethernet_send(struct transport *t, u16 to, const void *frame,
			  u32 len)
{
	(void)t;
	if (lossy(to, frame, len))
		return;
	seal_send(&net.seal, net.lives.peer[to].mac, frame, len);
	if (net.held_len)
		seal_send(&net.seal, net.lives.peer[net.held_to].mac, net.held,
			  net.held_len);
	net.held_len = 0;
}

/* The length of a frame for the link; 0: it was a note, or is refused. */
static int sort(struct transport *t, const void **at, u32 len, const u8 *mac,
		u16 *from)
{
	const void *frame = *at = seal_take(&net.seal, *at, &len, mac);
	struct ether_note m = { };
	int node = lives_at(&net.lives, mac), err;

	/* Who can hear us is to hear what we are. */
	net.lives.say |= net.seal.news;
	net.seal.news = false;
	if (!frame)
		return 0;
	memcpy(&m, frame, len < sizeof(m) ? len : sizeof(m));
	if (m.magic == ETHER_MAGIC) {
		/* Theirs who have no number yet, or give them. */
		if (m.what > ETHER_END && m.what < ETHER_WHATS)
			return 0;
		t->refused += len < sizeof(m);
		if (len < sizeof(m))
			return 0;
		err = lives_take(&net.lives, t, &m, mac, now_ns());
		/* The other one is to hear of it, too. */
		if (err)
			hello();
		return err ? err : lives_change(&net.lives, from);
	}
	if (node < 0) {
		t->refused++;
		return 0;
	}
	net.lives.peer[node].heard = now_ns();
	*from = node;
	return len;
}

/* One frame from the socket, or NULL. */
static const void *take(u32 *len, u8 *mac, bool *ours)
{
	static u8 bytes[SEAL_MAX];
	struct sockaddr_ll at;
	socklen_t size = sizeof(at);
	ssize_t n;

	/* A wire that is down comes up again, or SILENCE ends it. */
	do
		n = recvfrom(net.ether.fd, bytes, sizeof(bytes), MSG_DONTWAIT,
			     (struct sockaddr *)&at, &size);
	while (n < 0 && errno == ENETDOWN);
	if (n < 0)
		return NULL;
	memcpy(mac, at.sll_addr, ETHER_MAC);
	*len = n;
	*ours = at.sll_pkttype == PACKET_HOST ||
		at.sll_pkttype == PACKET_BROADCAST;
	return bytes;
}

static int ethernet_receive(struct transport *t, u32 i, u16 *from,
			    const void **frame)
{
	u8 mac[ETHER_MAC];
	int done = 0;
	bool ours;
	u32 len;

	(void)i;
	/* A note may have had more than one. */
	done = t->started ? lives_change(&net.lives, from) : 0;
	for (u32 k = 0; k < FOREIGN && !done; k++) {
		*frame = net.rings ? packet_receive(&net.packet, &len, mac,
						    &ours) :
			take(&len, mac, &ours);
		if (!*frame)
			return 0;
		/* A switch may send us what is for others. */
		if (ours)
			done = sort(t, frame, len, mac, from);
		packet_flush(&net.packet);	/* a greeting was answered */
	}
	return done;
}

/* The first of the peers that says nothing, or -1. */
static int ethernet_tick(struct transport *t, u64 now, const struct dsm_set *gone)
{
	u64 pause = net.lives.strange ? HELLO_FIRST : HELLO;

	t->pause = pause;
	if (net.lives.say || now - net.said >= pause)
		hello();
	for (u16 i = 0; i < net.lives.self.nodes; i++)
		if (i != t->self && !set_has(gone, i) &&
		    now > net.lives.peer[i].heard &&
		    now - net.lives.peer[i].heard > TRANSPORT_SILENCE)
			return i;
	return -1;
}

/* All others are here: 0, or -errno after a line. */
static int gather(struct transport *t)
{
	u64 begin = now_ns(), told = begin;
	const void *frame;
	struct pollfd p = { .fd = net.ether.fd, .events = POLLIN };
	u16 from;
	int n;

	while (lives_missing(&net.lives)) {
		if (net.lives.say || now_ns() - net.said >= HELLO_FIRST)
			hello();
		poll(&p, 1, HELLO_FIRST / 1000000);
		while ((n = ethernet_receive(t, 0, &from, &frame)) > 0)
			;
		if (n < 0)
			return n;
		if (now_ns() - told >= 5 * SECOND) {
			told = now_ns();
			fprintf(stderr, "mios-dsm: node %u waits for %d more\n",
				t->self,
				__builtin_popcount(lives_missing(&net.lives)));
		}
		if (now_ns() - begin >= TRANSPORT_SILENCE) {
			fprintf(stderr, "mios-dsm: node %u: not all nodes have come\n",
				t->self);
			return -ETIMEDOUT;
		}
	}
	n = lives_begin(&net.lives, t);
	hello();
	return n;
}

/* The socket, its rings, and the seal. */
static int wire_open(const struct transport_wire *w)
{
	int err = ether_open(&net.ether, w->interface,
			     w->rings ? SOCK_RAW : SOCK_DGRAM);

	if (!err && w->rings)
		err = packet_open(&net.packet, &net.ether,
				  SEAL_MAX < net.ether.mtu ? SEAL_MAX :
				  net.ether.mtu);
	net.rings = w->rings;
	net.seal.put = put;
	net.seal.unchecked = test_is("unchecked");
	if (!err)
		err = seal_open(&net.seal, SEAL_NODE, w->cluster, net.ether.mac,
				w->secret);
	return err;
}

int transport_ethernet(struct transport *t, u16 nodes, u16 self, u32 pages,
		       u8 protocol, const struct transport_wire *w)
{
	int err = wire_open(w);
	u32 room;

	if (err)
		return err;
	memset(t, 0, sizeof(*t));
	room = net.ether.mtu - (net.seal.on ? SEAL_ADDS : 0);
	net.lives.self = (struct ether_note){
		.magic = ETHER_MAGIC, .version = ETHER_VERSION,
		.what = ETHER_HELLO, .cluster = w->cluster, .life = w->life,
		.nodes = nodes, .node = self, .pages = pages,
		.protocol = protocol,
		.mtu = room < 0xffff ? room : 0xffff,
		.knows = 1u << self,
	};
	net.lives.self.life_of[self] = w->life;
	t->order = DSM_ORDER_FIFO;
	t->frame_max = room < DSM_FRAME_MAX ? room : DSM_FRAME_MAX;
	t->window = 48;
	t->timeout = TIMEOUT;
	t->pause = HELLO;
	t->fds = 1;
	t->event = -1;
	t->fd[0] = net.ether.fd;
	t->self = self;
	t->send = ethernet_send;
	t->flush = ethernet_flush;
	t->receive = ethernet_receive;
	t->tick = ethernet_tick;
	t->seals = &net.seal.counts;
	srand(w->life);
	err = gather(t);
	t->started = true;
	t->lists = net.lives.self.list;
	/* A rule to break: all lives are the same one. */
	t->lives = test_is("any-life") ? one_life : net.lives.self.life_of;
	return err;
}
