/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Stopping an instance for good, and knowing whether it needs that: the
 * instance's side (stop.c, alive.c), called by mios/core/main.c.  The other
 * side, on instance 0, is mios/core/end/fence.c and mios/core/watch/hang.c;
 * between them lies what include/mios/notes.h describes.
 */
#ifndef MIOS_FENCE_H
#define MIOS_FENCE_H

#include <mios/notes.h>

/* stop.c: an NMI takes each CPU's registers and keeps it */
int mios_stop_init(void);
void mios_stop_exit(void);

/* The notes of this instance, NULL on instance 0; this CPU's own. */
struct mios_notes *mios_notes(void);
struct mios_cpu_note *mios_cpu_note(unsigned int cpu);

/* alive.c: each CPU says once a second that it goes on */
int mios_alive_init(void);
void mios_alive_exit(void);

#endif /* MIOS_FENCE_H */
