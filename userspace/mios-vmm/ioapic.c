// SPDX-License-Identifier: GPL-2.0
/*
 * Twenty-four pins, each with an entry that says whom it interrupts and how.
 * No call of KVM or of the system.
 */
#include "ioapic.h"

#define SELECT		0x00
#define WINDOW		0x10
#define VERSION		1
#define ENTRIES		0x10

#define REMOTE_IRR	(1ull << 14)	/* sent, and not ended yet */
#define LEVEL		(1ull << 15)
#define MASKED		(1ull << 16)
#define READ_ONLY	(1ull << 12 | REMOTE_IRR)

void ioapic_reset(struct ioapic *io, void (*send)(const struct apic_ipi *ipi))
{
	*io = (struct ioapic){ .send = send };
	for (int i = 0; i < IOAPIC_PINS; i++)
		io->entry[i] = MASKED;
}

static void fire(struct ioapic *io, int pin)
{
	uint64_t e = io->entry[pin];
	struct apic_ipi ipi = {
		.sender = APIC_EVERYBODY, .dest = e >> 56, .vector = e,
		.mode = e >> 8 & 7, .logical = e >> 11 & 1, .level = !!(e & LEVEL),
	};

	if (ipi.dest == 0xff)
		ipi.dest = APIC_EVERYBODY;
	if (e & LEVEL)
		io->entry[pin] |= REMOTE_IRR;
	io->send(&ipi);
}

/* A level that is high and not under way. */
static void look(struct ioapic *io, int pin)
{
	uint64_t e = io->entry[pin];

	if (e & LEVEL && !(e & (MASKED | REMOTE_IRR)) && io->line[pin])
		fire(io, pin);
}

uint32_t ioapic_read(const struct ioapic *io, uint64_t offset)
{
	uint32_t reg = io->select;

	if (offset == SELECT)
		return reg;
	if (offset != WINDOW)
		return 0;
	if (reg == VERSION)
		return 0x20 | (IOAPIC_PINS - 1) << 16;
	if (reg < ENTRIES || reg >= ENTRIES + 2 * IOAPIC_PINS)
		return 0;
	reg -= ENTRIES;
	return io->entry[reg / 2] >> (reg % 2 * 32);
}

void ioapic_write(struct ioapic *io, uint64_t offset, uint32_t value)
{
	uint32_t reg = io->select;
	uint64_t *e, old;

	if (offset == SELECT)
		io->select = value & 0xff;
	if (offset != WINDOW || reg < ENTRIES || reg >= ENTRIES + 2 * IOAPIC_PINS)
		return;
	reg -= ENTRIES;
	e = &io->entry[reg / 2];
	old = *e;
	if (reg % 2)
		*e = (*e & UINT32_MAX) | (uint64_t)value << 32;
	else
		*e = (*e & ~(uint64_t)UINT32_MAX) | value;
	*e = (*e & ~READ_ONLY) | (old & READ_ONLY);
	/* An edge has no end that anybody would tell of. */
	if (!(*e & LEVEL))
		*e &= ~REMOTE_IRR;
	look(io, reg / 2);
}

void ioapic_line(struct ioapic *io, int pin, bool high)
{
	bool rises = high && !io->line[pin];

	io->line[pin] = high;
	if (io->entry[pin] & LEVEL)
		look(io, pin);
	else if (rises && !(io->entry[pin] & MASKED))
		fire(io, pin);
}

void ioapic_end(struct ioapic *io, uint8_t vector)
{
	for (int i = 0; i < IOAPIC_PINS; i++) {
		if (!(io->entry[i] & LEVEL) || (uint8_t)io->entry[i] != vector)
			continue;
		io->entry[i] &= ~REMOTE_IRR;
		look(io, i);
	}
}
