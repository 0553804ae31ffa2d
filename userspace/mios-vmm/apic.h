/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A local APIC in x2APIC mode, without KVM's help: registers, priorities, the
 * timer.  It is told the time and who sends; cpu.c has the lock and carries out
 * what a write asks for.
 */
#ifndef APIC_H
#define APIC_H

#include <stdbool.h>
#include <stdint.h>

#define APIC_MSR_FIRST	0x800
#define APIC_MSR_LAST	0x8ff
#define APIC_MSR_DEADLINE	0x6e0
#define APIC_EVERYBODY	0xffffffff

/* How an interrupt is delivered, as registers number it. */
enum apic_mode {
	APIC_FIXED = 0,
	APIC_LOWEST = 1,
	APIC_NMI = 4,
	APIC_INIT = 5,
	APIC_SIPI = 6,
};

enum apic_shorthand { APIC_NAMED, APIC_SELF, APIC_ALL, APIC_OTHERS };

/* An interrupt on its way to who is meant. */
struct apic_ipi {
	uint32_t sender, dest;
	uint8_t mode, vector, shorthand;
	bool logical, level;
};

/* What time it is: the timer counts ns, the deadline is the guest's TSC's. */
struct apic_time {
	uint64_t ns, tsc, khz;
};

enum { APIC_TIMER, APIC_THERMAL, APIC_PERF, APIC_LINT0, APIC_LINT1, APIC_ERROR,
	APIC_LVTS };

struct apic {
	uint32_t id;
	uint32_t tpr, svr, esr, esr_next, divide, initial;
	uint32_t lvt[APIC_LVTS];
	uint64_t icr, deadline, started;	/* started: ns */
	uint32_t irr[8], isr[8], tmr[8];
	/* Not by priority: a pending one each. */
	bool nmi, init, sipi;
	uint8_t sipi_vector;
};

/* What a write wants done. */
enum apic_wish {
	APIC_NOTHING,
	APIC_REFUSED,		/* the instruction gets #GP */
	APIC_SEND,		/* the IPI */
	APIC_ENDED,		/* a level interrupt, whose vector is the IPI's */
};

void apic_reset(struct apic *a, uint32_t id);
/* INIT is taken: a start-up interrupt that has come after it stays. */
void apic_init(struct apic *a);
/* False: #GP. */
bool apic_read(const struct apic *a, uint32_t msr, const struct apic_time *now,
	       uint64_t *value);
enum apic_wish apic_write(struct apic *a, uint32_t msr, uint64_t value,
			  const struct apic_time *now, struct apic_ipi *ipi);
/* Is the APIC with that id meant? */
bool apic_meant(const struct apic_ipi *ipi, uint32_t id);
void apic_deliver(struct apic *a, const struct apic_ipi *ipi);
/* The vector that the CPU is to take next, or -1. */
int apic_next(const struct apic *a);
/* The CPU has taken it. */
void apic_taken(struct apic *a, int vector);
/* When the timer is due, ns; 0: never. */
uint64_t apic_due(const struct apic *a, const struct apic_time *now);
/* Raises the timer's interrupt, if it is due. */
void apic_expire(struct apic *a, const struct apic_time *now);

#endif /* APIC_H */
