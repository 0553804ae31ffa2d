// SPDX-License-Identifier: GPL-2.0
/*
 * The I/O APIC: edges and levels, masks, whom an entry names.  The serial port:
 * when its line is high.
 */
#include "../../../userspace/mios-vmm/ioapic.h"
#include "../../../userspace/mios-vmm/serial.h"
#include "test.h"

static struct ioapic io;
static struct serial s;
static struct apic_ipi last;
static char said[64];
static int sends, rises, length;
static bool high;

static void send(const struct apic_ipi *ipi)
{
	last = *ipi;
	sends++;
}

static void put(uint8_t byte)
{
	said[length++ % sizeof(said)] = byte;
}

static void line(bool is)
{
	rises += is && !high;
	high = is;
}

static void reg_write(uint32_t reg, uint32_t value)
{
	ioapic_write(&io, 0, reg);
	ioapic_write(&io, 0x10, value);
}

static uint32_t reg_read(uint32_t reg)
{
	ioapic_write(&io, 0, reg);
	return ioapic_read(&io, 0x10);
}

static void edges(void)
{
	ioapic_reset(&io, send);
	CHECK(reg_read(1) == 0x170020 && !reg_read(0x40));
	CHECK(reg_read(0x18) == 0x10000);
	ioapic_line(&io, 4, true);
	CHECK(!sends);
	ioapic_line(&io, 4, false);
	reg_write(0x19, 3 << 24);
	reg_write(0x18, 0x35);
	ioapic_line(&io, 4, true);
	CHECK(sends == 1 && last.vector == 0x35 && last.dest == 3);
	CHECK(!last.logical && !last.level && last.shorthand == APIC_NAMED);
	ioapic_line(&io, 4, true);
	ioapic_end(&io, 0x35);
	CHECK(sends == 1);
	ioapic_line(&io, 4, false);
	ioapic_line(&io, 4, true);
	CHECK(sends == 2);
	reg_write(0x19, 0xffu << 24);
	ioapic_line(&io, 4, false);
	ioapic_line(&io, 4, true);
	CHECK(last.dest == APIC_EVERYBODY);
	reg_write(0x99, 1);		/* behind the last pin: nobody's */
	sends = 0;
}

static void levels(void)
{
	ioapic_reset(&io, send);
	reg_write(0x14, 0x8044);
	ioapic_line(&io, 2, true);
	CHECK(sends == 1 && last.level && reg_read(0x14) == 0xc044);
	ioapic_line(&io, 2, true);
	CHECK(sends == 1);
	/* It is still high when it ends: once more. */
	ioapic_end(&io, 0x44);
	CHECK(sends == 2);
	ioapic_line(&io, 2, false);
	ioapic_end(&io, 0x45);
	CHECK(reg_read(0x14) == 0xc044);
	ioapic_end(&io, 0x44);
	CHECK(sends == 2 && reg_read(0x14) == 0x8044);
	/* Raised while masked, it comes when the mask goes. */
	reg_write(0x14, 0x18044);
	ioapic_line(&io, 2, true);
	CHECK(sends == 2);
	reg_write(0x14, 0x8044);
	CHECK(sends == 3);
	/* What says that it is under way is not the guest's to write. */
	reg_write(0x14, 0x8044);
	CHECK(sends == 3 && reg_read(0x14) == 0xc044);
	/* An edge has none: Linux ends a level by making it one for a moment. */
	reg_write(0x14, 0x10044);
	CHECK(reg_read(0x14) == 0x10044);
}

void ioapic_tests(void)
{
	edges();
	levels();
}

static void sending(void)
{
	serial_reset(&s, put, line);
	CHECK((serial_read(&s, 5) & 0x60) == 0x60 && (serial_read(&s, 2) & 1));
	/* Who begins to listen is told that there is room. */
	serial_write(&s, 1, 2);
	CHECK(high && rises == 1);
	serial_write(&s, 1, 0);
	CHECK((serial_read(&s, 2) & 1) && !high);
	rises = 0;
	serial_write(&s, 0, 'a');
	CHECK(length == 1 && said[0] == 'a' && !high);
	serial_write(&s, 1, 2);
	CHECK(high && rises == 1);
	CHECK((serial_read(&s, 2) & 0xf) == 2 && !high);
	/* Each byte is an edge of its own. */
	serial_write(&s, 0, 'b');
	serial_write(&s, 0, 'c');
	CHECK(rises == 3 && length == 3 && high);
	serial_write(&s, 1, 0);
	CHECK(!high);
	serial_write(&s, 3, 0x80);
	serial_write(&s, 0, 12);
	CHECK(serial_read(&s, 0) == 12 && length == 3);
	serial_write(&s, 3, 3);
}

static void receiving(void)
{
	serial_reset(&s, put, line);
	for (int i = 0; i < SERIAL_FIFO + 1; i++)
		serial_receive(&s, i);
	CHECK(!serial_room(&s) && !high);
	serial_write(&s, 1, 1);
	CHECK(high && (serial_read(&s, 2) & 0xf) == 4 && high);
	for (int i = 0; i < SERIAL_FIFO; i++) {
		CHECK(serial_read(&s, 5) & 1);
		CHECK(serial_read(&s, 0) == i);
	}
	CHECK(!high && !(serial_read(&s, 5) & 1) && !serial_read(&s, 0));
	serial_receive(&s, 'x');
	serial_write(&s, 2, 2);
	CHECK(!high && serial_room(&s) == SERIAL_FIFO);
	/* Ends together: it hears itself, and nobody else. */
	length = 0;
	serial_write(&s, 4, 0x1a);
	CHECK(!serial_room(&s) && (serial_read(&s, 6) & 0xf0) == 0x90);
	serial_write(&s, 0, 'y');
	CHECK(!length && serial_read(&s, 0) == 'y');
}

void serial_tests(void)
{
	sending();
	receiving();
}
