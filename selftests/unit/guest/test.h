/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the tests of a guest's devices share: each is a file of its own.
 */
#ifndef TEST_H
#define TEST_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "../test.h"

void apic_tests(void);
void ioapic_tests(void);
void serial_tests(void);
void acpi_tests(void);
void route_tests(void);

#endif /* TEST_H */
