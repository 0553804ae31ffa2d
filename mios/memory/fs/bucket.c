// SPDX-License-Identifier: GPL-2.0
/*
 * The hash of names, and its buckets.  There are about as many as names, so that
 * a look-up follows a few entries: each name that comes while there are fewer
 * splits one of them in two (linear hashing), so that no change has to move more
 * than a few names.  Each part of entries brings as many buckets as it has
 * numbers, so that there is always room for them.
 */
#include "../../inject/inject.h"
#include "tx.h"

MIOS_INJECT_UNIT(no_split);

/* Names in a bucket that is split at once; with a secret key none has as many. */
#define SPLIT_MAX	64

static u64 rotated(u64 v, int by)
{
	return v << by | v >> (64 - by);
}

static void sip_round(u64 v[4])
{
	v[0] += v[1];
	v[2] += v[3];
	v[1] = rotated(v[1], 13) ^ v[0];
	v[3] = rotated(v[3], 16) ^ v[2];
	v[0] = rotated(v[0], 32);
	v[2] += v[1];
	v[0] += v[3];
	v[1] = rotated(v[1], 17) ^ v[2];
	v[3] = rotated(v[3], 21) ^ v[0];
	v[2] = rotated(v[2], 32);
}

static void sip_add(u64 v[4], u64 word)
{
	v[3] ^= word;
	sip_round(v);
	v[0] ^= word;
}

/* SipHash-1-3 of directory and name: as the kernel's own tables have it. */
u64 mios_name_hash(const struct mios_fs *fs, u64 dir,
		   const struct mios_fs_name *name)
{
	u64 v[4] = { fs->key[0] ^ 0x736f6d6570736575ull,
		     fs->key[1] ^ 0x646f72616e646f6dull,
		     fs->key[0] ^ 0x6c7967656e657261ull,
		     fs->key[1] ^ 0x7465646279746573ull };
	u32 i, bytes;
	u64 word;

	sip_add(v, dir);
	for (i = 0; i <= name->length; i += sizeof(word)) {
		bytes = name->length - i < sizeof(word) ? name->length - i :
			sizeof(word);
		word = bytes < sizeof(word) ?
			(u64)(sizeof(dir) + name->length) << 56 : 0;
		memcpy(&word, name->text + i, bytes);
		sip_add(v, word);
	}
	v[2] ^= 0xff;
	sip_round(v);
	sip_round(v);
	sip_round(v);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}

/* The word of a bucket: of another one where there is none. */
static u64 *bucket(const struct mios_fs *fs, u64 index)
{
	u64 *first = (void *)((u8 *)fs->super + MIOS_FS_BUCKETS_AT);
	u64 from = index - MIOS_FS_BUCKETS;
	u64 part = 1 + from / MIOS_FS_PART_BUCKETS;
	u64 *buckets = NULL;

	if (index < MIOS_FS_BUCKETS)
		return &first[index];
	if (part < MIOS_FS_PARTS)
		buckets = READ_ONCE(fs->parts->at[MIOS_FS_ENTRIES][part]) ?:
			  mios_part_meet(fs, MIOS_FS_ENTRIES, part);
	return buckets ? &buckets[from % MIOS_FS_PART_BUCKETS] :
	       &first[index % MIOS_FS_BUCKETS];
}

static u64 buckets_of(const struct mios_fs *fs)
{
	u64 nr = READ_ONCE(fs->super->buckets);

	return nr >= MIOS_FS_BUCKETS &&
	       nr < (u64)MIOS_FS_PARTS * MIOS_FS_PART_BUCKETS ?
		nr : MIOS_FS_BUCKETS;
}

/* Those from @half on that are there already; the others' names are below it. */
u64 *mios_bucket_at(const struct mios_fs *fs, u64 hash)
{
	u64 nr = buckets_of(fs), half = 1ull << ilog2(nr);
	u64 index = hash & (2 * half - 1);

	return bucket(fs, index < nr ? index : index - half);
}

static void lead(struct mios_fs *fs, u64 *link, u64 to)
{
	u64 word = READ_ONCE(*link);

	if ((u32)word != to)
		mios_tx_put(fs, link, lower_set(word, to));
}

/* Each name of @from goes on in it, or in @to, in the same order. */
static bool bucket_split(struct mios_fs *fs, u64 *from, u64 *to, u64 half)
{
	u64 at = (u32)READ_ONCE(*from);
	u64 *stays = from, *moves = to;
	u32 left = SPLIT_MAX;

	for (; entry_exists(fs, at); left--) {
		struct mios_fs_entry *entry = entry_at(fs, at);
		u64 next = (u32)READ_ONCE(entry->next);

		if (!left)
			return false;
		if (READ_ONCE(entry->hash) & half) {
			lead(fs, moves, at);
			moves = &entry->next;
		} else {
			lead(fs, stays, at);
			stays = &entry->next;
		}
		at = next;
	}
	lead(fs, stays, 0);
	lead(fs, moves, 0);
	return true;
}

/* One more, if there are as many names, and there is room for it. */
void mios_buckets_grow(struct mios_fs *fs)
{
	u64 nr = buckets_of(fs), half = 1ull << ilog2(nr);
	u64 *from = bucket(fs, nr - half), *to = bucket(fs, nr);

	if (READ_ONCE(fs->super->names) < nr || inject_no_split ||
	    nr >= MIOS_FS_BUCKETS +
		  (READ_ONCE(fs->super->table[MIOS_FS_ENTRIES].parts) - 1) *
		  MIOS_FS_PART_BUCKETS)
		return;
	if (!bucket_split(fs, from, to, half)) {
		fs->stores = 0;
		return;
	}
	mios_tx_put(fs, &fs->super->buckets, nr + 1);
	/* Who looks for a name of the two follows one of them, or the other. */
	mios_tx_raise(fs, sequence_of_name(fs, nr));
	mios_tx_apply(fs);
}
