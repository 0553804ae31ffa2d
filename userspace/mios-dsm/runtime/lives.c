// SPDX-License-Identifier: GPL-2.0
/*
 * See lives.h.  Each node says to all what it knows of all: of each its life,
 * and how often it was born again and ended.  Those counts only grow, so notes
 * may be lost, doubled and overtaken: who has missed an end hears of it from the
 * next note of anybody.
 *
 * A node that comes back finds that others run and know another life of it.
 * It takes over what they have counted, until it has heard of every node that
 * it is there or has ended; its own life is one more than any of them knows.
 * They take it in when it says so, at the address that it had: mios-dsm run
 * sees to it that nothing of the earlier one is left there (cmd_run.c).
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lives.h"

static bool dead(const struct lives *l, u16 node)
{
	return l->self.list[node] & 1;
}

/* Of our cluster, and from another node that fits to us. */
static bool note_good(const struct lives *l, const struct ether_note *m)
{
	return m->version == ETHER_VERSION && m->cluster == l->self.cluster &&
		m->node < l->self.nodes && m->mtu >= ETHER_LEAST;
}

/* Why it cannot be one of us, or NULL. */
static const char *unfit(const struct lives *l, const struct ether_note *m)
{
	if (m->node == l->self.node)
		return "has our number";
	if (m->nodes != l->self.nodes)
		return "has another number of nodes";
	if (m->pages != l->self.pages)
		return "has a window of another size";
	if (m->protocol != l->self.protocol)
		return "runs another protocol";
	return NULL;
}

/* We know no address of one that had ended before we began. */
static bool address_good(const struct lives *l, u16 node, const u8 *mac)
{
	return !memcmp(l->peer[node].mac, mac, ETHER_MAC) ||
		!(l->self.knows >> node & 1);
}

static void remember(struct lives *l, const struct ether_note *m, const u8 *mac,
		     u64 now)
{
	memcpy(l->peer[m->node].mac, mac, ETHER_MAC);
	l->peer[m->node].heard = now;
	l->self.life_of[m->node] = m->life;
	l->self.knows |= 1u << m->node;
}

/* Before we begin what was said last counts. */
static int first(struct lives *l, struct transport *t,
		 const struct ether_note *m, const u8 *mac, u64 now)
{
	const char *wrong = unfit(l, m);

	if (m->runs && m->mtu > l->self.mtu)
		wrong = "runs with longer frames than we can take";
	if (wrong) {
		fprintf(stderr, "mios-dsm: node %u: node %u at %02x:%02x:%02x:%02x:%02x:%02x %s\n",
			l->self.node, m->node, mac[0], mac[1], mac[2],
			mac[3], mac[4], mac[5], wrong);
		return -EPROTO;
	}
	remember(l, m, mac, now);
	/* All take what the least of them can. */
	if (m->mtu < t->frame_max)
		t->frame_max = m->mtu;
	for (u16 i = 0; i < l->self.nodes; i++)
		if (m->list[i] > l->self.list[i])
			l->self.list[i] = m->list[i];
	if (m->life_of[l->self.node] == l->self.life) {
		l->sure |= 1u << m->node;
	} else if (m->runs) {
		l->sure |= 1u << m->node;
		l->self.list[l->self.node] |= 1;
	} else {
		/* It might begin with a life of ours that is over. */
		l->sure &= ~(1u << m->node);
		l->say = true;
	}
	return 0;
}

/* What others have heard and we have not. */
static void hearsay(struct lives *l, const struct ether_note *m)
{
	for (u16 i = 0; i < l->self.nodes; i++) {
		if (m->list[i] <= l->self.list[i] || !(m->list[i] & 1))
			continue;
		if (i == l->self.node) {
			dprintf(STDERR_FILENO, "mios-dsm: node %u: node %u says that we have ended\n",
				i, m->node);
			abort();
		}
		l->self.list[i] = m->list[i];
		l->ended |= 1u << i;
	}
}

static bool born_again(const struct lives *l, const struct transport *t,
		       const struct ether_note *m)
{
	return m->list[m->node] > l->self.list[m->node] &&
		!(m->list[m->node] & 1) && m->mtu >= t->frame_max;
}

