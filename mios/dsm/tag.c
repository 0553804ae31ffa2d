// SPDX-License-Identifier: GPL-2.0
/*
 * The tags of requests.  An answer must carry the tag of the request that it
 * answers, so whoever can tell the next tag from those it has seen can give
 * us a page that we have asked somebody else for.  A tag is a keyed hash
 * (SipHash-2-4) of a number that is never used twice; the key is the
 * caller's, random and secret.  Called by request.c.
 */
#include "engine.h"

static u64 rotate(u64 v, int by)
{
	return v << by | v >> (64 - by);
}

static void sip_rounds(u64 v[4], int rounds)
{
	while (rounds--) {
		v[0] += v[1];
		v[1] = rotate(v[1], 13) ^ v[0];
		v[0] = rotate(v[0], 32);
		v[2] += v[3];
		v[3] = rotate(v[3], 16) ^ v[2];
		v[0] += v[3];
		v[3] = rotate(v[3], 21) ^ v[0];
		v[2] += v[1];
		v[1] = rotate(v[1], 17) ^ v[2];
		v[2] = rotate(v[2], 32);
	}
}

static void sip_word(u64 v[4], u64 word)
{
	v[3] ^= word;
	sip_rounds(v, 2);
	v[0] ^= word;
}

static u64 siphash(const u64 key[2], u64 word)
{
	u64 v[4] = { key[0] ^ 0x736f6d6570736575ULL,
		     key[1] ^ 0x646f72616e646f6dULL,
		     key[0] ^ 0x6c7967656e657261ULL,
		     key[1] ^ 0x7465646279746573ULL };

	sip_word(v, word);
	/* The length, of one word. */
	sip_word(v, 8ULL << 56);
	v[2] ^= 0xff;
	sip_rounds(v, 4);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}

/* Without a key they count up: a test sees that two states are one. */
u32 tag_next(struct dsm *d, u32 last)
{
	if (!(d->cfg.key[0] | d->cfg.key[1]))
		return last + 1;
	return siphash(d->cfg.key, ++d->tags);
}
