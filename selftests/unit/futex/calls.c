// SPDX-License-Identifier: GPL-2.0
/*
 * mios_call() and delayed work below mios/memory/ipc/futex.c, and what becomes
 * of a kernel that has died.  One call is served at a time.
 */
#include "../lock/explore.h"
#include "model.h"

static atomic_t columns[NR][256];

static struct slot *slot_new(void)
{
	u32 i;

	for (i = 0; i < SLOTS; i++)
		if (w.slot[i].state == FREE)
			return &w.slot[i];
	CHECK(!"slots enough");
	return NULL;
}

int model_call(u32 self, u32 to, const void *ask, void *answer)
{
	struct slot *slot;
	int result;
	u32 late;

	model_barrier();
	test_access();
	if (w.over[to])
		return -ENOTCONN;
	slot = slot_new();
	*slot = (struct slot) { .state = ASKED, .from = self, .to = to };
	memcpy(slot->ask, ask, sizeof(slot->ask));
	w.rung[to] = 1;
	late = w.late ? explore_choose(3) : 0;
	if (late) {
		/* It is served all the same, or not at all. */
		if (slot->state == ANSWERED || (late == 2 && !slot->served))
			*slot = (struct slot) { .state = FREE };
		else
			slot->state = ABANDONED;
		w.late--;
		return -ETIMEDOUT;
	}
	explore_until_changed(&slot->state, ASKED);
	result = slot->result;
	memcpy(answer, &slot->answer, sizeof(slot->answer));
	*slot = (struct slot) { .state = FREE };
	return result;
}

static void serve(u32 self, struct slot *slot)
{
	u32 answer = 0, size = 0, times = 1 + model_broken[TWICE];
	int result = 0;

	slot->served = 1;
	while (times--)
		result = instances[self]->asked(NULL, slot->from, 1, slot->ask,
						sizeof(slot->ask), &answer,
						&size);
	test_access();
	if (slot->state == ABANDONED) {
		*slot = (struct slot) { .state = FREE };
		return;
	}
	slot->answer = answer;
	slot->result = result ? result : (int)size;
	slot->state = ANSWERED;
}

void kernel_serve(u32 self)
{
	u32 i;

	for (;;) {
		explore_until_changed(&w.rung[self], 0);
		w.rung[self] = 0;
		for (i = 0; i < SLOTS; i++)
			if (w.slot[i].to == self &&
			    (w.slot[i].state == ASKED ||
			     w.slot[i].state == ABANDONED))
				serve(self, &w.slot[i]);
	}
}

void model_schedule(u32 self)
{
	test_access();
	if (!model_broken[NO_DEBT])
		w.work[self] = 1;
}

void kernel_pay(u32 self)
{
	for (;;) {
		explore_until_changed(&w.work[self], 0);
		w.work[self] = 0;
		instances[self]->pay();
	}
}

/* mios_link_pid_is_over() */
bool model_over(u32 instance)
{
	model_access();
	return w.over[instance] || w.silent[instance];
}

/* --- boot and death */

void kernel_boot(void)
{
	u32 i;

	memset(&w, 0, sizeof(w));
	memset(columns, 0, sizeof(columns));
	for (i = 0; i < NR; i++)
		instances[i]->begin(columns);
}

/* Who has called it learns that it is gone; what it has asked may be served. */
void kernel_died(u32 instance)
{
	u32 i;

	w.left[instance] = 0;
	w.rung[instance] = 0;
	w.work[instance] = 0;
	memset(w.lock[instance], 0, sizeof(w.lock[instance]));
	memset(w.hb[instance], 0, sizeof(w.hb[instance]));
	for (i = 0; i < SLOTS; i++) {
		struct slot *slot = &w.slot[i];

		if (slot->state == FREE)
			continue;
		if (slot->to == instance && slot->state == ASKED) {
			slot->result = -ENOTCONN;
			slot->state = ANSWERED;
		} else if (slot->to == instance && slot->state == ABANDONED) {
			*slot = (struct slot) { .state = FREE };
		} else if (slot->from == instance && slot->state == ASKED) {
			slot->state = ABANDONED;
		} else if (slot->from == instance && slot->state == ANSWERED) {
			*slot = (struct slot) { .state = FREE };
		}
	}
	for (i = 0; i < WAITERS; i++)
		if (w.waiter[i].instance == instance)
			w.waiter[i].queued = 0;
	w.over[instance] = 1;
}
