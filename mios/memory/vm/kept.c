// SPDX-License-Identifier: GPL-2.0
/*
 * What other instances have answered: where the pages of their processes are.
 * Kept by chunk of 64 pages, process, purpose, and on whose behalf it was asked,
 * as all of that was judged there; copied out for each use, so nothing is locked
 * meanwhile.  Old answers make room for new ones: each bucket has a few.
 *
 * An answer counts as long as the process' generation is what it was, which who
 * copies looks up for himself (watched.c).  And no longer than a second: of some
 * rights, as those that a security module gives, nobody tells that they ended.
 */
#include <linux/hash.h>
#include <linux/jhash.h>
#include <linux/jiffies.h>
#include <linux/list.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

#include "../../core/link/link.h"

#include "vm.h"

#define BUCKETS_BITS	8
#define EACH_BUCKET	8
#define CHUNK_SHIFT	(PAGE_SHIFT + 6)
#define KEPT_MS		1000

static_assert(PAGE_SIZE << 6 == PAGE_SIZE * MIOS_COPY_PAGES);

/**
 * struct key - what was asked, of all but the page
 * @chunk:	of 64 pages, in the process
 * @pid, @write, @who: as in struct mios_msg_copy_ask
 */
struct key {
	u64 chunk;
	u32 pid;
	u32 write;
	struct mios_who who;
};

/**
 * struct kept - what is known of a chunk
 * @entry:	in its bucket, the last used first
 * @key:	of what
 * @instance, @incarnation, @slot, @generation: as in struct mios_pages
 * @until:	jiffies
 * @have:	bit for each page that is known
 * @pfn:	the pages
 */
struct kept {
	struct list_head entry;
	struct key key;
	u32 instance;
	u32 incarnation;
	u32 slot;
	u64 generation;
	unsigned long until;
	u64 have;
	u64 pfn[MIOS_COPY_PAGES];
};

struct bucket {
	spinlock_t lock; /* list, nr */
	struct list_head list;
	u32 nr;
};

static struct bucket buckets[1 << BUCKETS_BITS];

static struct key key_of(const struct mios_msg_copy_ask *ask)
{
	return (struct key){
		.chunk = ask->address >> CHUNK_SHIFT,
		.pid = ask->pid,
		.write = ask->write,
		.who = ask->who,
	};
}

static u32 page_of(const struct mios_msg_copy_ask *ask)
{
	return (ask->address >> PAGE_SHIFT) % MIOS_COPY_PAGES;
}

static struct bucket *bucket_of(const struct key *key)
{
	return &buckets[hash_32(jhash(key, sizeof(*key), 0), BUCKETS_BITS)];
}

static bool counts(const struct kept *k)
{
	const struct mios_copies *c = mios_link_copies(k->instance);

	return time_before(jiffies, k->until) &&
	       READ_ONCE(c->generation[k->slot]) == k->generation;
}

static void drop(struct bucket *b, struct kept *k)
{
	list_del(&k->entry);
	b->nr--;
	kfree(k);
}

/* Under the bucket's lock.  One that does not count any more goes. */
static struct kept *find(struct bucket *b, const struct key *key)
{
	struct kept *k;

	list_for_each_entry(k, &b->list, entry) {
		if (memcmp(&k->key, key, sizeof(*key)))
			continue;
		if (counts(k)) {
			list_move(&k->entry, &b->list);
			return k;
		}
		drop(b, k);
		return NULL;
	}
	return NULL;
}

static void pages_take(const struct kept *k, u32 first, u32 nr,
		       struct mios_pages *pages)
{
	pages->instance = k->instance;
	pages->incarnation = k->incarnation;
	pages->slot = k->slot;
	pages->generation = k->generation;
	nr = min3(nr, MIOS_COPY_PAGES - first, (u32)MIOS_WINDOW_PAGES);
	while (pages->nr < nr && k->have & BIT_ULL(first + pages->nr)) {
		pages->pfn[pages->nr] = k->pfn[first + pages->nr];
		pages->nr++;
	}
}

bool mios_kept_find(const struct mios_msg_copy_ask *ask, u32 nr,
		    struct mios_pages *pages)
{
	struct key key = key_of(ask);
	struct bucket *b = bucket_of(&key);
	struct kept *k;

	pages->nr = 0;
	spin_lock(&b->lock);
	k = find(b, &key);
	if (k)
		pages_take(k, page_of(ask), nr, pages);
	spin_unlock(&b->lock);
	return pages->nr;
}

static void fill(struct kept *k, const struct mios_msg_copy_ask *ask,
		 const struct mios_msg_copy_pages *answer)
{
	u32 first = page_of(ask), i;

	for (i = 0; i < answer->result && first + i < MIOS_COPY_PAGES; i++) {
		k->pfn[first + i] = answer->pfn[i];
		k->have |= BIT_ULL(first + i);
	}
}

/* Under the bucket's lock: @new, or what is there if that says the same. */
static struct kept *place(struct bucket *b, struct kept *new)
{
	struct kept *k = find(b, &new->key);

	if (k && k->incarnation == new->incarnation && k->slot == new->slot &&
	    k->generation == new->generation)
		return k;
	if (k)
		drop(b, k);
	if (b->nr == EACH_BUCKET)
		drop(b, list_last_entry(&b->list, struct kept, entry));
	list_add(&new->entry, &b->list);
	b->nr++;
	return new;
}

void mios_kept_add(const struct mios_msg_copy_ask *ask,
		   const struct mios_msg_copy_pages *answer, u32 incarnation)
{
	struct kept *new = kzalloc(sizeof(*new), GFP_KERNEL_ACCOUNT), *k;
	struct bucket *b;

	if (!new)
		return;
	new->key = key_of(ask);
	new->instance = ask->pid / MIOS_PIDS_EACH;
	new->incarnation = incarnation;
	new->slot = answer->slot;
	new->generation = answer->generation;
	new->until = jiffies + msecs_to_jiffies(KEPT_MS);
	b = bucket_of(&new->key);
	spin_lock(&b->lock);
	k = place(b, new);
	fill(k, ask, answer);
	spin_unlock(&b->lock);
	if (k != new)
		kfree(new);
}

int mios_kept_init(void)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(buckets); i++) {
		spin_lock_init(&buckets[i].lock);
		INIT_LIST_HEAD(&buckets[i].list);
	}
	return 0;
}

/* Nobody copies any more. */
void mios_kept_exit(void)
{
	struct kept *k, *next;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(buckets); i++)
		list_for_each_entry_safe(k, next, &buckets[i].list, entry)
			drop(&buckets[i], k);
}
