// SPDX-License-Identifier: GPL-2.0
/*
 * Runs of whole units of a window's heap: large blocks of malloc(), and the chunks
 * that small ones come out of (heap.c).  All processes take from them and give back.
 *
 * Free memory is in blocks of 2^n units that begin at a multiple of their size, with
 * a list for each n (binary buddies: Knowlton 1965; Knuth, volume 1, 2.5).  So to
 * take, to give and to make longer are a few steps for each n, whatever there is;
 * what a run does not need of its block goes back at once, in blocks again.  Lists
 * and sizes are in a table beside the memory: nothing of a free block is touched,
 * and its pages may go back to the pool.
 *
 * Short runs that a process has freed are a stock of its own: it has them again without
 * the table's lock, and with the pages that it touched first.  Who takes a longer run
 * where another process has been gives those pages back before, for the same reason.
 *
 * One futex lock, which is not held while memory is cleared or given back: who does
 * that has the units, and what the table says of them is his to write.
 */
#include <errno.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "inside.h"

#define ORDERS		31
#define NONE		UINT32_MAX
#define TRIES		16

/* Units that are free and not zero may be so many (64 MiB); more have no pages. */
#define KEPT_MOST	(64ul << 20 >> RUNS_SHIFT)
/* A run of so many has none in any case (32 MiB), as with libc's malloc(). */
#define RUN_MOST	(32ul << 20 >> RUNS_SHIFT)
/* Of all runs in a stock (8 MiB). */
#define STOCK_MOST	(8ul << 20 >> RUNS_SHIFT)

struct unit {
	/* Where a free block begins: others of its size, or NONE; a run in a stock: next. */
	uint32_t next, prev;
	uint32_t count;		/* where a run begins: its units; else 0 */
	uint8_t order;		/* where a free block begins: of 2^(order - 1); else 0 */
	uint8_t place;		/* 1 + who has last had it; 0: it is zero */
};

static_assert(OMP_MAX_PLACES <= UINT8_MAX, "a place is a byte");

struct runs {
	_Atomic uint32_t lock;
	_Atomic uint32_t kept;	/* units that are free and used */
	uint32_t units;
	uint32_t free[ORDERS];	/* the first block of each size, or NONE */
	struct unit unit[];
};

/* Bytes of the table for so many units. */
size_t runs_size(uint32_t units)
{
	return sizeof(struct runs) + units * sizeof(struct unit);
}

static void link_block(struct runs *r, uint32_t at, unsigned int order)
{
	uint32_t next = r->free[order];

	r->unit[at].next = next;
	r->unit[at].prev = NONE;
	r->unit[at].order = order + 1;
	if (next != NONE)
		r->unit[next].prev = at;
	r->free[order] = at;
}

static void unlink_block(struct runs *r, uint32_t at)
{
	struct unit *u = &r->unit[at];

	if (u->prev != NONE)
		r->unit[u->prev].next = u->next;
	else
		r->free[u->order - 1] = u->next;
	if (u->next != NONE)
		r->unit[u->next].prev = u->prev;
	u->order = 0;
}

/* With its buddy, if that is free, it is one block, and so on. */
static void put_block(struct runs *r, uint32_t at, unsigned int order)
{
	uint32_t buddy = at ^ 1u << order;

	while (order + 1 < ORDERS && buddy < r->units &&
	       r->unit[buddy].order == order + 1) {
		unlink_block(r, buddy);
		at &= buddy;
		order++;
		buddy = at ^ 1u << order;
	}
	link_block(r, at, order);
}

/* As few blocks as its place allows. */
static void put_range(struct runs *r, uint32_t at, uint32_t count)
{
	unsigned int order, most;

	for (; count; at += 1u << order, count -= 1u << order) {
		order = at ? __builtin_ctz(at) : ORDERS - 1;
		most = 31 - __builtin_clz(count);
		if (order > most)
			order = most;
		put_block(r, at, order);
	}
}

void runs_create(struct runs *r, uint32_t units)
{
	unsigned int order;

	r->units = units;
	for (order = 0; order < ORDERS; order++)
		r->free[order] = NONE;
	put_range(r, 0, units);
}

