// SPDX-License-Identifier: GPL-2.0
/*
 * Deterministic incremental merge: every write has a number unique in the
 * system, and a byte keeps the value of the highest number that wrote it.
 * The buffer remembers the last dsm_config.window numbers, each in the slot
 * that the number's low bits name; slots of words with the same hash form a
 * chain, newest first.  A write is inserted where its number belongs and
 * loses the bytes that newer writes on the way there have written.
 * Called by update.c for each write, local or received.
 */
#include "engine.h"

static u32 merge_hash(const struct dsm *d, u32 page, u16 word)
{
	u64 key = ((u64)page << 9 | word) * 0x9e3779b97f4a7c15ULL;

	return (key >> 32) & (d->cfg.window - 1);
}

/*
 * Returns the bytes of mask that this write may change.  A link whose slot
 * has another number by now ends the chain: what follows is older still,
 * and nothing so old can arrive any more (update_room() sees to that).
 */
u8 merge_insert(struct dsm *d, u64 seq, u32 page, u16 word, u8 mask)
{
	u32 low = d->cfg.window - 1;
	struct dsm_slot *new = slot_at(d, seq & low);
	struct dsm_slot *at;
	u64 *link = head_at(d, merge_hash(d, page, word));
	u8 left = mask;

	if (new->seq >= seq)
		return 0;
	while (*link > seq) {
		at = slot_at(d, *link & low);
		if (at->seq != *link)
			break;
		if (at->page == page && at->word == word)
			left &= ~at->mask;
		link = &at->older;
	}
	new->older = *link < seq ? *link : 0;
	new->seq = seq;
	new->page = page;
	new->word = word;
	new->mask = mask;
	*link = seq;
	if (DSM_KNOB(d, NO_MASK))
		return mask;
	return left;
}
