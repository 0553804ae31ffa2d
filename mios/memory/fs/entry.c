// SPDX-License-Identifier: GPL-2.0
/*
 * What an entry is a part of: the chain of its bucket, the list of its directory,
 * and the entries that have the rest of a long name.  Called by changes of names,
 * with the lock; all of it goes into the redo record.
 */
#include "tx.h"

/* Of a name, behind what is in its entry. */
#define RESTS		2

/* How two words that lead to others, in their lower or upper half, change. */
static void lower_put(struct mios_fs *fs, u64 *word, u64 to)
{
	mios_tx_put(fs, word, lower_set(mios_tx_get(fs, word), to));
}

static void upper_put(struct mios_fs *fs, u64 *word, u64 to)
{
	mios_tx_put(fs, word, upper_set(mios_tx_get(fs, word), to));
}

/* As much of a name as fits, from @done on: up to where. */
static u32 text_put(struct mios_fs *fs, u8 *to, u32 room,
		    const struct mios_fs_name *name, u32 done)
{
	u32 end = min_t(u32, name->length, done + room), part;
	u64 word;

	for (; done < end; done += part, to += sizeof(word)) {
		part = min_t(u32, end - done, sizeof(word));
		word = 0;
		memcpy(&word, name->text + done, part);
		mios_tx_put(fs, (u64 *)to, word);
	}
	return done;
}

/* What an entry has of a name beyond itself is free; it has none from now on. */
void mios_entry_rest_drop(struct mios_fs *fs, u64 at)
{
	u64 *next = &entry_at(fs, at)->next;
	u64 rest = mios_tx_get(fs, next) >> 32;
	u32 i;

	upper_put(fs, next, 0);
	for (i = 0; i < RESTS && entry_exists(fs, rest); i++) {
		struct mios_fs_rest *gone = (void *)entry_at(fs, rest);
		u64 after = mios_tx_get(fs, &gone->next) >> 32;

		mios_number_give(fs, MIOS_FS_ENTRIES, rest);
		rest = after;
	}
}

/* -ENOSPC: there is no room for all of it. */
static int text_set(struct mios_fs *fs, u64 at, const struct mios_fs_name *name)
{
	struct mios_fs_entry *entry = entry_at(fs, at);
	u32 done = text_put(fs, entry->name, MIOS_FS_ENTRY_NAME, name, 0);
	u64 *next = &entry->next;

	while (done < name->length) {
		u64 number = mios_number_take(fs, MIOS_FS_ENTRIES);
		struct mios_fs_rest *rest = (void *)entry_at(fs, number);

		if (!number)
			return -ENOSPC;
		upper_put(fs, next, number);
		next = &rest->next;
		mios_tx_put(fs, next, 0);
		done = text_put(fs, rest->name, MIOS_FS_REST_NAME, name, done);
	}
	return 0;
}

/* In its bucket. */
int mios_entry_insert(struct mios_fs *fs, u64 at, u64 dir,
		      const struct mios_fs_name *name, u64 inode)
{
	struct mios_fs_entry *entry = entry_at(fs, at);
	u64 hash = mios_name_hash(fs, dir, name);
	u64 *bucket = mios_bucket_at(fs, hash);

	lower_put(fs, &entry->next, mios_tx_get(fs, bucket));
	mios_tx_put(fs, bucket, at);
	mios_tx_put(fs, &entry->hash, hash);
	mios_tx_put(fs, &entry->inode, inode);
	mios_tx_put(fs, &entry->parent, upper_lower(name->length, dir));
	mios_tx_raise(fs, sequence_of_name(fs, hash));
	return text_set(fs, at, name);
}

void mios_entry_unhook(struct mios_fs *fs, u64 *link, u64 at)
{
	const struct mios_fs_entry *entry = entry_at(fs, at);

	lower_put(fs, link, mios_tx_get(fs, &entry->next));
	mios_tx_raise(fs, sequence_of_name(fs, READ_ONCE(entry->hash)));
}

/* In the list of its directory, before all others: it comes last. */
void mios_entry_list(struct mios_fs *fs, u64 dir, u64 at)
{
	u64 *newest = &inode_at(fs, dir)->pages;
	u64 before = mios_tx_get(fs, newest);

	mios_tx_put(fs, &entry_at(fs, at)->beside, before);
	if (entry_exists(fs, before))
		upper_put(fs, &entry_at(fs, before)->beside, at);
	mios_tx_put(fs, newest, at);
}

void mios_entry_unlist(struct mios_fs *fs, u64 dir, u64 at)
{
	u64 beside = mios_tx_get(fs, &entry_at(fs, at)->beside);
	u64 older = (u32)beside, newer = beside >> 32;

	if (entry_exists(fs, newer))
		lower_put(fs, &entry_at(fs, newer)->beside, older);
	else
		mios_tx_put(fs, &inode_at(fs, dir)->pages, older);
	if (entry_exists(fs, older))
		upper_put(fs, &entry_at(fs, older)->beside, newer);
}

static void names_add(struct mios_fs *fs, int more)
{
	u64 *names = &fs->super->names;

	mios_tx_put(fs, names, mios_tx_get(fs, names) + more);
}

u64 mios_entry_take(struct mios_fs *fs)
{
	u64 at = mios_number_take(fs, MIOS_FS_ENTRIES);

	if (at) {
		names_add(fs, 1);
		/* It was the rest of a long name, perhaps. */
		mios_tx_put(fs, &entry_at(fs, at)->next, 0);
	}
	return at;
}

void mios_entry_free(struct mios_fs *fs, u64 dir, u64 at)
{
	mios_entry_unlist(fs, dir, at);
	mios_entry_rest_drop(fs, at);
	mios_tx_put(fs, &entry_at(fs, at)->parent, 0);
	mios_number_give(fs, MIOS_FS_ENTRIES, at);
	names_add(fs, -1);
}
