// SPDX-License-Identifier: GPL-2.0
/*
 * One run: contenders that want a lock again and again.  Counting begins when
 * all have begun and each has had it twice, as what they have in their caches
 * from the beginning is no longer there.  Called by cmd_sim.c, once after the
 * other.
 */
#include <stdlib.h>

#include "../libmios/random.h"
#include "sim.h"
#include "tasks.h"

/* Contenders begin over so many transfers each, or reads of the register. */
#define BEGIN_OVER	4

static struct {
	const struct sim_config *config;
	struct contender *contender;
	struct sim_result result;
	struct sim_counts before;
	uint64_t random;
	u64 since;
	u32 begun, warm, holder, last;
	u64 rounds;
	bool last_stays, counts, wrong;
} s;

/* A time with this mean. */
static u64 about(u64 mean)
{
	return mean / 2 + random_next(&s.random) % (mean + 1);
}

static void counting_begins(void)
{
	s.counts = true;
	s.since = now();
	s.before = world_counts;
}

static void counting_ends(void)
{
	struct sim_counts *counts = &s.result.counts;

	s.result.time = now() - s.since;
	counts->transfers = world_counts.transfers - s.before.transfers;
	counts->invalidations = world_counts.invalidations -
				s.before.invalidations;
	counts->register_reads = world_counts.register_reads -
				 s.before.register_reads;
	counts->register_writes = world_counts.register_writes -
				  s.before.register_writes;
	counts->ipis = world_counts.ipis - s.before.ipis;
	tasks_stop();
}

static void has_it(u32 contender)
{
	if (s.holder != NOBODY) {
		s.wrong = true;
		tasks_stop();
	}
	s.holder = contender;
	if (s.counts) {
		s.result.handovers += s.last != contender;
		if (++s.rounds == s.config->rounds)
			counting_ends();
	} else if (s.begun == s.config->contenders && !s.warm--) {
		counting_begins();
	}
	if (s.last_stays)
		task_resume_at(now(), s.last);
	s.last_stays = false;
	s.last = contender;
}

/* Who has had it wants it again when another one has had it. */
static void let_others(u32 contender)
{
	if (s.last != contender || s.config->contenders == 1)
		return;
	s.last_stays = true;
	task_block();
}

static void contend(u32 number)
{
	const struct lock_ops *ops = &lock_ops[s.config->kind];
	struct contender *contender = &s.contender[number];
	const struct sim_costs *cost = &s.config->cost;
	u64 step = s.config->kind == LOCK_REGISTER ? cost->reg : cost->transfer;
	u64 over = step * s.config->contenders * BEGIN_OVER, hold;

	task_wait(random_next(&s.random) % over);
	s.begun++;
	for (;;) {
		ops->lock(contender);
		has_it(number);
		hold = about(s.config->hold);
		task_wait(hold);
		if (s.counts)
			s.result.held += hold;
		s.holder = NOBODY;
		ops->unlock(contender);
		let_others(number);
		if (s.config->think)
			task_wait(about(s.config->think));
	}
}

static int contenders_run(void *memory)
{
	const struct lock_ops *ops = &lock_ops[s.config->kind];
	u32 nr = s.config->contenders, i;
	int err;

	if (ops->make)
		ops->make(memory, nr);
	for (i = 0; i < nr; i++) {
		s.contender[i].memory = memory;
		s.contender[i].number = i;
		if (ops->attach)
			ops->attach(&s.contender[i], nr);
	}
	err = tasks_run(nr, contend);
	return s.wrong ? -EILSEQ : err;
}

int sim_run(const struct sim_config *config, struct sim_result *result)
{
	void *memory = world_make(&config->cost, lock_bytes(config->contenders));
	int err = -ENOMEM;

	memset(&s, 0, sizeof(s));
	s.config = config;
	s.random = config->seed;
	s.holder = s.last = NOBODY;
	s.warm = 2 * config->contenders;
	s.contender = calloc(config->contenders, sizeof(*s.contender));
	if (memory && s.contender)
		err = contenders_run(memory);
	free(s.contender);
	world_free();
	*result = s.result;
	return err;
}
