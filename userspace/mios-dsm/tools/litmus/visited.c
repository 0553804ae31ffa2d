// SPDX-License-Identifier: GPL-2.0
/*
 * The set of states seen, each as a 128-bit hash in an open table that
 * grows.  A collision would hide a state; with 2^30 states the chance of
 * any is below 2^-68.  Used by the oracle and the explorer.
 */
#include <stdlib.h>
#include <string.h>

#include "litmus.h"

static uint64_t mix(uint64_t h, uint64_t k)
{
	h = (h ^ k) * 0x9fb21c651e98df25ULL;
	return h ^ (h >> 32);
}

static void hash(const void *state, size_t len, uint64_t out[2])
{
	const unsigned char *p = state;
	uint64_t a = 0x243f6a8885a308d3ULL ^ len;
	uint64_t b = 0x13198a2e03707344ULL + len;
	uint64_t k;

	for (; len >= 8; len -= 8, p += 8) {
		memcpy(&k, p, 8);
		a = mix(a, k);
		b = (b + k) * 0xd6e8feb86659fd93ULL;
		b ^= b >> 29;
	}
	k = 0;
	memcpy(&k, p, len);
	a = mix(a, k);
	out[0] = mix(mix(a, b), a);
	out[1] = mix(b, k) | 1;
}

int visited_init(struct visited *v)
{
	v->size = 1 << 12;
	v->count = 0;
	v->slot = calloc(v->size, 16);
	return v->slot ? 0 : -1;
}

void visited_free(struct visited *v)
{
	free(v->slot);
	v->slot = NULL;
}

static uint64_t place(const struct visited *v, const uint64_t h[2])
{
	uint64_t at = h[0] & (v->size - 1);

	while (v->slot[2 * at + 1] &&
	       (v->slot[2 * at] != h[0] || v->slot[2 * at + 1] != h[1]))
		at = (at + 1) & (v->size - 1);
	return at;
}

static int grow(struct visited *v)
{
	struct visited bigger = { .size = v->size * 2 };
	uint64_t at;

	bigger.slot = calloc(bigger.size, 16);
	if (!bigger.slot)
		return -1;
	for (uint64_t i = 0; i < v->size; i++) {
		if (!v->slot[2 * i + 1])
			continue;
		at = place(&bigger, &v->slot[2 * i]);
		memcpy(&bigger.slot[2 * at], &v->slot[2 * i], 16);
	}
	free(v->slot);
	v->slot = bigger.slot;
	v->size = bigger.size;
	return 0;
}

int visited_add(struct visited *v, const void *state, size_t len)
{
	uint64_t h[2], at;

	hash(state, len, h);
	at = place(v, h);
	if (v->slot[2 * at + 1])
		return 0;
	if (v->count * 4 >= v->size * 3) {
		if (grow(v))
			return -1;
		at = place(v, h);
	}
	v->slot[2 * at] = h[0];
	v->slot[2 * at + 1] = h[1];
	v->count++;
	return 1;
}
