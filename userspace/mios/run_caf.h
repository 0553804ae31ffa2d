/* SPDX-License-Identifier: GPL-2.0 */
/* Coarray programs in mios run: see run_caf.c. */
#ifndef MIOS_RUN_CAF_H
#define MIOS_RUN_CAF_H

#include <stdbool.h>

bool caf_program(const char *program);

/* What the images find each other by; caf_end() whatever has become of it. */
int caf_begin(int ring);
void caf_end(void);

#endif /* MIOS_RUN_CAF_H */
