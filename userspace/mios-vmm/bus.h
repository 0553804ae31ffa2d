/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Ports and device memory: who answers to which address.  All devices are at
 * node 0.
 */
#ifndef BUS_H
#define BUS_H

#include "route.h"

#define BUS_NOBODY	(~0ull)	/* what is read where no device is */

/* 0, or -1 after a line. */
int bus_start(const struct shape *s);
/* Done here or at node 0, of a CPU's own thread; what was read. */
uint64_t bus_access(const struct access *a);
/* Another node's, to be done by a thread of the bus; false: there are too many. */
bool bus_queue(const struct access *a);
/* A device's interrupt, whose own lock may be held. */
void bus_line(int pin, bool high);

#endif /* BUS_H */
