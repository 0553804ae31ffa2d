// SPDX-License-Identifier: GPL-2.0
/*
 * ACPI tables of a machine without chipset (hardware-reduced): CPUs and I/O
 * APIC (MADT), which CPUs and which memory lie at one node (SRAT), how to reset
 * it (FADT), its serial port and virtio devices (DSDT).  No call of KVM or of the system.
 */
#include <stddef.h>
#include <string.h>

#include "acpi.h"

struct header {
	char signature[4];
	uint32_t length;
	uint8_t revision, checksum;
	char oem[6], table[8];
	uint32_t oem_revision;
	char creator[4];
	uint32_t creator_revision;
} __attribute__((packed));

struct address {
	uint8_t space, width, offset, access;
	uint64_t address;
} __attribute__((packed));

struct fadt {
	struct header h;
	uint32_t facs, dsdt;
	uint8_t legacy[65];	/* a chipset's, none */
	uint16_t boot;
	uint8_t pad;
	uint32_t flags;
	struct address reset;
	uint8_t reset_value;
	uint16_t arm;
	uint8_t minor;
	uint64_t x_facs, x_dsdt;
	struct address registers[10];	/* of no use here */
	uint64_t hypervisor;
} __attribute__((packed));

_Static_assert(offsetof(struct fadt, boot) == 109, "as ACPI has it");
_Static_assert(offsetof(struct fadt, x_dsdt) == 140, "as ACPI has it");
_Static_assert(sizeof(struct fadt) == 276, "as ACPI has it");

#define FADT_NO_VGA	(1 << 2)
#define FADT_NO_CMOS	(1 << 5)
#define FADT_WBINVD	(1 << 0)
#define FADT_RESET	(1 << 10)
#define FADT_PHYSICAL	(1 << 19)	/* how APICs are called */
#define FADT_REDUCED	(1 << 20)

struct writer {
	uint8_t *base;
	uint64_t used;
	const struct shape *s;
};

static void *put(struct writer *w, const void *bytes, uint64_t len)
{
	void *at = w->base + w->used;

	memcpy(at, bytes, len);
	w->used += len;
	return at;
}

static uint8_t sum(const void *bytes, uint64_t len)
{
	const uint8_t *at = bytes;
	uint8_t all = 0;

	while (len--)
		all += *at++;
	return all;
}

/* The next one begins at a whole number of 16 bytes. */
static uint64_t begin(struct writer *w, const char *signature, uint8_t revision)
{
	struct header h = {
		.revision = revision, .oem = "MIOS  ", .table = "MIOSVMM ",
		.oem_revision = 1, .creator = "MIOS", .creator_revision = 1,
	};

	w->used = (w->used + 15) & ~15ull;
	memcpy(h.signature, signature, sizeof(h.signature));
	put(w, &h, sizeof(h));
	return w->used - sizeof(h);
}

/* Its address in the guest. */
static uint64_t end(struct writer *w, uint64_t table)
{
	struct header *h = (struct header *)(w->base + table);

	h->length = w->used - table;
	h->checksum = -sum(h, h->length);
	return VMM_ACPI + table;
}

/*
 * Device (\_SB.VIRn) { _HID LNRO0005, _UID n, _CRS: its page and its interrupt, a
 * level }
 */
static void virtio(struct writer *w, uint16_t number)
{
	const uint64_t at = VMM_VIRTIO + number * VMM_PAGE;
	const uint8_t code[] = {
		0x5b, 0x82, 0x42, 0x04, '\\', '.', '_', 'S', 'B', '_',
		'V', 'I', 'R', '0' + number,
		0x08, '_', 'H', 'I', 'D',
		0x0d, 'L', 'N', 'R', 'O', '0', '0', '0', '5', 0x00,
		0x08, '_', 'U', 'I', 'D', 0x0a, number,
		0x08, '_', 'C', 'R', 'S', 0x11, 0x1a, 0x0a, 0x17,
		0x86, 0x09, 0x00, 0x01, at & 0xff, at >> 8 & 0xff,
		at >> 16 & 0xff, at >> 24, 0x00, VMM_PAGE >> 8, 0x00, 0x00,
		0x89, 0x06, 0x00, 0x01, 0x01, VMM_VIRTIO_PIN + number,
		0x00, 0x00, 0x00,
		0x79, 0x00,
	};

	put(w, code, sizeof(code));
}

/*
 * Scope (\_SB) { Device (COM1) { _HID PNP0501, _UID 0, _CRS: its ports and its
 * interrupt, an edge } }
 */
