/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The guest's CPUs at this node: a thread each.
 */
#ifndef CPU_H
#define CPU_H

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "apic.h"
#include "boot.h"
#include "kvm.h"

enum cpu_state {
	CPU_WAITS,		/* for a start-up interrupt */
	CPU_RUNS,
	CPU_HALTS,		/* until an interrupt */
};

struct cpu {
	struct kvm_cpu kvm;
	uint32_t id;
	pthread_t thread;
	uint64_t quantum;
	/* The thread's own. */
	enum cpu_state state;
	timer_t timer;
	uint64_t armed;			/* ns, as the timer was told */
	bool failed;
	atomic_bool stop;
	/* Under the lock, which is let go of before anything is sent. */
	pthread_mutex_t lock;
	pthread_cond_t wake;
	struct apic apic;
	bool begins;			/* the first, once all are there */
	bool asks, answered;		/* a device of another node */
	uint64_t answer;
};

/* 0, or -1 after a line. */
int cpus_start(const struct shape *s, const struct boot *b, uint64_t quantum);
/* They have all ended. */
void cpus_stop(void);
/* To those of this node that are meant. */
void cpu_interrupt(const struct apic_ipi *ipi);
/* A CPU's own thread asks a device elsewhere, and waits. */
void cpu_asks(uint32_t id);
uint64_t cpu_await_answer(uint32_t id);
/* False: nobody here has asked. */
bool cpu_answer(uint32_t id, uint64_t value);

/* cpu_exit.c: what KVM_RUN has come back for. */
void cpu_exit(struct cpu *c);

#endif /* CPU_H */