/* The smallest power of two that holds them. */
static unsigned int order_of(uint32_t count)
{
	return count > 1 ? 32 - __builtin_clz(count - 1) : 0;
}

/* One that the place has had before, or nobody, if it is among the first. */
static uint32_t choose(const struct runs *r, unsigned int order, uint32_t place)
{
	uint32_t at = r->free[order];
	unsigned int tries;

	for (tries = 0; at != NONE && tries < TRIES; tries++) {
		if (!r->unit[at].place || r->unit[at].place == place + 1)
			return at;
		at = r->unit[at].next;
	}
	return r->free[order];
}

/* Of one block; NONE: none is so large. */
static uint32_t take_block(struct runs *r, uint32_t count, uint32_t place)
{
	unsigned int order = order_of(count);
	uint32_t at;

	while (order < ORDERS && r->free[order] == NONE)
		order++;
	if (order >= ORDERS)
		return NONE;
	at = choose(r, order, place);
	unlink_block(r, at);
	put_range(r, at + count, (1u << order) - count);
	return at;
}

/* Are so many units free from @at on, where a block begins? */
static bool is_free(const struct runs *r, uint32_t at, uint32_t count)
{
	uint32_t end = at;

	while (end - at < count && end < r->units && r->unit[end].order)
		end += 1u << (r->unit[end].order - 1);
	return end - at >= count;
}

/* They are, and are taken. */
static void take_at(struct runs *r, uint32_t at, uint32_t count)
{
	uint32_t end = at, size;

	while (end - at < count) {
		size = 1u << (r->unit[end].order - 1);
		unlink_block(r, end);
		end += size;
	}
	put_range(r, at + count, end - at - count);
}

/* Of blocks that follow each other, the first of which has half of it: some tries. */
static uint32_t take_across(struct runs *r, uint32_t count)
{
	unsigned int order = order_of(count), tries;
	uint32_t at = order && order <= ORDERS ? r->free[order - 1] : NONE;

	for (tries = 0; at != NONE && tries < TRIES; tries++) {
		if (is_free(r, at, count)) {
			take_at(r, at, count);
			return at;
		}
		at = r->unit[at].next;
	}
	return NONE;
}

/*
 * The pages go back to the pool, and are zero for whoever has them next.  Not where
 * they may not be written: then they stay.
 */
static bool lose_pages(struct runs *r, char *memory, uint32_t at, uint32_t count)
{
	int before = errno, err;
	uint32_t i;

	err = syscall(SYS_madvise, memory + ((size_t)at << RUNS_SHIFT),
		      (size_t)count << RUNS_SHIFT, MADV_REMOVE);
	errno = before;
	for (i = at; i < at + count && !err; i++)
		r->unit[i].place = 0;
	return !err;
}

static bool is_others(const struct runs *r, uint32_t at, uint32_t place)
{
	return r->unit[at].place && r->unit[at].place != place + 1;
}

/* What others have touched lies near them.  Returns how many units are zero now. */
static uint32_t lose_others(struct runs *r, char *memory, uint32_t at, uint32_t count,
			    uint32_t place)
{
	const uint32_t end = at + count;
	uint32_t first, lost = 0;

	while (at < end) {
		first = at++;
		if (!is_others(r, first, place))
			continue;
		while (at < end && is_others(r, at, place))
			at++;
		if (lose_pages(r, memory, first, at - first))
			lost += at - first;
	}
	return lost;
}

/* They are the caller's now.  Are they zero? */
static bool use(struct runs *r, char *memory, uint32_t at, uint32_t count,
		uint32_t place)
{
	uint32_t i, used = 0, others = 0;

	for (i = at; i < at + count; i++) {
		used += !!r->unit[i].place;
		others += is_others(r, i, place);
	}
	if (used)
		atomic_fetch_sub(&r->kept, used);
	if (others && count > RUNS_STOCK_LONGEST)
		used -= lose_others(r, memory, at, count, place);
	for (i = at; i < at + count; i++)
		r->unit[i].place = place + 1;
	return !used;
}

