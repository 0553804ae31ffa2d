/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What time it is for a CPU's timer, and the timer of the host that wakes it.
 */
#ifndef CLOCK_H
#define CLOCK_H

#include <signal.h>
#include <time.h>

#include "apic.h"
#include "vmm.h"

#define CLOCK_SIGNAL	SIGUSR1

/* All nodes count alike?  0, or -1 after a line. */
int clock_alike(const struct shape *s, uint64_t khz);
/* The guest's TSC is this machine's, which counts so fast. */
void clock_start(uint64_t khz);
struct apic_time clock_now(void);
/* Sends CLOCK_SIGNAL to the calling thread.  0 or -errno. */
int clock_timer(timer_t *timer);
/* At that time, ns of clock_now(); 0: not. */
void clock_arm(timer_t timer, uint64_t ns);

#endif /* CLOCK_H */
