// SPDX-License-Identifier: GPL-2.0
/*
 * Memory in cache lines that a directory keeps coherent, and one register that
 * no cache has.  A line's home serves one request for it after the other, in the
 * order of asking; as it begins with one, whoever has to gives up its copy.
 * A read of what nobody has changed is sent by memory, and the next one can
 * follow soon; else the line has to be where it goes before it goes on.
 *
 * Called by locks, on a contender's stack.
 */
#include <stdlib.h>

#include "sim.h"
#include "tasks.h"
#include "world.h"

#define WORDS	(CONTENDERS_MAX / 64)

/**
 * struct line - a cache line
 * @copies:	which contenders have it
 * @nr_copies:	how many these are
 * @owner:	has the only one, and may change it; or NOBODY
 * @first, @last: who asks for it, or NOBODY
 * @watchers:	who has a copy and looks at it, or NOBODY
 * @busy:	its home serves a request
 */
struct line {
	u64 copies[WORDS];
	u32 nr_copies;
	u32 owner;
	u32 first, last;
	u32 watchers;
	bool busy;
};

/* What a contender waits for, in one list at most. */
struct waiter {
	u64 *asleep;
	u32 next;
	u32 answer;
	bool changes;
};

static struct {
	struct sim_costs cost;
	u8 *memory;
	struct line *line;
	struct waiter waiter[CONTENDERS_MAX];
	u64 register_free;	/* when it serves the next one */
	u32 value;
} w;

struct sim_counts world_counts;

void *world_make(const struct sim_costs *cost, size_t bytes)
{
	size_t i, lines = (bytes + MIOS_LOCK_LINE - 1) / MIOS_LOCK_LINE;

	memset(&w, 0, sizeof(w));
	w.cost = *cost;
	w.memory = aligned_alloc(MIOS_LOCK_LINE, lines * MIOS_LOCK_LINE);
	w.line = calloc(lines, sizeof(*w.line));
	if (!w.memory || !w.line)
		return NULL;
	memset(w.memory, 0, lines * MIOS_LOCK_LINE);
	for (i = 0; i < lines; i++)
		w.line[i].owner = w.line[i].first = w.line[i].last =
			w.line[i].watchers = NOBODY;
	return w.memory;
}

void world_free(void)
{
	free(w.memory);
	free(w.line);
}

static struct line *line_of(const volatile void *p)
{
	return &w.line[((const volatile u8 *)p - w.memory) / MIOS_LOCK_LINE];
}

static bool has_copy(const struct line *line, u32 contender)
{
	return line->copies[contender / 64] >> contender % 64 & 1;
}

static void copy_add(struct line *line, u32 contender)
{
	line->nr_copies += !has_copy(line, contender);
	line->copies[contender / 64] |= 1ull << contender % 64;
}

/* All but that of who changes it; who has looked at one looks again. */
static u32 copies_take(struct line *line, u32 contender)
{
	u32 others = line->nr_copies - has_copy(line, contender), i;

	for (i = line->watchers; i != NOBODY; i = w.waiter[i].next)
		task_resume_at(now() + w.cost.hit, i);
	line->watchers = NOBODY;
	memset(line->copies, 0, sizeof(line->copies));
	line->nr_copies = 0;
	return others;
}

/* How long the line is busy with it. */
static u64 serve_change(struct line *line, u32 contender)
{
	bool had = has_copy(line, contender);
	u32 others = copies_take(line, contender);
	u64 ns = w.cost.transfer + others * w.cost.invalidate;

	world_counts.transfers += !had;
	world_counts.invalidations += others;
	copy_add(line, contender);
	line->owner = contender;
	task_resume_at(now() + ns, contender);
	return ns;
}

static u64 serve_read(struct line *line, u32 contender)
{
	bool owned = line->owner != NOBODY;

	world_counts.transfers++;
	line->owner = line->nr_copies ? NOBODY : contender;
	copy_add(line, contender);
	task_resume_at(now() + w.cost.transfer, contender);
	return owned ? w.cost.transfer : w.cost.occupancy;
}

static void line_serve(u32 number)
{
	struct line *line = &w.line[number];
	u32 contender = line->first;
	u64 ns;

	line->busy = contender != NOBODY;
	if (!line->busy)
		return;
	line->first = w.waiter[contender].next;
	if (line->first == NOBODY)
		line->last = NOBODY;
	if (w.waiter[contender].changes)
		ns = serve_change(line, contender);
	else
		ns = serve_read(line, contender);
	event_at(now() + ns, line_serve, number);
}

static void line_ask(struct line *line, u32 contender, bool changes)
{
	w.waiter[contender].changes = changes;
	w.waiter[contender].next = NOBODY;
	if (line->last == NOBODY)
		line->first = contender;
	else
		w.waiter[line->last].next = contender;
	line->last = contender;
	if (!line->busy)
		line_serve(line - w.line);
	task_block();
}

void world_access(const volatile void *p, bool changes)
{
	struct line *line;
	u32 contender = myself();

	if (contender == NOBODY)
		return; /* a lock is being made */
	line = line_of(p);
	if (changes ? line->owner == contender : has_copy(line, contender))
		task_wait(w.cost.hit);
	else
		line_ask(line, contender, changes);
}

void world_until_lost(const u64 *word)
{
	struct line *line = line_of(word);
	u32 contender = myself();

	if (!has_copy(line, contender))
		return;
	w.waiter[contender].next = line->watchers;
	line->watchers = contender;
	task_block();
}

void world_sleep(u64 *word, u32 value)
{
	if ((u32)READ_ONCE(*word) != value)
		return;
	w.waiter[myself()].asleep = word;
	task_block();
}

void world_wake(u64 *word)
{
	u32 i;

	for (i = 0; i < CONTENDERS_MAX; i++) {
		if (w.waiter[i].asleep != word)
			continue;
		w.waiter[i].asleep = NULL;
		world_counts.ipis++;
		task_resume_at(now() + w.cost.ipi, i);
	}
}

/* In the order of arrival; when it is over. */
static u64 register_serve(void)
{
	if (w.register_free < now())
		w.register_free = now();
	w.register_free += w.cost.service;
	return w.register_free;
}

static void register_arrives(u32 contender)
{
	struct waiter *waiter = &w.waiter[contender];

	world_counts.register_reads++;
	waiter->answer = w.value;
	if (waiter->changes)
		w.value = 1;
	task_resume_at(register_serve() + w.cost.reg - w.cost.reg / 2,
		       contender);
}

u32 world_register_read(bool takes)
{
	u32 contender = myself();

	w.waiter[contender].changes = takes;
	event_at(now() + w.cost.reg / 2, register_arrives, contender);
	task_block();
	return w.waiter[contender].answer;
}

static void register_clears(u32 contender)
{
	world_counts.register_writes++;
	w.value = 0;
	register_serve();
}

void world_register_clear(void)
{
	event_at(now() + w.cost.reg / 2, register_clears, myself());
	task_wait(w.cost.hit);
}
