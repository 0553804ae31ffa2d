/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What lend.c and lend_status.c tell others about memory that instances lend each
 * other.
 */
#ifndef MIOS_LEND_H
#define MIOS_LEND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

bool lend_parameter(const char *name, char *text, size_t size);
void lend_status(uint64_t which, int json);

#endif /* MIOS_LEND_H */
