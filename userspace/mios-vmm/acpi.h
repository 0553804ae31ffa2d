/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The tables that tell the guest which CPUs, memory and devices it has.
 */
#ifndef ACPI_H
#define ACPI_H

#include "vmm.h"

#define ACPI_ROOM	0x10000	/* all of them fit into that */

/*
 * Writes them to at, where the guest finds them at the address VMM_ACPI, the
 * root pointer first; returns how long they are.
 */
uint64_t acpi_write(uint8_t *at, const struct shape *s);

#endif /* ACPI_H */
