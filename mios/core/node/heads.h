/* SPDX-License-Identifier: GPL-2.0 */
/* heads.c: nothing remains of it in a build without MIOS_INJECT. */
#ifndef MIOS_BOOT_HEADS_H
#define MIOS_BOOT_HEADS_H

#ifdef MIOS_INJECT
void mios_heads_init(void);
void mios_heads_exit(void);
#else
static inline void mios_heads_init(void) { }
static inline void mios_heads_exit(void) { }
#endif

#endif /* MIOS_BOOT_HEADS_H */
