/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The two sides of a console: terminal.c is the instance whose console it is
 * (an hvc device), attach.c the one where somebody types (a file).
 */
#ifndef _MIOS_CONSOLE_H
#define _MIOS_CONSOLE_H

#include "../core/link/link.h"

int mios_terminal_init(void);
void mios_terminal_exit(void);
void mios_terminal_left(u32 instance, u32 incarnation);

int mios_attach_init(void);
void mios_attach_exit(void);
void mios_attach_left(u32 instance, u32 incarnation);

#endif /* _MIOS_CONSOLE_H */