/*
 * Another life at the same address: the one that we know is over.  It has to be
 * told so before it can say which one it is.
 */
static void asks(struct lives *l, struct transport *t,
		 const struct ether_note *m)
{
	if (m->runs) {
		t->refused++;
		return;
	}
	if (!dead(l, m->node)) {
		l->self.list[m->node] |= 1;
		l->ended |= 1u << m->node;
	}
	l->say = true;
}

/* While we run; a node of another life has to be told ours, to become the next. */
static void later(struct lives *l, struct transport *t,
		  const struct ether_note *m, const u8 *mac, u64 now)
{
	u32 bit = 1u << m->node;

	if (unfit(l, m) || !address_good(l, m->node, mac)) {
		t->refused++;
		return;
	}
	if (born_again(l, t, m)) {
		remember(l, m, mac, now);
		l->self.list[m->node] = m->list[m->node];
		l->ended &= ~bit;
		l->back |= bit;
		l->say = true;
	} else if (m->life != l->self.life_of[m->node]) {
		asks(l, t, m);
		return;
	} else if (dead(l, m->node)) {
		t->refused++;
		return;
	}
	l->peer[m->node].heard = now;
	l->strange &= ~bit;
	if (m->life_of[l->self.node] != l->self.life) {
		l->strange |= bit;
		l->say |= !m->runs;
	}
	if (m->runs)
		hearsay(l, m);
}

static void end(struct lives *l, struct transport *t, const struct ether_note *m,
		const u8 *mac)
{
	if (lives_at(l, mac) != m->node || !t->started ||
	    l->self.life_of[m->node] != m->life) {
		t->refused++;
		return;
	}
	if (dead(l, m->node))	/* it is said more than once */
		return;
	l->self.list[m->node] |= 1;
	l->ended |= 1u << m->node;
	l->say = true;
}

/* It is not who we wait for, or can never be; nothing else of it can be read. */
static void other_version(struct lives *l, const u8 *mac)
{
	if (!l->other_version)
		fprintf(stderr, "mios-dsm: node %u: %02x:%02x:%02x:%02x:%02x:%02x speaks another version of this\n",
			l->self.node, mac[0], mac[1], mac[2], mac[3], mac[4],
			mac[5]);
	l->other_version = true;
}

int lives_take(struct lives *l, struct transport *t, const struct ether_note *m,
	       const u8 *mac, u64 now)
{
	if (!note_good(l, m) || m->what > ETHER_END) {
		if (m->version != ETHER_VERSION && !t->started)
			other_version(l, mac);
		t->refused++;
		return 0;
	}
	if (m->what == ETHER_END)
		end(l, t, m, mac);
	else if (t->started)
		later(l, t, m, mac, now);
	else
		return first(l, t, m, mac, now);
	return 0;
}

int lives_at(const struct lives *l, const u8 *mac)
{
	for (int i = 0; i < l->self.nodes; i++)
		if (l->self.knows >> i & 1 && i != l->self.node &&
		    !memcmp(l->peer[i].mac, mac, ETHER_MAC))
			return i;
	return -1;
}

u32 lives_missing(const struct lives *l)
{
	u32 sure = (l->self.knows & l->sure) | 1u << l->self.node;
	u32 missing = ((1u << l->self.nodes) - 1) & ~sure;

	for (u16 i = 0; i < l->self.nodes; i++)
		if (dead(l, i))
			missing &= ~(1u << i);
	return missing;
}

int lives_begin(struct lives *l, struct transport *t)
{
	u8 *own = &l->self.list[l->self.node];

	if (*own) {
		if (*own >= 0xfe) {
			fprintf(stderr, "mios-dsm: node %u has come back too often\n",
				l->self.node);
			return -EOVERFLOW;
		}
		*own = (*own / 2 + 1) * 2;
		l->strange = l->self.knows & ~(1u << l->self.node);
	}
	l->self.runs = 1;
	l->self.mtu = t->frame_max;
	return 0;
}

int lives_change(struct lives *l, u16 *node)
{
	u32 *change = l->ended ? &l->ended : &l->back;

	if (!*change)
		return 0;
	*node = __builtin_ctz(*change);
	*change &= *change - 1;
	return change == &l->ended ? -ECONNRESET : -EISCONN;
}
