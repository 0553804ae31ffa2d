// SPDX-License-Identifier: GPL-2.0
/*
 * A hostile one on the wire of seal_test.c, who keeps what he has seen: replays,
 * frames of earlier lives and other runs, ends that are none, garbage.
 */
#include "seal_test.h"

/* Of 200 frames each once, those first whose count is high. */
static void replays(void)
{
	pair(5);
	for (int i = 0; i < 200; i++)
		say(&a, &b, "again");
	b.taken = 0;
	hear(&b, &wire[100]);
	for (int i = 99; i >= 0; i--)
		hear(&b, &wire[i]);
	demand(b.taken == 64, "what is older than 64 frames is too old");
	demand(b.seal.counts.replayed == 37, "and counted");
	for (int i = 0; i < 200; i++)
		hear(&b, &wire[i]);
	demand(b.taken == 64 + 99, "once");
	for (int i = 0; i < 200; i++)
		hear(&b, &wire[i]);
	demand(b.taken == 64 + 99 && !b.seal.counts.forged, "each");
	/* To who has sent it. */
	for (int i = 0; i < 200; i++) {
		memcpy(wire[i].from, b.seal.mac, ETHER_MAC);
		hear(&a, &wire[i]);
	}
	demand(a.taken == 1, "nor by who has said it");
	clean();
}

/* Everything that was on the wire is there again. */
static u32 again(struct process *p, const struct on_wire *old, u32 nr)
{
	u64 before = p->taken;

	for (int round = 0; round < 3; round++)
		for (u32 i = 0; i < nr; i++)
			hear(p, &old[i]);
	return p->taken - before;
}

/* All that was on the wire, for later. */
static u32 keep(struct on_wire *old)
{
	u32 nr = sent;

	memcpy(old, wire, sizeof(wire));
	sent = carried = 0;
	return nr;
}

static void forget(struct on_wire *old, u32 nr)
{
	clean();
	while (nr)
		free(old[--nr].bytes);
}

static void end_of(struct process *p, u8 what)
{
	struct ether_note note = { .magic = ETHER_MAGIC, .what = what };

	seal_state(&p->seal, &note);
}

static void lives(void)
{
	static struct on_wire old[WIRE];
	struct process run = { };
	u32 nr;

	/* A whole life of B, with its end. */
	born(&a, 1, 5, 1, SEAL_NODE);
	born(&b, 2, 5, 2, SEAL_NODE);
	born(&run, 2, 5, 2, SEAL_RUN);
	clean();
	say(&b, NULL, "");
	carry(two, 2);
	say(&a, NULL, "");
	carry(two, 2);
	for (int i = 0; i < 20; i++)
		say(&b, &a, "old");
	end_of(&run, ETHER_END);
	carry(two, 2);
	demand(a.taken == 21 && a.len == sizeof(struct ether_note), "an end is heard");
	nr = keep(old);
	/* B is back; somebody has kept what it was. */
	born(&b, 2, 5, 3, SEAL_NODE);
	say(&b, NULL, "");
	carry(two, 2);
	clean();
	demand(!again(&a, old, nr), "nothing of an earlier life is taken");
	carry(two, 2);
	say(&b, &a, "new");
	carry(two, 2);
	demand(heard(&a, "new"), "nor does it end the one of now");
	clean();
	demand(!again(&a, old, nr), "not afterwards either");
	clean();
	/* Another run with the same key. */
	born(&a, 1, 5, 4, SEAL_NODE);
	demand(!again(&a, old, nr), "nothing of another run is taken");
	carry(two, 2);
	demand(!again(&a, old, nr) && dropped(&a), "nor is it answered in vain");
	forget(old, nr);
	seal_close(&run.seal);
}

/* The greetings that have begun a session begin it no second time. */
static void greeted(void)
{
	static struct on_wire old[WIRE];
	u32 nr;

	born(&a, 1, 5, 1, SEAL_NODE);
	born(&b, 2, 5, 2, SEAL_NODE);
	clean();
	say(&a, NULL, "");
	carry(two, 2);
	for (int i = 0; i < 20; i++)
		say(&b, &a, "once");
	carry(two, 2);
	demand(a.taken == 20, "each");
	nr = keep(old);
	demand(!again(&a, old, nr), "a session does not begin anew");
	forget(old, nr);
}

static void ends(void)
{
	struct process run = { };

	pair(5);
	born(&run, 1, 5, 1, SEAL_RUN);
	end_of(&run, ETHER_END);
	changed(&wire[0], &b);
	cut(&wire[0], &b);
	carry(two, 2);
	demand(b.taken == 2, "an end");
	end_of(&run, ETHER_HELLO);
	carry(two, 2);
	demand(b.taken == 2, "nothing but an end");
	born(&run, 1, 5, 9, SEAL_RUN);
	end_of(&run, ETHER_END);
	carry(two, 2);
	demand(b.taken == 2, "of another life");
	clean();
	seal_close(&run.seal);
}

/* Frames that look like ours, and nothing else. */
static void garbage(void)
{
	static u8 bytes[200];
	u64 before;

	pair(5);
	before = b.taken;
	srand(1);
	for (int i = 0; i < 20000; i++) {
		struct on_wire w = { .len = rand() % sizeof(bytes) };
		struct seal_head h = { .magic = SEAL_NODE + rand() % 2,
				       .version = SEAL_VERSION, .cluster = 7,
				       .what = rand() % (SEAL_WHATS + 1),
				       .len = rand() % 256 };

		for (u32 k = 0; k < w.len; k++)
			bytes[k] = rand();
		memcpy(bytes, &h, sizeof(h));
		/* A session that is there. */
		if (rand() % 2)
			memcpy(bytes + sizeof(h), &b.seal.session[0].number_in,
			       sizeof(u32));
		w.bytes = malloc(w.len);
		memcpy(w.bytes, bytes, w.len);
		memcpy(w.from, a.seal.mac, ETHER_MAC);
		hear(&b, &w);
		free(w.bytes);
	}
	demand(b.taken == before && !sent, "garbage");
	demand(b.seal.counts.forged > 2000, "and it is counted");
	say(&a, &b, "still here");
	carry(two, 2);
	demand(heard(&b, "still here"), "nor does it change anything");
	clean();
}

void hostile(void)
{
	replays();
	greeted();
	lives();
	ends();
	garbage();
}
