/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A thread that deals with its own stop at a page, in a signal's handler and
 * under the node's lock: stores.c, which performs stores there, and own.c.
 */
#ifndef STORES_H
#define STORES_H

#include <ucontext.h>

#include "../../../mios/dsm/emulate/emulate.h"
#include "dsm_node.h"

/* The stop in hand, of a thread inside. */
struct trap {
	struct node *n;
	struct thread *t;
	u16 cpu;
	bool lost;		/* the page is */
	struct dsm_insn in;
	struct dsm_regs before, after;
	struct dsm_store s;
};

/* Tells the engine of a fault, as soon as there is room for what follows. */
void inside_fault(struct trap *x, struct dsm_event *ev);
/* The store at which it has stopped, or else it gets the page alone. */
void inside_store(struct trap *x, ucontext_t *u);

#endif /* STORES_H */
