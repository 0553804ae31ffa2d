// SPDX-License-Identifier: GPL-2.0
/*
 * Who is there and in which life, by notes over a wire that loses, doubles and
 * delays them (runtime/lives.c): nodes die and come back at any time, before and
 * after they have begun, and most of them miss most of what is said of that.
 * In the end, when notes arrive again and somebody has heard of each death, all
 * must know the same. Then notes of any content. Run by sim.sh.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../../userspace/libmios/random.h"
#include "lives.h"

#define NODES	5
#define UNDER_WAY	4

static struct {
	u64 rng;
	u16 nodes;
	bool alive[NODES];
	struct lives lives[NODES];
	struct transport transport[NODES];
	u8 told[NODES][NODES];		/* as lives_change() said */
	/* In order, as on any wire; who begins gets nothing from before. */
	struct ether_note way[NODES][NODES][UNDER_WAY];
	u32 count[NODES][NODES];
	u32 deaths, births, wrong, again;
} t;

static u32 below(u32 n)
{
	return random_next(&t.rng) % n;
}

static void mac_of(u16 node, u8 *mac)
{
	memset(mac, 0, ETHER_MAC);
	mac[0] = 2;
	mac[5] = node;
}

static void born(u16 node)
{
	u16 life = 1 + below(65535);

	for (u16 from = 0; from < t.nodes; from++)
		t.count[from][node] = 0;
	memset(&t.lives[node], 0, sizeof(t.lives[node]));
	memset(&t.transport[node], 0, sizeof(t.transport[node]));
	memset(t.told[node], 0, sizeof(t.told[node]));
	t.transport[node].frame_max = 1500;
	t.lives[node].self = (struct ether_note){
		.magic = ETHER_MAGIC, .version = ETHER_VERSION,
		.what = ETHER_HELLO, .life = life, .nodes = t.nodes,
		.node = node, .mtu = 1500, .knows = 1u << node,
	};
	t.lives[node].self.life_of[node] = life;
	t.alive[node] = true;
}

/* What the engine would be told, and whether it can be. */
static void told_of_all(u16 node)
{
	u16 who;
	int what;

	while ((what = lives_change(&t.lives[node], &who))) {
		u8 now = t.lives[node].self.list[who];

		t.wrong += (what == -ECONNRESET) != (now & 1) ||
			now <= t.told[node][who];
		t.told[node][who] = now;
	}
}

static void take(u16 to, u16 from, const struct ether_note *m)
{
	u8 mac[ETHER_MAC];

	if (!t.alive[to] || to == from)
		return;
	mac_of(from, mac);
	t.wrong += !!lives_take(&t.lives[to], &t.transport[to], m, mac, 1);
	if (t.transport[to].started)
		told_of_all(to);
}

static void say(u16 from, const struct ether_note *m, bool safely)
{
	for (u16 to = 0; to < t.nodes; to++)
		if (safely)
			take(to, from, m);
		else if (below(3) && t.count[from][to] < UNDER_WAY)
			t.way[from][to][t.count[from][to]++] = *m;
}

static void begin(u16 node)
{
	struct lives *l = &t.lives[node];

	if (t.transport[node].started || lives_missing(l))
		return;
	t.wrong += !!lives_begin(l, &t.transport[node]);
	t.transport[node].started = true;
	memcpy(t.told[node], l->self.list, sizeof(t.told[node]));
}

static void end_note(u16 node, bool safely, u16 to)
{
	struct ether_note m = t.lives[node].self;

	m.what = ETHER_END;
	if (safely)
		take(to, node, &m);
	else
		say(node, &m, false);
}

/* Node 0 stays: with nobody there all begin anew. */
static void die(u16 node)
{
	if (!node || !t.alive[node])
		return;
	t.alive[node] = false;
	t.deaths++;
	end_note(node, false, node);
}

/* The next one of a way; one in four comes once more. */
static void arrive(u16 from, u16 to)
{
	struct ether_note *way = t.way[from][to];

	if (!t.count[from][to])
		return;
	take(to, from, way);
	if (below(4))
		memmove(way, way + 1, --t.count[from][to] * sizeof(*way));
}

