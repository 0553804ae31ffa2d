/* SPDX-License-Identifier: GPL-2.0 */
/* The terminal on standard input in another mode for a while: tty.c */
#ifndef MIOS_TTY_H
#define MIOS_TTY_H

#include <termios.h>

int tty_change(void (*change)(struct termios *mode));
void tty_restore(void);

#endif /* MIOS_TTY_H */
