// SPDX-License-Identifier: GPL-2.0
/*
 * The ACPI tables, read as an operating system reads them: from the root
 * pointer, with checksums, entry by entry, for guests of several shapes.
 */
#include "../../../userspace/mios-vmm/acpi.h"
#include "test.h"

static uint8_t tables[ACPI_ROOM];
static uint64_t length;

static uint64_t word(uint64_t at, int bytes)
{
	uint64_t value = 0;

	CHECK(at >= VMM_ACPI && at + bytes <= VMM_ACPI + length);
	memcpy(&value, tables + at - VMM_ACPI, bytes);
	return value;
}

static bool sums(uint64_t at, uint64_t bytes)
{
	uint8_t all = 0;

	for (uint64_t i = 0; i < bytes; i++)
		all += word(at + i, 1);
	return !all;
}

static bool named(uint64_t at, const char *name)
{
	return !memcmp(tables + at - VMM_ACPI, name, 4);
}

static uint64_t table(const char *name)
{
	uint64_t xsdt = word(VMM_ACPI + 24, 8), size = word(xsdt + 4, 4);

	CHECK(named(xsdt, "XSDT") && sums(xsdt, size));
	for (uint64_t i = 36; i < size; i += 8) {
		uint64_t at = word(xsdt + i, 8);

		CHECK(sums(at, word(at + 4, 4)));
		if (named(at, name))
			return at;
	}
	return 0;
}

static void madt(const struct shape *s)
{
	uint64_t at = table("APIC"), end = at + word(at + 4, 4);
	bool seen[256] = { };
	int cpus = 0, ioapics = 0;

	for (at += 44; at < end; at += word(at + 1, 1)) {
		uint16_t node, index;
		uint8_t id = word(at + 3, 1);

		CHECK(word(at + 1, 1));
		if (word(at, 1) == 1) {
			CHECK(word(at + 4, 4) == VMM_IOAPIC);
			ioapics++;
			continue;
		}
		CHECK(!word(at, 1) && word(at + 4, 4) == 1);
		CHECK(shape_place(s, id, &node, &index) && !seen[id]);
		seen[id] = true;
		cpus++;
	}
	CHECK(at == end && ioapics == 1 && cpus == s->nodes * s->cpus_each);
}

/* All memory is at the node whose piece it is, and each CPU at its own. */
static void srat(const struct shape *s)
{
	uint64_t at = table("SRAT"), end = at + word(at + 4, 4), bytes = 0;
	int cpus = 0;

	for (at += 48; at < end; at += word(at + 1, 1)) {
		uint16_t node, index;

		if (!word(at, 1)) {
			CHECK(word(at + 4, 4) == 1);
			CHECK(shape_place(s, word(at + 3, 1), &node, &index));
			CHECK(word(at + 2, 1) == node);
			cpus++;
			continue;
		}
		CHECK(word(at, 1) == 1 && word(at + 28, 4) == 1);
		CHECK(word(at + 8, 8) / s->each == word(at + 2, 4));
		CHECK((word(at + 8, 8) + word(at + 16, 8) - 1) / s->each ==
		      word(at + 2, 4));
		bytes += word(at + 16, 8);
	}
	CHECK(at == end && cpus == s->nodes * s->cpus_each);
	/* But for the hole below 1 MiB. */
	CHECK(bytes == s->nodes * s->each - 0x60000);
}

/* The length of a package of AML, of one byte or two; at: where it stands. */
static uint64_t package(uint64_t at)
{
	uint64_t first = word(at, 1);

	CHECK(first >> 6 < 2);
	return first >> 6 ? (first & 0xf) | word(at + 1, 1) << 4 : first;
}

/* A virtio device: its name, address and interrupt. */
static uint64_t virtio(uint64_t device, uint16_t number)
{
	uint64_t end = device + 2 + package(device + 2), crs = end - 23;

	CHECK(word(device, 2) == 0x825b);
	CHECK(!memcmp(tables + device + 4 - VMM_ACPI, "\\._SB_VIR", 9));
	CHECK(word(device + 13, 1) == (uint64_t)'0' + number && word(end - 33, 1) == number);
	CHECK(!memcmp(tables + device + 20 - VMM_ACPI, "LNRO0005", 9));
	CHECK(crs - 3 + package(crs - 3) == end && word(crs - 1, 1) == 23);
	CHECK(word(crs, 4) == 0x01000986);
	CHECK(word(crs + 4, 4) == VMM_VIRTIO + number * VMM_PAGE);
	CHECK(word(crs + 8, 4) == VMM_PAGE);
	CHECK(word(crs + 12, 4) == 0x01000689 && word(crs + 16, 1) == 1);
	CHECK(word(crs + 17, 4) == (uint32_t)VMM_VIRTIO_PIN + number);
	CHECK(word(end - 2, 2) == 0x79);
	return end;
}

static void nested(uint64_t dsdt, const struct shape *s)
{
	uint64_t all = dsdt + word(dsdt + 4, 4), scope = dsdt + 36;
	uint64_t device = scope + 7, end = scope + 1 + package(scope + 1);

	CHECK(word(scope, 1) == 0x10);
	CHECK(word(device, 2) == 0x825b);
	CHECK(device + 2 + package(device + 2) == end);
	CHECK(word(end - 2, 2) == 0x79 && word(end - 11, 1) == 0x89);
	CHECK(word(end - 6, 4) == VMM_COM1_PIN);
	CHECK(word(end - 17, 2) == VMM_COM1);
	for (uint16_t i = 0; i < s->virtio; i++)
		end = virtio(end, i);
	CHECK(end == all);
}

static void shape_test(uint16_t nodes, uint16_t each)
{
	const struct shape s = { .nodes = nodes, .cpus_each = each,
				 .virtio = each % (VMM_VIRTIO_MAX + 1),
				 .each = 100 * VMM_MIB };
	uint64_t fadt;

	memset(tables, 0xee, sizeof(tables));
	length = acpi_write(tables, &s);
	CHECK(length < VMM_HIGH - VMM_ACPI);
	CHECK(!memcmp(tables, "RSD PTR ", 8) && sums(VMM_ACPI, 20));
	CHECK(sums(VMM_ACPI, 36));
	fadt = table("FACP");
	CHECK(word(fadt + 4, 4) == 276 && word(fadt + 112, 4) & 1 << 20);
	CHECK(word(fadt + 120, 8) == VMM_END_PORT);
	CHECK(named(word(fadt + 140, 8), "DSDT"));
	CHECK(sums(word(fadt + 140, 8), word(word(fadt + 140, 8) + 4, 4)));
	nested(word(fadt + 140, 8), &s);
	madt(&s);
	srat(&s);
}

void acpi_tests(void)
{
	for (uint16_t nodes = 1; nodes <= VMM_NODES; nodes++)
		for (uint16_t each = 1; each <= VMM_CPUS_EACH; each++)
			shape_test(nodes, each);
}