/**
 * runs_take() - memory for a block
 * @memory: of all units
 * @count: of units
 * @place: who takes it
 * @zero: whether it is
 *
 * Return: the first unit, or -1 where no free block is large enough.
 */
int64_t runs_take(struct runs *r, char *memory, uint32_t count, uint32_t place,
		  bool *zero)
{
	uint32_t at;

	word_lock(&r->lock);
	at = take_block(r, count, place);
	if (at == NONE)
		at = take_across(r, count);
	if (at != NONE)
		r->unit[at].count = count;
	word_unlock(&r->lock);
	if (at == NONE)
		return -1;
	*zero = use(r, memory, at, count, place);
	return at;
}

/* How long the run is that begins at @at; 0: none does. */
uint32_t runs_count(const struct runs *r, uint64_t at)
{
	return at < r->units ? r->unit[at].count : 0;
}

/* The run at @at gets @count units, if those behind it are free. */
bool runs_grow(struct runs *r, char *memory, uint32_t at, uint32_t count, uint32_t place)
{
	const uint32_t had = r->unit[at].count;
	bool done;

	word_lock(&r->lock);
	done = is_free(r, at + had, count - had);
	if (done) {
		take_at(r, at + had, count - had);
		r->unit[at].count = count;
	}
	word_unlock(&r->lock);
	if (done)
		use(r, memory, at + had, count - had, place);
	return done;
}

/* Of the run at @at @left units stay. */
void runs_give(struct runs *r, char *memory, uint32_t at, uint32_t left)
{
	uint32_t first = at + left, count = r->unit[at].count - left;
	bool keep = count < RUN_MOST && atomic_load(&r->kept) + count <= KEPT_MOST;

	if (keep || !lose_pages(r, memory, first, count))
		atomic_fetch_add(&r->kept, count);
	word_lock(&r->lock);
	r->unit[at].count = left;
	put_range(r, first, count);
	word_unlock(&r->lock);
}

/* Words of a stock that are also looked at without its lock; written under it. */
static uint32_t peek(const uint32_t *word)
{
	return __atomic_load_n(word, __ATOMIC_RELAXED);
}

static void poke(uint32_t *word, uint32_t value)
{
	__atomic_store_n(word, value, __ATOMIC_RELAXED);
}

/* One of exactly so many units, or -1.  It is not zero. */
int64_t runs_stock_take(struct runs *r, struct runs_stock *s, uint32_t count)
{
	uint32_t at;

	/* Without the lock this is a guess, which costs a run of the stock at most. */
	if (count > RUNS_STOCK_LONGEST || !peek(&s->first[count]))
		return -1;
	word_lock(&s->lock);
	at = s->first[count];
	if (at) {
		poke(&s->first[count], r->unit[at - 1].next);
		poke(&s->units, s->units - count);
	}
	word_unlock(&s->lock);
	return (int64_t)at - 1;
}

/* Is the run at @at in the stock now?  Only if it is short, and there is room. */
bool runs_stock_put(struct runs *r, struct runs_stock *s, uint32_t at)
{
	const uint32_t count = r->unit[at].count;
	bool done;

	if (count > RUNS_STOCK_LONGEST || peek(&s->units) + count > STOCK_MOST)
		return false;
	word_lock(&s->lock);
	done = s->units + count <= STOCK_MOST;
	if (done) {
		r->unit[at].next = s->first[count];
		poke(&s->first[count], at + 1);
		poke(&s->units, s->units + count);
	}
	word_unlock(&s->lock);
	return done;
}

/* All of it becomes everybody's.  Was there any? */
bool runs_stock_empty(struct runs *r, char *memory, struct runs_stock *s)
{
	bool any = false;
	uint32_t count;
	int64_t at;

	for (count = 1; count <= RUNS_STOCK_LONGEST; count++) {
		while ((at = runs_stock_take(r, s, count)) >= 0) {
			runs_give(r, memory, at, 0);
			any = true;
		}
	}
	return any;
}
