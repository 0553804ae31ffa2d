// SPDX-License-Identifier: GPL-2.0
/*
 * The other world that locks run on, to count with: no times, but turns, in
 * which each cache line goes to one who changes it, or to all who read it and are
 * next.  The code of the locks is the one that mios-lock has; all else is written
 * again, so that what is wrong there is not wrong here.
 *   turns ROUNDS SEED	prints a line for each lock and number of contenders:
 * name, contenders, and transfers, invalidations, register reads and IPIs of a
 * hand-over.
 */
#include "../../../userspace/mios-lock/locks.h"
#include "../../../userspace/mios-lock/stack.h"
#include "../../../userspace/mios-lock/world.h"
#include "test.h"

#define MANY		16
#define STACK_SIZE	(32 << 10)
#define LINES_MAX	64
/* Turns to the register, and back; how many a lock is held, at most. */
#define THERE		3
#define BACK		2
#define HOLD_MAX	3
/* So many accesses to the own cache in a turn: it may be a loop. */
#define HITS_MAX	64
#define TURNS_MAX	100000000ull

enum doing { GOES_ON, ASKS_LINE, WATCHES, ASLEEP, AWAY, READS_REGISTER, STAYS };

struct task {
	void *sp;
	enum doing doing;
	u64 until, asked;	/* AWAY, READS_REGISTER: the turn; in which order */
	u32 line;
	bool changes;
	u64 *word;
	u32 answer;
};

static struct {
	u8 memory[LINES_MAX * MIOS_LOCK_LINE];
	u32 copies[LINES_MAX];	/* whose, as bits */
	u32 owner[LINES_MAX];	/* the bit of who may change it, or 0 */
	u32 reg, hits_left, nr, current, last, holder;
	u64 turn, asked, clears_at[MANY];
	unsigned long transfers, invalidations, reads, ipis, had;
	struct task task[MANY];
	struct contender contender[MANY];
} w __attribute__((aligned(64)));

static u8 stacks[MANY][STACK_SIZE] __attribute__((aligned(64)));
static const struct lock_ops *ops;
static bool making;
static void *scheduler;
static u64 seed;

void (*test_point)(void);

static struct task *self(void)
{
	return &w.task[w.current];
}

static u32 bit(void)
{
	return 1u << w.current;
}

static void wait_as(enum doing doing)
{
	self()->doing = doing;
	self()->asked = w.asked++;
	stack_switch(&self()->sp, scheduler);
}

static void away(u64 turns)
{
	self()->until = w.turn + turns;
	if (turns)
		wait_as(AWAY);
}

void world_access(const volatile void *p, bool changes)
{
	u32 line = ((const volatile u8 *)p - w.memory) / MIOS_LOCK_LINE;

	if (making)
		return;
	CHECK(line < LINES_MAX);
	while (changes ? w.owner[line] == bit() : w.copies[line] & bit()) {
		if (--w.hits_left)
			return;
		wait_as(GOES_ON);
	}
	self()->line = line;
	self()->changes = changes;
	wait_as(ASKS_LINE);
}

void world_until_lost(const u64 *word)
{
	self()->line = ((const u8 *)word - w.memory) / MIOS_LOCK_LINE;
	if (w.copies[self()->line] & bit())
		wait_as(WATCHES);
}

void world_sleep(u64 *word, u32 value)
{
	world_access(word, false);
	if ((u32)*word != value)
		return;
	self()->word = word;
	wait_as(ASLEEP);
}

void world_wake(u64 *word)
{
	u32 i;

	for (i = 0; i < w.nr; i++) {
		if (w.task[i].doing != ASLEEP || w.task[i].word != word)
			continue;
		w.task[i].doing = GOES_ON;
		w.ipis++;
	}
}

u32 world_register_read(bool takes)
{
	self()->until = w.turn + THERE;
	self()->changes = takes;
	wait_as(READS_REGISTER);
	away(BACK);
	return self()->answer;
}

void world_register_clear(void)
{
	w.clears_at[w.current] = w.turn + THERE;
}

static void contend(void)
{
	struct contender *contender = &w.contender[w.current];

	for (;;) {
		ops->lock(contender);
		CHECK(!w.holder);
		w.holder = 1;
		w.had++;
		if (w.last < w.nr && w.task[w.last].doing == STAYS)
			w.task[w.last].doing = GOES_ON;
		w.last = w.current;
		away(1 + test_random(&seed) % HOLD_MAX);
		w.holder = 0;
		ops->unlock(contender);
		if (w.last == w.current)
			wait_as(STAYS);
	}
}

