/* SPDX-License-Identifier: GPL-2.0 */
/* What the lock tests share. */
#ifndef _TEST_H
#define _TEST_H

#include "../../../mios/memory/lock/place.h"
#include "../random.h"
#include "../test.h"

void test_steps(void);
void test_garbage(u64 seed, unsigned long rounds);
void test_explore(bool deep);
void test_meet(bool deep);
void test_registers(bool deep);
void test_meet_steps(void);
void test_meet_threads(unsigned long rounds);
void test_threads(u64 seed, unsigned long rounds);
void test_processes(u64 seed, unsigned long kills);

#endif
