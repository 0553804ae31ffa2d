// SPDX-License-Identifier: GPL-2.0
/*
 * A key-value store under locks: a hash table with chains, a lock for each
 * part of it, and nodes that all insert, add to and look up the same keys.
 * Right: each key is there once, and holds what all nodes together added.
 */
#include "program.h"

#define BUCKETS	64
#define KEYS	97
#define LOCKS	8

const char program_name[] = "kv";
const int program_size = 300;

struct entry {
	struct entry *next;
	long key, value;
};

static struct entry **find(struct entry **table, long key)
{
	struct entry **at = &table[key % BUCKETS];

	while (*at && (*at)->key != key)
		at = &(*at)->next;
	return at;
}

static void add(struct entry **table, long key, long value)
{
	unsigned int lock = key % BUCKETS % LOCKS;
	struct entry **at;

	must(mios_dsm_lock(lock), "lock");
	at = find(table, key);
	if (!*at) {
		*at = mios_dsm_malloc(sizeof(**at), mios_dsm_node());
		if (!*at)
			must(-1, "allocation");
		(*at)->key = key;
	}
	(*at)->value += value;
	must(mios_dsm_unlock(lock), "unlock");
}

/* What each node does: the same keys in another order. */
static long key_of(int node, int i)
{
	return (i * 31L + node * 17L) % KEYS;
}

int program(int size)
{
	struct entry **table = shared(0, BUCKETS * sizeof(*table), 0);
	long want[KEYS] = { 0 };
	int found = 0, keys = 0, bad = 0;

	for (int i = 0; i < size; i++)
		add(table, key_of(mios_dsm_node(), i), i);
	must(mios_dsm_barrier(), "barrier");
	for (int node = 0; node < mios_dsm_nodes(); node++)
		for (int i = 0; i < size; i++)
			want[key_of(node, i)] += i + (1L << 32);
	for (int b = 0; b < BUCKETS; b++)
		for (struct entry *e = table[b]; e; e = e->next, found++)
			bad |= e->value != (want[e->key] & 0xffffffff);
	for (int k = 0; k < KEYS; k++)
		keys += !!want[k];
	return bad || found != keys;
}