static void move(void)
{
	u16 node = below(t.nodes);

	if (!below(40))
		die(node);
	if (!t.alive[node] && !below(20)) {
		born(node);
		t.births++;
	}
	if (t.alive[node] && (t.lives[node].say || !below(4))) {
		t.lives[node].say = false;
		say(node, &t.lives[node].self, false);
	}
	arrive(below(t.nodes), below(t.nodes));
	arrive(below(t.nodes), below(t.nodes));
	if (t.alive[node])
		begin(node);
}

/* Who runs and knows the last life of a dead node; else any. */
static u16 knows(u16 node, u16 any)
{
	for (u16 n = 0; n < t.nodes; n++)
		if (t.alive[n] && t.transport[n].started &&
		    t.lives[n].self.life_of[node] == t.lives[node].self.life)
			return n;
	return any;
}

/* False if nobody runs who could have heard of a death: they wait. */
static bool settle(void)
{
	u16 witness = 0;

	while (witness < t.nodes && !(t.alive[witness] &&
				      t.transport[witness].started))
		witness++;
	if (witness == t.nodes)
		return false;
	memset(t.count, 0, sizeof(t.count));
	for (int i = 0; i < 8; i++)
		for (u16 n = 0; n < t.nodes; n++) {
			if (!t.alive[n]) {
				/* Its last life may have asked and got no answer. */
				say(n, &t.lives[n].self, true);
				end_note(n, true, knows(n, witness));
			}
			if (!t.alive[n])
				continue;
			begin(n);
			say(n, &t.lives[n].self, true);
		}
	return true;
}

static void judge(void)
{
	const struct ether_note *first = &t.lives[0].self;

	for (u16 n = 0; n < t.nodes; n++) {
		const struct ether_note *own = &t.lives[n].self;

		t.wrong += (first->list[n] & 1) == t.alive[n];
		if (!t.alive[n])
			continue;
		t.again += own->list[n] > 0;
		t.wrong += !t.transport[n].started ||
			memcmp(first->list, own->list, sizeof(own->list));
		for (u16 k = 0; k < t.nodes; k++)
			t.wrong += k != n && t.told[n][k] != own->list[k];
		for (u16 k = 0; k < t.nodes; k++)
			t.wrong += t.alive[k] && own->life_of[k] !=
				t.lives[k].self.life;
	}
}

/* A note may say anything; it is only our own end that we would believe. */
static void garbage(u32 notes)
{
	u8 mac[ETHER_MAC];

	for (u32 i = 0; i < notes; i++) {
		struct ether_note m = t.lives[below(t.nodes)].self;
		u16 to = below(t.nodes);

		for (u32 k = below(6); k; k--)
			((u8 *)&m)[below(sizeof(m))] = below(256);
		if (to < t.nodes && m.list[to] > t.lives[to].self.list[to])
			m.list[to] = 0;
		mac_of(below(t.nodes), mac);
		if (!t.transport[to].started)
			continue;
		lives_take(&t.lives[to], &t.transport[to], &m, mac, 1);
		for (u16 who = 0; lives_change(&t.lives[to], &who); )
			t.wrong += who >= t.nodes;
	}
}

int main(void)
{
	u32 wrong = 0, deaths = 0, births = 0, again = 0;

	for (u64 seed = 1; seed <= 2000; seed++) {
		memset(&t, 0, sizeof(t));
		t.rng = seed;
		t.nodes = 2 + below(NODES - 1);
		for (u16 n = 0; n < t.nodes; n++)
			born(n);
		for (u32 i = 0; i < 400; i++)
			move();
		if (settle())
			judge();
		garbage(200);
		if (t.wrong && !wrong)
			printf("lives: seed %llu\n", (unsigned long long)seed);
		wrong += t.wrong;
		deaths += t.deaths;
		births += t.births;
		again += t.again;
	}
	printf("lives: %u deaths, %u births, %u came back in the end, %u wrong\n",
	       deaths, births, again, wrong);
	return wrong || again < 100;
}
