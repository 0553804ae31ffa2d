// SPDX-License-Identifier: GPL-2.0
/*
 * Processes that seal what they send (runtime/seal.c), on a wire in memory that a
 * hostile one reads, keeps and writes: other keys and none, changed bits, replays,
 * frames of earlier lives and other addresses, cut ones.  Run by dsm/68-seal.
 */
#define _GNU_SOURCE
#include <openssl/crypto.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "seal.h"

#define WIRE	512
#define demand(what, why) do { if (!(what)) { \
	printf("FAILED: %s (line %d)\n", why, __LINE__); exit(1); } } while (0)

struct on_wire {
	u8 from[ETHER_MAC], to[ETHER_MAC];	/* to: zeros for all */
	u32 len;
	u8 *bytes;				/* as long, for the sanitizer */
};

static struct on_wire wire[WIRE];
static u32 sent, carried;
static u64 allocated;

struct process {
	struct seal seal;
	u64 taken;
	u32 len;			/* of what it took last */
	u8 last[DSM_FRAME_MAX];
};

static const u8 all[ETHER_MAC];

static void put(void *arg, const u8 *mac, const void *frame, u32 len)
{
	struct process *p = arg;
	struct on_wire *w = &wire[sent];

	demand(sent < WIRE, "room on the wire");
	memcpy(w->from, p->seal.mac, ETHER_MAC);
	memcpy(w->to, mac ? mac : all, ETHER_MAC);
	w->len = len;
	w->bytes = malloc(len);
	memcpy(w->bytes, frame, len);
	sent++;
}

static void hear(struct process *p, const struct on_wire *w)
{
	u32 len = w->len;
	const void *inside = seal_take(&p->seal, w->bytes, &len, w->from);

	if (!inside)
		return;
	p->taken++;
	p->len = len;
	memcpy(p->last, inside, len);
}

/* Everything that is under way, and what comes of it. */
static void carry(struct process **p, int nr)
{
	for (; carried < sent; carried++)
		for (int i = 0; i < nr; i++) {
			const struct on_wire *w = &wire[carried];

			if (memcmp(w->from, p[i]->seal.mac, ETHER_MAC) &&
			    (!memcmp(w->to, all, ETHER_MAC) ||
			     !memcmp(w->to, p[i]->seal.mac, ETHER_MAC)))
				hear(p[i], w);
		}
}

static void clean(void)
{
	while (sent)
		free(wire[--sent].bytes);
	carried = 0;
}

/* key: 0 for none */
static void born(struct process *p, int at, int key, int birth, u16 magic)
{
	u8 mac[ETHER_MAC] = { 2, 0, 0, 0, 0, at };
	struct seal_secret secret;

	seal_close(&p->seal);
	memset(p, 0, sizeof(*p));
	memset(secret.key, key, SEAL_KEY);
	memset(secret.birth, birth, SEAL_NUMBER);
	p->seal.put = put;
	p->seal.arg = p;
	demand(!seal_open(&p->seal, magic, 7, mac, key ? &secret : NULL),
	       "open");
}

static u64 dropped(const struct process *p)
{
	const struct seal_counts *c = &p->seal.counts;

	return c->refused + c->forged + c->replayed;
}

static struct process a, b, c;
static struct process *two[] = { &a, &b };

static void say(struct process *from, const struct process *to, const char *text)
{
	seal_send(&from->seal, to ? to->seal.mac : NULL, text, strlen(text));
}

static bool heard(const struct process *p, const char *text)
{
	return p->len == strlen(text) && !memcmp(p->last, text, p->len);
}

/* A and B, who know each other. */
static void pair(int key)
{
	born(&a, 1, key, 1, SEAL_NODE);
	born(&b, 2, key, 2, SEAL_NODE);
	clean();
	say(&a, NULL, "is somebody there?");
	carry(two, 2);
	demand(!a.taken && !b.taken, "nothing is said before both are known");
	say(&a, &b, "to b");
	say(&b, NULL, "to all");
	carry(two, 2);
	demand(a.taken == 1 && heard(&a, "to all"), "a hears b");
	demand(b.taken == 1 && heard(&b, "to b"), "b hears a");
	demand(!dropped(&a) && !dropped(&b), "nothing is dropped");
	clean();
}

static void lengths(void)
{
	static u8 bytes[DSM_FRAME_MAX];

	pair(5);
	for (u32 len = 1; len <= sizeof(bytes); len += len < 100 ? 1 : 997) {
		u64 before;

		memset(bytes, 0x5a, len);
		before = allocated;
		seal_send(&a.seal, b.seal.mac, bytes, len);
		demand(allocated == before, "who sends allocates nothing");
		demand(wire[sent - 1].len == len + SEAL_ADDS, "length");
		demand(!memmem(wire[sent - 1].bytes, wire[sent - 1].len,
			       "ZZZZ", 4), "others cannot read it");
		carry(two, 2);
		demand(b.len == len && !memcmp(b.last, bytes, len), "frames");
		clean();
	}
	demand(!dropped(&b), "frames of all lengths");
	seal_send(&a.seal, b.seal.mac, bytes, sizeof(bytes) + 1);
	demand(!sent, "too long");
}

