/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Simulated time: what happens when, and contenders that wait for it on stacks
 * of their own.  What is for the same instant happens in the order in which it
 * was asked for, so a run is the same each time.
 */
#ifndef _MIOS_LOCK_TASKS_H
#define _MIOS_LOCK_TASKS_H

#include "os.h"

#define NOBODY	(~0u)

/* Nanoseconds; and which task runs: NOBODY outside of tasks_run(). */
u64 now(void);
u32 myself(void);

/* At @at, fire(arg). */
void event_at(u64 at, void (*fire)(u32 arg), u32 arg);

/* The running task goes on after @ns, or when somebody says so. */
void task_wait(u64 ns);
void task_block(void);
void task_resume_at(u64 at, u32 task);

/*
 * Runs @nr tasks, each @run(its number), which never returns, until tasks_stop()
 * is called by one.  0; -EDEADLK: nothing is left that could happen; -ENOMEM.
 */
int tasks_run(u32 nr, void (*run)(u32 task));
void tasks_stop(void);

#endif /* _MIOS_LOCK_TASKS_H */
