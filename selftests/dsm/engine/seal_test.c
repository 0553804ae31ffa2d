// SPDX-License-Identifier: GPL-2.0
/*
 * Processes that seal what they send (runtime/seal.c), on a wire in memory: frames
 * of all lengths, other keys and none, changed bits, more processes than there are
 * places.  Run by dsm/68-seal.
 */
#define _GNU_SOURCE
#include <openssl/crypto.h>

#include "seal_test.h"

struct on_wire wire[WIRE];
u32 sent, carried;
struct process a, b;
struct process *two[] = { &a, &b };

static u64 allocated;
static u32 lost = WIRE;		/* which one on the wire */
static struct process c;

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

void hear(struct process *p, const struct on_wire *w)
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
void carry(struct process **p, int nr)
{
	for (; carried < sent; carried++)
		for (int i = 0; i < nr; i++) {
			const struct on_wire *w = &wire[carried];

			if (carried != lost &&
			    memcmp(w->from, p[i]->seal.mac, ETHER_MAC) &&
			    (!memcmp(w->to, all, ETHER_MAC) ||
			     !memcmp(w->to, p[i]->seal.mac, ETHER_MAC)))
				hear(p[i], w);
		}
}

void clean(void)
{
	while (sent)
		free(wire[--sent].bytes);
	carried = 0;
}

/* key: 0 for none */
void born(struct process *p, int at, int key, int birth, u16 magic)
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

u64 dropped(const struct process *p)
{
	const struct seal_counts *c = &p->seal.counts;

	return c->refused + c->forged + c->replayed;
}

void say(struct process *from, const struct process *to, const char *text)
{
	seal_send(&from->seal, to ? to->seal.mac : NULL, text, strlen(text));
}

bool heard(const struct process *p, const char *text)
{
	return p->len == strlen(text) && !memcmp(p->last, text, p->len);
}

/* A and B, who know each other. */
void pair(int key)
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

/* One asks, the other one never does, and any greeting may be lost. */
static void losses(void)
{
	for (lost = 0; lost < 4; lost++) {
		born(&a, 1, 5, 1, SEAL_NODE);
		born(&b, 2, 5, 2, SEAL_NODE);
		clean();
		for (int round = 0; round < 3; round++) {
			say(&a, NULL, "to all");
			carry(two, 2);
		}
		demand(heard(&b, "to all"), "who asks again is heard");
		say(&b, &a, "to a");
		carry(two, 2);
		demand(heard(&a, "to a"), "and hears");
		clean();
	}
	lost = WIRE;
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
void changed(const struct on_wire *w, struct process *p)
{
	for (u32 bit = 0; bit < w->len * 8; bit++) {
		u64 before = p->taken;

		w->bytes[bit / 8] ^= 1 << bit % 8;
		hear(p, w);
		demand(p->taken == before, "a changed bit");
		w->bytes[bit / 8] ^= 1 << bit % 8;
	}
}

void cut(const struct on_wire *w, struct process *p)
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
	allocated++;
	return malloc(size);
}

static void *counted_again(void *at, size_t size, const char *file, int line)
{
	allocated++;
	return realloc(at, size);
}

static void freed(void *at, const char *file, int line)
{
	free(at);
}

int main(void)
{
	demand(CRYPTO_set_mem_functions(counted, counted_again, freed),
	       "libcrypto's memory");
	pair(5);
	lengths();
	losses();
	other_keys();
	bits();
	crowd();
	hostile();
	seal_close(&a.seal);
	seal_close(&b.seal);
	seal_close(&c.seal);
	OPENSSL_cleanup();
	printf("all is well\n");
	return 0;
}