static void other_keys(void)
{
	born(&a, 1, 5, 1, SEAL_NODE);
	born(&b, 2, 6, 2, SEAL_NODE);
	clean();
	say(&a, NULL, "a");
	say(&b, NULL, "b");
	carry(two, 2);
	demand(sent == 2, "nobody answers");
	demand(a.seal.counts.forged == 1 && b.seal.counts.forged == 1,
	       "another key is counted");
	born(&b, 2, 0, 2, SEAL_NODE);
	clean();
	say(&a, NULL, "a");
	say(&b, NULL, "b");
	carry(two, 2);
	demand(!a.taken && !b.taken, "with a key and without");
	demand(a.seal.counts.forged == 2 && b.seal.counts.refused == 1,
	       "no key is counted");
	born(&a, 1, 0, 1, SEAL_NODE);
	say(&b, NULL, "b");
	carry(two, 2);
	demand(heard(&a, "b"), "none has a key");
	clean();
	born(&c, 3, 5, 3, SEAL_NODE);
	pair(5);
	c.seal.cluster = 8;
	say(&c, NULL, "c");
	carry(two, 2);
	demand(sent == 1 && !dropped(&a), "another cluster is none of ours");
}

/* Each bit of what A said. */
static void changed(const struct on_wire *w, struct process *p)
{
	for (u32 bit = 0; bit < w->len * 8; bit++) {
		u64 before = p->taken;

		w->bytes[bit / 8] ^= 1 << bit % 8;
		hear(p, w);
		demand(p->taken == before, "a changed bit");
		w->bytes[bit / 8] ^= 1 << bit % 8;
	}
}

static void cut(const struct on_wire *w, struct process *p)
{
	struct on_wire part = *w;
	u64 before = p->taken;

	for (part.len = 0; part.len < w->len; part.len++) {
		part.bytes = malloc(part.len);
		memcpy(part.bytes, w->bytes, part.len);
		hear(p, &part);
		free(part.bytes);
	}
	demand(p->taken == before, "a frame that was cut");
}

static void bits(void)
{
	u32 begun;

	pair(5);
	say(&a, &b, "some words");
	changed(&wire[0], &b);
	demand(b.seal.counts.forged > 250, "they are counted");
	cut(&wire[0], &b);
	carry(two, 2);
	demand(heard(&b, "some words"), "and the frame itself is taken");
	clean();
	born(&b, 2, 5, 2, SEAL_NODE);
	say(&b, NULL, "");
	begun = sent;
	for (u32 bit = 0; bit < wire[0].len * 8; bit++) {
		wire[0].bytes[bit / 8] ^= 1 << bit % 8;
		hear(&a, &wire[0]);
		demand(sent == begun, "a greeting with a changed bit");
		wire[0].bytes[bit / 8] ^= 1 << bit % 8;
	}
	cut(&wire[0], &a);
	demand(sent == begun, "a greeting that was cut");
	wire[0].from[5] = 9;
	hear(&a, &wire[0]);
	demand(sent == begun, "from another address");
	memcpy(wire[0].from, b.seal.mac, ETHER_MAC);
	hear(&b, &wire[0]);
	demand(sent == begun, "or our own");
	clean();
	/* A length beyond what is there, and any session. */
	pair(5);
	say(&a, &b, "some words");
	wire[0].bytes[6] = wire[0].bytes[7] = 0xff;
	hear(&b, &wire[0]);
	demand(dropped(&b) == 1 && !b.seal.counts.forged, "a length that is not there");
	clean();
}

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
	nr = sent;
	memcpy(old, wire, sizeof(old));
	sent = carried = 0;
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
	clean();
	while (nr)
		free(old[--nr].bytes);
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
	nr = sent;
	memcpy(old, wire, sizeof(old));
	sent = carried = 0;
	demand(!again(&a, old, nr), "a session does not begin anew");
	clean();
	while (nr)
		free(old[--nr].bytes);
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

/* More than there are places: who was heard of last stays. */
static void crowd(void)
{
	struct process *p = calloc(2 * SEAL_SESSIONS, sizeof(*p));
	struct process *each[2] = { &a };
	int known = 0;

	pair(5);
	for (int i = 0; i < 2 * SEAL_SESSIONS; i++) {
		born(&p[i], 10 + i, 5, 10 + i, SEAL_NODE);
		each[1] = &p[i];
		say(&p[i], NULL, "");
		carry(each, 2);
		clean();
		say(&p[i], &a, "here");
		carry(each, 2);
		demand(heard(&a, "here"), "a place for each that comes");
		a.len = 0;
		clean();
	}
	for (int i = 0; i < 2 * SEAL_SESSIONS; i++) {
		u64 before = a.taken;

		say(&p[i], &a, "still here");
		each[1] = &p[i];
		carry(each, 2);
		clean();
		known += a.taken > before;
		seal_close(&p[i].seal);
	}
	demand(known == SEAL_SESSIONS, "as many as there are places");
	free(p);
}

static void *counted(size_t size, const char *file, int line)
{
	(void)file;
	(void)line;
	allocated++;
	return malloc(size);
}

static void *counted_again(void *at, size_t size, const char *file, int line)
{
	(void)file;
	(void)line;
	allocated++;
	return realloc(at, size);
}

static void freed(void *at, const char *file, int line)
{
	(void)file;
	(void)line;
	free(at);
}

int main(void)
{
	demand(CRYPTO_set_mem_functions(counted, counted_again, freed),
	       "libcrypto's memory");
	pair(5);
	lengths();
	other_keys();
	bits();
	replays();
	greeted();
	lives();
	ends();
	crowd();
	seal_close(&a.seal);
	seal_close(&b.seal);
	seal_close(&c.seal);
	OPENSSL_cleanup();
	printf("all is well\n");
	return 0;
}
