// SPDX-License-Identifier: GPL-2.0
/*
 * See discover.h.  Who asks does so until it has its number, so each note may be
 * lost; and who does not go on asking is forgotten, so that a node may end and
 * another one take its place until numbers are given.  From then on each asker
 * hears the same again, and so does a node that comes back, by its address; those
 * who come later hear that there is no room.
 *
 * Two that lead on one wire would divide the others between them.  So who wants
 * to lead says so first; who leads already answers, and of two that begin at the
 * same time the one with the lower address goes on.  Called by cmd_run.c.
 */
#include <errno.h>
#include <linux/if_packet.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "discover.h"
#include "../runtime/seal.h"
#include "../runtime/window_layout.h"

#define MS		1000000ULL
#define PAUSE		(50 * MS)	/* between two notes */
#define CLAIM		8	/* notes that say we will lead, before we do */
#define FORGET		(3000 * MS)	/* ns after which an asker is gone */
#define SAY		(5000 * MS)
#define LIMIT		(60000 * MS)

static u64 now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000 * MS + t.tv_nsec;
}

static void address(const char *before, const u8 *mac, const char *behind)
{
	fprintf(stderr, "mios-dsm: %s %02x:%02x:%02x:%02x:%02x:%02x %s\n",
		before, mac[0], mac[1], mac[2], mac[3], mac[4], mac[5], behind);
}

/* Nothing else of it can be read; once, as it goes on. */
static void other_version(const u8 *mac)
{
	static bool said;

	if (!said)
		address("", mac, "speaks another version of this");
	said = true;
}

/* One from the socket, as it was sealed in if there is a key; how long, or less. */
static ssize_t note_read(struct ether *e, struct ether_note *m, u8 *mac)
{
	u8 bytes[SEAL_ADDS + 2 * sizeof(*m)];
	struct sockaddr_ll at;
	socklen_t size = sizeof(at);
	ssize_t n = recvfrom(e->fd, bytes, sizeof(bytes), MSG_DONTWAIT,
			     (struct sockaddr *)&at, &size);
	const void *note;
	u32 len = n;

	if (n < 0)
		return n;
	memcpy(mac, at.sll_addr, ETHER_MAC);
	note = seal_take(e->seal, bytes, &len, mac);
	if (!note)
		return -1;
	memcpy(m, note, len < sizeof(*m) ? len : sizeof(*m));
	return len;
}

/* The next note of our cluster and version, until then, however many come. */
static bool note_take(struct ether *e, u16 cluster, u64 until,
		      struct ether_note *m, u8 *mac)
{
	struct pollfd p = { .fd = e->fd, .events = POLLIN };
	ssize_t n;
	u64 now;

	for (now = now_ns(); now < until; now = now_ns()) {
		if (poll(&p, 1, (until - now) / MS + 1) < 0)
			return false;
		n = note_read(e, m, mac);
		if (n < (ssize_t)offsetof(struct ether_note, what) ||
		    m->magic != ETHER_MAGIC)
			continue;
		if (m->version != ETHER_VERSION) {
			other_version(mac);
			continue;
		}
		if (n >= (ssize_t)sizeof(*m) && m->cluster == cluster)
			return true;
	}
	return false;
}

static void lead_say(struct leader *l, u8 what, const u8 *mac, u16 life,
		     u8 node)
{
	struct ether_note m = l->self;

	m.what = what;
	m.life = life;
	m.node = node;
	m.knows = l->askers;
	seal_send(l->ether->seal, mac, &m, sizeof(m));
}

/* Those who were heard of last move up; a number is a place in the list. */
static void askers_forget(struct leader *l)
{
	u64 now = now_ns();
	u8 left = 1;

	for (u8 i = 1; i < l->askers; i++)
		if (now - l->asker[i].heard < FORGET)
			l->asker[left++] = l->asker[i];
	l->askers = left;
}

static void ask_take(struct leader *l, const struct ether_note *m,
		     const u8 *mac)
{
	u8 i;

	for (i = 1; i < l->askers; i++)
		if (!memcmp(l->asker[i].mac, mac, ETHER_MAC))
			break;
	if (i == (l->given ? l->askers : l->self.nodes)) {
		lead_say(l, ETHER_FULL, mac, m->life, ETHER_NOBODY);
		return;
	}
	memcpy(l->asker[i].mac, mac, ETHER_MAC);
	l->asker[i].life = m->life;
	l->asker[i].heard = now_ns();
	l->askers += i == l->askers;
	lead_say(l, ETHER_GIVE, mac, m->life, l->given ? i : ETHER_NOBODY);
}

