/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How the guest ends: in order, by a fault, or because a node has died.
 */
#ifndef END_H
#define END_H

#include "vmm.h"

#define END_FAULT	1	/* exit status when it could not go on */

/* Here, for all nodes: status 0 is in order. */
void end_guest(uint8_t status);
/* Another node has said so. */
void end_told(uint8_t status);
/* One without which it cannot go on. */
void end_died(int node);
void end_broken(int node, const char *why);
/* All nodes have come here; -1: one has died, and that has been told. */
int end_barrier(void);
/* Until one of these; the exit status. */
int end_await(void);

#endif /* END_H */
