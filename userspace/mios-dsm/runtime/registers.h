/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A thread's registers between a signal's frame and the emulator of stores.
 * Called by stores.c, on that thread.
 */
#ifndef REGISTERS_H
#define REGISTERS_H

#include <ucontext.h>

#include "../../../mios/dsm/emulate/emulate.h"

/* Once, before any of the others. */
void registers_start(void);
/* Without vectors; the frame is needed as long as r. */
void registers_get(struct dsm_regs *r, const ucontext_t *u);
/* Fills in the vectors, too. */
void registers_vectors(struct dsm_regs *r);
void registers_set(ucontext_t *u, const struct dsm_regs *r);

#endif /* REGISTERS_H */
