/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the guest does at this node, on standard error, when somebody asks by
 * SIGUSR2: of the node what it has waited for, and of each CPU where it is.
 */
#ifndef STATE_H
#define STATE_H

#include "vmm.h"

/* Before any thread begins, as all are deaf to the signal but one. */
void state_deaf(void);
/* When the CPUs are there.  0, or -1 after a line. */
int state_start(const struct shape *s);

#endif /* STATE_H */