static uint64_t dsdt(struct writer *w)
{
	static const uint8_t code[] = {
		0x10, 0x39, '\\', '_', 'S', 'B', '_',
		0x5b, 0x82, 0x31, 'C', 'O', 'M', '1',
		0x08, '_', 'H', 'I', 'D', 0x0c, 0x41, 0xd0, 0x05, 0x01,
		0x08, '_', 'U', 'I', 'D', 0x00,
		0x08, '_', 'C', 'R', 'S', 0x11, 0x16, 0x0a, 0x13,
		0x47, 0x01, VMM_COM1 & 0xff, VMM_COM1 >> 8, VMM_COM1 & 0xff,
		VMM_COM1 >> 8, 0x01, 0x08,
		0x89, 0x06, 0x00, 0x03, 0x01, VMM_COM1_PIN, 0x00, 0x00, 0x00,
		0x79, 0x00,
	};
	uint64_t table = begin(w, "DSDT", 2);

	put(w, code, sizeof(code));
	for (uint16_t i = 0; i < w->s->virtio; i++)
		virtio(w, i);
	return end(w, table);
}

static uint64_t fadt(struct writer *w, uint64_t dsdt_at)
{
	uint64_t table = begin(w, "FACP", 6);
	struct fadt f = {
		.dsdt = dsdt_at, .x_dsdt = dsdt_at, .minor = 4,
		.boot = FADT_NO_VGA | FADT_NO_CMOS,
		.flags = FADT_WBINVD | FADT_RESET | FADT_PHYSICAL | FADT_REDUCED,
		.reset = { .space = 1, .width = 8, .access = 1,
			   .address = VMM_END_PORT },
	};

	put(w, (uint8_t *)&f + sizeof(f.h), sizeof(f) - sizeof(f.h));
	return end(w, table);
}

static uint64_t madt(struct writer *w)
{
	static const uint32_t head[] = { 0xfee00000, 0 };
	const struct {
		uint8_t type, length, id, pad;
		uint32_t address, first;
	} __attribute__((packed)) ioapic = { 1, 12, 0, 0, VMM_IOAPIC, 0 };
	uint64_t table = begin(w, "APIC", 4);
	uint32_t nr = 0;

	put(w, head, sizeof(head));
	for (uint16_t node = 0; node < w->s->nodes; node++)
		for (uint16_t i = 0; i < w->s->cpus_each; i++, nr++) {
			uint8_t cpu[8] = { 0, 8, nr,
				shape_cpu(w->s, node, i), 1 };

			put(w, cpu, sizeof(cpu));
		}
	put(w, &ioapic, sizeof(ioapic));
	return end(w, table);
}

static void srat_memory(struct writer *w, uint16_t node, uint64_t from,
			uint64_t to)
{
	const struct {
		uint8_t type, length;
		uint32_t domain;
		uint16_t pad;
		uint64_t base, bytes;
		uint32_t pad2, flags;
		uint64_t pad3;
	} __attribute__((packed)) memory = { 1, 40, node, 0, from, to - from, 0,
		1, 0 };

	put(w, &memory, sizeof(memory));
}

static uint64_t srat(struct writer *w)
{
	static const uint32_t head[] = { 1, 0, 0 };
	uint64_t table = begin(w, "SRAT", 3);

	put(w, head, sizeof(head));
	for (uint16_t node = 0; node < w->s->nodes; node++) {
		uint64_t first = node * w->s->each;

		for (uint16_t i = 0; i < w->s->cpus_each; i++) {
			uint8_t cpu[16] = { 0, 16, node,
				shape_cpu(w->s, node, i), 1 };

			put(w, cpu, sizeof(cpu));
		}
		if (!node)
			srat_memory(w, node, 0, 0xa0000);
		srat_memory(w, node, node ? first : VMM_HIGH,
			    first + w->s->each);
	}
	return end(w, table);
}

uint64_t acpi_write(uint8_t *at, const struct shape *s)
{
	struct writer w = { .base = at, .s = s };
	struct {
		char signature[8];
		uint8_t checksum;
		char oem[6];
		uint8_t revision;
		uint32_t rsdt, length;
		uint64_t xsdt;
		uint8_t extended, pad[3];
	} __attribute__((packed)) root = {
		.signature = { 'R', 'S', 'D', ' ', 'P', 'T', 'R', ' ' },
		.oem = { 'M', 'I', 'O', 'S', ' ', ' ' }, .revision = 2,
		.length = sizeof(root),
	};
	uint64_t tables[3], xsdt;

	_Static_assert(sizeof(root) == 36, "as ACPI has it");
	w.used = sizeof(root);
	tables[0] = fadt(&w, dsdt(&w));
	tables[1] = madt(&w);
	tables[2] = srat(&w);
	xsdt = begin(&w, "XSDT", 1);
	put(&w, tables, sizeof(tables));
	root.xsdt = end(&w, xsdt);
	root.checksum = -sum(&root, 20);
	root.extended = -sum(&root, sizeof(root));
	memcpy(at, &root, sizeof(root));
	return w.used;
}
