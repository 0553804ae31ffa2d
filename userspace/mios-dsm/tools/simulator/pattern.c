// SPDX-License-Identifier: GPL-2.0
/*
 * The simulator's programs: which memory operation a CPU does next, given
 * what its last one read, and how to tell at the end that nothing went
 * wrong.  Called by sim.c.
 */
#include "../../../libmios/random.h"
#include "sim.h"

const char *const sim_pattern_name[] = { "migratory", "producer-consumer",
	"read-mostly", "lock", "false-sharing", "compile", "pingpong",
	"one-write", NULL };

static void op(struct sim_cpu *c, u8 kind, u32 page, u16 word, u64 value,
	       u64 think)
{
	c->op.kind = kind;
	c->op.page = page;
	c->op.word = word;
	c->op.value = value;
	c->op.think = think;
}

/* An object goes round: read it, then change it. */
static void migratory(const struct sim_config *c, u32 who,
		      struct sim_cpu *cpu)
{
	u32 page = (cpu->state / 4 + who) % c->pages;

	if (cpu->state++ % 4 < 2)
		op(cpu, SIM_READ, page, cpu->state % 8, 0, c->think);
	else
		op(cpu, SIM_ADD, page, who % SIM_WORDS, 1, c->think);
}

/* CPU 0 writes a page and raises its counter; the others read along. */
static void producer(const struct sim_config *c, u32 who,
		     struct sim_cpu *cpu)
{
	u32 page = cpu->state / 10 % c->pages, at = cpu->state % 10;

	cpu->state++;
	if (!who)
		op(cpu, SIM_WRITE, page, at, cpu->state, c->think);
	else
		op(cpu, SIM_READ, page, at, 0, c->think);
}

/* One write in a hundred, to a word of one's own. */
static void read_mostly(const struct sim_config *c, u32 who,
			struct sim_cpu *cpu)
{
	u32 page = random_next(&cpu->rng) % c->pages;

	if (random_next(&cpu->rng) % 100)
		op(cpu, SIM_READ, page, random_next(&cpu->rng) % SIM_WORDS, 0,
		   c->think);
	else
		op(cpu, SIM_WRITE, page, who % SIM_WORDS, ++cpu->a,
		   c->think);
}

/*
 * A spin lock on word 0 guards a counter on word 1 of the same page: take,
 * read, write, release. A lost update shows in the counter.
 */
static void lock(const struct sim_config *c, struct sim_cpu *cpu)
{
	switch (cpu->state) {
	case 0:		/* take it */
		op(cpu, SIM_XCHG, 0, 0, 1, c->think);
		cpu->state = 1;
		break;
	case 1:		/* taken? */
		if (cpu->got) {
			op(cpu, SIM_READ, 0, 0, 0, c->think / 4 + 1);
			cpu->state = 4;
			break;
		}
		op(cpu, SIM_READ, 0, 1, 0, 100);
		cpu->state = 2;
		break;
	case 2:
		op(cpu, SIM_WRITE, 0, 1, cpu->got + 1, 100);
		cpu->state = 3;
		cpu->b++;
		break;
	case 3:
		op(cpu, SIM_WRITE, 0, 0, 0, 100);
		cpu->state = 0;
		break;
	default:	/* spin while it looks taken */
		if (cpu->got) {
			op(cpu, SIM_READ, 0, 0, 0, c->think / 4 + 1);
			break;
		}
		op(cpu, SIM_XCHG, 0, 0, 1, 100);
		cpu->state = 1;
	}
}

/* Everybody writes words of his own that share pages. */
static void false_sharing(const struct sim_config *c, u32 who,
			  struct sim_cpu *cpu)
{
	op(cpu, SIM_WRITE, cpu->state++ % c->pages, who % SIM_WORDS,
	   ++cpu->a, c->think);
}

/*
 * Like the kernel under a parallel make: locks taken for a moment by
 * whoever comes, caches that all read and few write, pages that processes
 * take along. The weights give the paper's shares on write-invalidate.
 */
