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

/* What a CPU does, for who asks. */
struct cpu_view {
	uint32_t id;
	int tid;
	enum cpu_state state;
	bool asks;			/* a device of another node */
	bool answered;			/* the rest of these are right: */
	uint64_t rip, cr3, flags;
	uint32_t pending[8], in_service[8];
	int64_t due_ns;			/* its timer, from now; 0: none */
};

struct cpu {
	struct kvm_cpu kvm;
	uint32_t id;
	pthread_t thread;
	atomic_int tid;
	uint64_t quantum;
	/* The thread's own. */
	_Atomic enum cpu_state state;
	timer_t timer;
	uint64_t armed;			/* ns, as the timer was told */
	bool failed;
	atomic_bool stop;
	/* Under the lock, which is let go of before anything is sent. */
	pthread_mutex_t lock;
	pthread_cond_t wake, seen;
	struct apic apic;
	bool begins;			/* the first, once all are there */
	bool asks, answered;		/* a device of another node */
	uint64_t answer;
	bool ended;			/* its thread */
	bool viewed;			/* somebody wants to know where it is */
	struct cpu_view view;
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

/* Waits a tenth of a second at most for the CPU to leave the guest. */
void cpu_view(uint16_t index, struct cpu_view *v);

/* cpu_exit.c: what KVM_RUN has come back for. */
void cpu_exit(struct cpu *c);

#endif /* CPU_H */