static void run(u32 task)
{
	w.current = task;
	w.hits_left = HITS_MAX;
	self()->doing = GOES_ON;
	stack_switch(&scheduler, self()->sp);
}

/* The first who asks for a line, but for those that had their turn. */
static struct task *next_for(u32 line, u64 before)
{
	struct task *first = NULL;
	u32 i;

	for (i = 0; i < w.nr; i++) {
		struct task *task = &w.task[i];

		if (task->doing == ASKS_LINE && task->line == line &&
		    task->asked < before && (!first || task->asked < first->asked))
			first = task;
	}
	return first;
}

static void line_goes(u32 line, u32 task)
{
	u32 mine = 1u << task, i;

	w.transfers += !(w.copies[line] & mine);
	if (!w.task[task].changes) {
		w.owner[line] = w.copies[line] ? 0 : mine;
		w.copies[line] |= mine;
		return;
	}
	w.invalidations += __builtin_popcount(w.copies[line] & ~mine);
	w.owner[line] = w.copies[line] = mine;
	for (i = 0; i < w.nr; i++)
		if (w.task[i].doing == WATCHES && w.task[i].line == line)
			w.task[i].doing = GOES_ON;
}

static void lines_turn(u64 before)
{
	bool goes[MANY] = { };
	struct task *task;
	u32 line, i;

	for (line = 0; line < LINES_MAX; line++) {
		while ((task = next_for(line, before))) {
			line_goes(line, task - w.task);
			task->doing = GOES_ON;
			goes[task - w.task] = true;
			if (task->changes || !next_for(line, before) ||
			    next_for(line, before)->changes)
				break;
		}
	}
	/* They go on before anybody else can take it away again. */
	for (i = 0; i < w.nr; i++)
		if (goes[i])
			run(i);
}

static void register_turn(void)
{
	u32 i, from = test_random(&seed) % w.nr, task;

	for (i = 0; i < w.nr; i++) {
		task = (from + i) % w.nr;
		if (w.clears_at[task] == w.turn)
			w.reg = 0;
		if (w.task[task].doing != READS_REGISTER ||
		    w.task[task].until != w.turn)
			continue;
		w.reads++;
		w.task[task].answer = w.reg;
		w.reg |= w.task[task].changes;
		run(task);
	}
}

static void turn(void)
{
	u32 i, from = test_random(&seed) % w.nr, task;
	u64 before = w.asked;

	CHECK(++w.turn < TURNS_MAX);
	lines_turn(before);
	register_turn();
	for (i = 0; i < w.nr; i++) {
		task = (from + i) % w.nr;
		if (w.task[task].doing == GOES_ON ||
		    (w.task[task].doing == AWAY && w.task[task].until <= w.turn))
			run(task);
	}
}

static void make(enum lock_kind kind, u32 contenders)
{
	u32 i;

	memset(&w, 0, sizeof(w));
	ops = &lock_ops[kind];
	w.nr = w.last = contenders;
	making = true;
	CHECK(lock_bytes(contenders) <= sizeof(w.memory));
	if (ops->make)
		ops->make(w.memory, contenders);
	for (i = 0; i < contenders; i++) {
		w.contender[i] = (struct contender){ .memory = w.memory,
						     .number = i };
		if (ops->attach)
			ops->attach(&w.contender[i], contenders);
		w.task[i].sp = stack_begin(stacks[i] + STACK_SIZE, contend);
	}
	making = false;
}

static void count(enum lock_kind kind, u32 contenders, unsigned long rounds)
{
	make(kind, contenders);
	while (w.had < 2 * contenders)
		turn();
	w.transfers = w.invalidations = w.reads = w.ipis = w.had = 0;
	while (w.had < rounds)
		turn();
	printf("%s %u %.3f %.3f %.3f %.3f\n", lock_name[kind], contenders,
	       (double)w.transfers / w.had, (double)w.invalidations / w.had,
	       (double)w.reads / w.had, (double)w.ipis / w.had);
}

int main(int argc, char **argv)
{
	u32 kind, contenders;

	CHECK(argc == 3);
	seed = strtoull(argv[2], NULL, 0);
	for (kind = 0; kind < LOCK_KINDS; kind++)
		for (contenders = 2; contenders <= MANY; contenders++)
			count(kind, contenders, strtoul(argv[1], NULL, 0));
	return 0;
}