static void compile(const struct sim_config *c, u32 who, struct sim_cpu *cpu)
{
	u32 locks = c->pages / 4, cache = c->pages / 2;
	u32 moving = c->pages - locks - cache;
	u64 dice;

	if (cpu->state) {
		/* The rest of a lock's turn, of a visit to a page. */
		cpu->state--;
		if (cpu->a < locks)
			op(cpu, cpu->state ? SIM_ADD : SIM_WRITE, cpu->a,
			   cpu->state ? 0 : 1 + who % 32, 1, 500);
		else
			op(cpu, SIM_ADD, cpu->a, who % SIM_WORDS, 1, 2000);
		return;
	}
	dice = random_next(&cpu->rng) % 1000;
	if (dice < 330) {
		cpu->a = random_next(&cpu->rng) % locks;
		cpu->state = 2;
		op(cpu, SIM_READ, cpu->a, 0, 0, c->think);
	} else if (dice < 975) {
		cpu->a = locks + random_next(&cpu->rng) % cache;
		if (dice < 920)
			op(cpu, SIM_READ, cpu->a, dice % SIM_WORDS, 0,
			   c->think);
		else
			op(cpu, SIM_WRITE, cpu->a, who % SIM_WORDS,
			   cpu->count, c->think);
	} else {
		cpu->a = locks + cache + random_next(&cpu->rng) % moving;
		cpu->state = 12;
		op(cpu, SIM_READ, cpu->a, 0, 0, c->think);
	}
}

void pattern_next(const struct sim_config *c, u32 who, struct sim_cpu *cpu)
{
	if (c->pattern == PAT_ONE_WRITE && cpu->count) {
		op(cpu, SIM_END, 0, 0, 0, 0);
		return;
	}
	if (c->pattern != PAT_PINGPONG && cpu->count >= cpu->ops &&
	    /* Never leave a lock taken. */
	    (c->pattern != PAT_LOCK || (cpu->state == 0 ||
					cpu->state == 4))) {
		op(cpu, SIM_END, 0, 0, 0, 0);
		return;
	}
	switch (c->pattern) {
	case PAT_MIGRATORY:
		migratory(c, who, cpu);
		break;
	case PAT_PRODUCER:
		producer(c, who, cpu);
		break;
	case PAT_READ_MOSTLY:
		read_mostly(c, who, cpu);
		break;
	case PAT_LOCK:
		lock(c, cpu);
		break;
	case PAT_FALSE_SHARING:
		false_sharing(c, who, cpu);
		break;
	case PAT_COMPILE:
		compile(c, who, cpu);
		break;
	case PAT_ONE_WRITE:	/* by the last CPU, nothing else */
		op(cpu, who == c->nodes * c->cpus - 1 ? SIM_WRITE : SIM_END,
		   0, 0, 1, 1);
		break;
	default:	/* all want to write one word, at once */
		op(cpu, SIM_ADD, 0, 0, 1, 1);
	}
}

/* What memory must hold if no operation was lost or done twice. */
u64 pattern_wrong(const struct sim_config *c, const struct sim_cpu *cpus,
		  u64 (*read)(void *arg, u32 page, u16 word), void *arg)
{
	u32 n = c->nodes * c->cpus;
	u64 wrong = 0, sum = 0, want = 0;

	switch (c->pattern) {
	case PAT_LOCK:
		for (u32 i = 0; i < n; i++)
			want += cpus[i].b;
		return read(arg, 0, 1) != want;
	case PAT_PINGPONG:
		for (u32 i = 0; i < n; i++)
			want += cpus[i].count;
		/* CPUs that did not end may have one more to count. */
		sum = read(arg, 0, 0);
		return sum < want ? want - sum : 0;
	case PAT_MIGRATORY:
		for (u32 i = 0; i < n; i++)
			want += cpus[i].count / 4 * 2 +
				(cpus[i].count % 4 == 3);
		for (u32 p = 0; p < c->pages; p++)
			for (u16 w = 0; w < SIM_WORDS; w++)
				sum += read(arg, p, w);
		return sum != want;
	case PAT_FALSE_SHARING:
		for (u32 i = 0; i < n && n <= SIM_WORDS; i++)
			for (u32 p = 0; p < c->pages; p++) {
				u64 last = cpus[i].count > p ?
					(cpus[i].count - 1 - p) / c->pages *
					c->pages + p + 1 : 0;

				wrong += read(arg, p, i) != last;
			}
		return wrong;
	default:
		return 0;
	}
}
