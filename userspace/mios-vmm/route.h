/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Between nodes: interrupts go to the node that has the CPU, accesses to that
 * which has the device, and back; all over the engine's own link, so that
 * nothing overtakes anything.  No lock of a caller's but that of the devices may
 * be held.
 */
#ifndef ROUTE_H
#define ROUTE_H

#include "apic.h"
#include "vmm.h"

enum route_space { ROUTE_PORT, ROUTE_MEMORY, ROUTE_EOI, ROUTE_SPACES };

/* What a CPU's access to a device is. */
struct access {
	uint32_t cpu;
	uint8_t space, size;
	bool write;
	uint64_t at, value;
};

/* 0, or -1 after a line. */
int route_start(const struct shape *s);
void route_interrupt(const struct apic_ipi *ipi);
/* To node 0, for a CPU of this node. */
void route_access(const struct access *a);
/* From node 0, to the node that has the CPU. */
void route_answer(uint32_t cpu, uint64_t value);
/* All nodes are told that the guest has ended. */
void route_end(uint8_t status);

#endif /* ROUTE_H */
