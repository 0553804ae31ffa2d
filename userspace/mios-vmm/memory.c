// SPDX-License-Identifier: GPL-2.0
/*
 * Pieces of the window, which each node hands to its KVM at the same guest
 * address.  Node 0 keeps where they are among the window's roots.
 */
#include "../mios-dsm/runtime/mios_dsm.h"
#include "end.h"
#include "memory.h"

static struct {
	void *piece[VMM_NODES];
	uint64_t each, end;
} memory;

int memory_take(const struct shape *s)
{
	if (!s->self)
		for (uint16_t i = 0; i < s->nodes; i++)
			mios_dsm_root()[i] = mios_dsm_malloc(s->each, i);
	if (end_barrier())
		return -1;
	for (uint16_t i = 0; i < s->nodes; i++) {
		memory.piece[i] = mios_dsm_root()[i];
		if (!memory.piece[i])
			return s->self ? -1 :
				say("no %llu MiB of memory for each node: "
				    "mios-dsm run --memory %llu or more",
				    (unsigned long long)(s->each >> 20),
				    (unsigned long long)(s->each >> 20) *
				    (s->nodes + 1) + s->nodes + 1);
	}
	memory.each = s->each;
	memory.end = s->nodes * s->each;
	return 0;
}

void *memory_piece(uint16_t node)
{
	return memory.piece[node];
}

bool memory_guest(const void *at, uint64_t *guest)
{
	for (uint16_t i = 0; i < VMM_NODES; i++) {
		uint64_t off = (uintptr_t)at - (uintptr_t)memory.piece[i];

		*guest = i * memory.each + off;
		if (memory.piece[i] && off < memory.each)
			return true;
	}
	return false;
}

void *memory_at(uint64_t at, uint64_t len)
{
	if (at >= memory.end || len > memory.each - at % memory.each)
		return NULL;
	return (char *)memory.piece[at / memory.each] + at % memory.each;
}

uint64_t memory_end(void)
{
	return memory.end;
}
