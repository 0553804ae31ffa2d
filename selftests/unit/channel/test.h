/* SPDX-License-Identifier: GPL-2.0 */
/* What the channel tests share: a pair of ends over plain memory. */
#ifndef _TEST_H
#define _TEST_H

#include "../../../mios/core/channel/layout.h"
#include "../random.h"
#include "../test.h"

struct ends {
	struct mios_shape shape;
	struct mios_chan *chan;
	struct mios_producer p;
	struct mios_consumer c;
};

void ends_make(struct ends *e, u32 slot_size, u32 nr_slots, u32 max_total);
void ends_open(struct ends *e, u32 from, u32 to);
void ends_free(struct ends *e);

void test_protocol(void);
void test_garbage(u64 seed);
void test_layout(u64 seed);
void test_checker(u64 seed);
void test_area(u64 seed, unsigned long rounds);
void test_stress(u64 seed, unsigned long messages);
void test_sessions(u64 seed, unsigned long rounds);

#endif
