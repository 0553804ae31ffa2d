/* SPDX-License-Identifier: GPL-2.0 */
/* A program that is run here, and waited for: see foreground.c. */
#ifndef MIOS_FOREGROUND_H
#define MIOS_FOREGROUND_H

int foreground_run(char **argv, int *status);

#endif /* MIOS_FOREGROUND_H */