/* Somebody else leads, or wants to: are we the one that gives way? */
static bool gives_way(struct leader *l, const struct ether_note *m,
		      const u8 *mac, bool claiming)
{
	if (m->what != ETHER_LEAD)
		return false;
	if (claiming && (m->knows ||
			 memcmp(mac, l->ether->mac, ETHER_MAC) < 0)) {
		address("", mac, "is a bootstrap node on this wire already");
		return true;
	}
	lead_say(l, ETHER_LEAD, mac, l->self.life, 0);
	return false;
}

/* Nobody else leads: says so for a while. */
static bool claim(struct leader *l)
{
	u8 mac[ETHER_MAC];
	struct ether_note m;
	u64 until;

	for (int i = 0; i < CLAIM; i++) {
		lead_say(l, ETHER_LEAD, NULL, l->self.life, 0);
		until = now_ns() + PAUSE;
		while (note_take(l->ether, l->self.cluster, until, &m, mac))
			if (gives_way(l, &m, mac, true))
				return false;
	}
	return true;
}

/* As many as there shall be, and all have asked again since they were. */
static bool all_there(struct leader *l)
{
	askers_forget(l);
	if (l->askers < l->self.nodes)
		l->complete = 0;
	else if (!l->complete)
		l->complete = now_ns();
	for (u8 i = 1; i < l->askers; i++)
		if (l->asker[i].heard <= l->complete)
			return false;
	return l->complete;
}

static void lead_take(struct leader *l, const struct ether_note *m,
		      const u8 *mac)
{
	if (m->what == ETHER_ASK)
		ask_take(l, m, mac);
	else
		gives_way(l, m, mac, false);
}

int discover_lead(struct leader *l)
{
	u64 begin = now_ns(), said = begin;
	u8 mac[ETHER_MAC];
	struct ether_note m;

	if (!claim(l))
		return 2;
	l->askers = 1;
	while (!all_there(l)) {
		if (note_take(l->ether, l->self.cluster, now_ns() + PAUSE, &m,
			      mac))
			lead_take(l, &m, mac);
		if (now_ns() - said >= SAY && !l->complete) {
			said = now_ns();
			fprintf(stderr, "mios-dsm: %u more nodes are to come\n",
				l->self.nodes - l->askers);
		}
		if (now_ns() - begin < LIMIT)
			continue;
		fprintf(stderr, "mios-dsm: not all nodes have come\n");
		return 2;
	}
	l->given = true;
	return 0;
}

void discover_answer(struct leader *l)
{
	u64 until = now_ns() + MS;
	u8 mac[ETHER_MAC];
	struct ether_note m;

	while (note_take(l->ether, l->self.cluster, until, &m, mac))
		lead_take(l, &m, mac);
}

/* A node's number, and what mios-dsm run would have taken as options. */
static bool answer_good(const struct ether_note *m)
{
	return m->nodes <= DISCOVER_NODES && m->node < m->nodes &&
		m->pages >= 2 * LAYOUT_OWN && m->pages <= DSM_LIFE_MAX &&
		m->pages % 256 == 0 && m->protocol <= LAYOUT_AUTO;
}

/* What the answer is: 0 go on asking, 1 that is all, 2 after a line. */
static int answer_take(struct ether_note *self, const struct ether_note *m,
		       const u8 *mac)
{
	if (m->life != self->life ||
	    (m->what != ETHER_GIVE && m->what != ETHER_FULL))
		return 0;
	if (m->what == ETHER_FULL) {
		address("all nodes are there: the bootstrap node", mac,
			"has no place for another one");
		return 2;
	}
	if (m->node == ETHER_NOBODY)
		return 0;
	if (!answer_good(m)) {
		address("the bootstrap node", mac, "says what cannot be");
		return 2;
	}
	self->nodes = m->nodes;
	self->node = m->node;
	self->pages = m->pages;
	self->protocol = m->protocol;
	return 1;
}

int discover_ask(struct ether *e, struct ether_note *self)
{
	u64 begin = now_ns(), said = begin, until;
	struct ether_note m;
	u8 mac[ETHER_MAC];
	int done;

	for (;;) {
		self->what = ETHER_ASK;
		self->node = ETHER_NOBODY;
		seal_send(e->seal, NULL, self, sizeof(*self));
		until = now_ns() + PAUSE;
		while (note_take(e, self->cluster, until, &m, mac)) {
			done = answer_take(self, &m, mac);
			if (done)
				return done == 1 ? 0 : done;
		}
		if (now_ns() - begin >= LIMIT) {
			fprintf(stderr, "mios-dsm: no bootstrap node, or not all nodes have come\n");
			return 2;
		}
		if (now_ns() - said >= SAY) {
			said = now_ns();
			fprintf(stderr, "mios-dsm: waits for a bootstrap node, or for other nodes\n");
		}
	}
}
