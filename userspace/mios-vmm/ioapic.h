/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The I/O APIC of the node that has the devices: lines become interrupts.  Who
 * calls has the lock of the devices; what it sends goes to a function that was
 * given to it.
 */
#ifndef IOAPIC_H
#define IOAPIC_H

#include "apic.h"

#define IOAPIC_PINS	24

struct ioapic {
	uint32_t select;
	uint64_t entry[IOAPIC_PINS];
	bool line[IOAPIC_PINS];
	void (*send)(const struct apic_ipi *ipi);
};

void ioapic_reset(struct ioapic *io, void (*send)(const struct apic_ipi *ipi));
uint32_t ioapic_read(const struct ioapic *io, uint64_t offset);
void ioapic_write(struct ioapic *io, uint64_t offset, uint32_t value);
void ioapic_line(struct ioapic *io, int pin, bool high);
/* A CPU is done with a level interrupt of that vector. */
void ioapic_end(struct ioapic *io, uint8_t vector);

#endif /* IOAPIC_H */
