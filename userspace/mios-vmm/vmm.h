/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The guest's shape, alike on all nodes, and what every file may say.
 */
#ifndef VMM_H
#define VMM_H

#include <stdbool.h>
#include <stdint.h>

#define VMM_NODES	16
#define VMM_CPUS_EACH	8
#define VMM_PAGE	4096ull
#define VMM_MIB		(1ull << 20)

/* Where things are in the guest's physical memory. */
#define VMM_LOW_END	0x9fc00ull	/* of the memory below the hole */
#define VMM_HIGH	0x100000ull	/* behind it */
#define VMM_ACPI	0xe0000ull
#define VMM_RAM_END	0xc0000000ull	/* devices are above */
#define VMM_IOAPIC	0xfec00000ull
#define VMM_COM1	0x3f8
#define VMM_COM1_PIN	4
/* Each virtio device has a page and a pin of its own. */
#define VMM_VIRTIO	0xd0000000ull
#define VMM_VIRTIO_PIN	16
#define VMM_VIRTIO_MAX	8
/* A byte written there ends the guest: 0 in order. */
#define VMM_END_PORT	0x600

struct shape {
	uint16_t nodes, self;
	uint16_t cpus_each;
	uint16_t virtio;	/* devices, at node 0 */
	uint64_t each;		/* bytes of memory at each node */
	uint64_t slow;		/* the guest's clock goes so many times slower */
};

/* A CPU's name is its APIC's: the node is in the upper bits. */
static inline uint32_t shape_shift(const struct shape *s)
{
	uint32_t shift = 0;

	while (1u << shift < s->cpus_each)
		shift++;
	return shift;
}

static inline uint32_t shape_cpu(const struct shape *s, uint16_t node,
				 uint16_t index)
{
	return (uint32_t)node << shape_shift(s) | index;
}

/* Which node has that CPU, and which of its CPUs it is; false: there is none. */
static inline bool shape_place(const struct shape *s, uint32_t cpu,
			       uint16_t *node, uint16_t *index)
{
	*node = cpu >> shape_shift(s);
	*index = cpu & ((1u << shape_shift(s)) - 1);
	return cpu >> shape_shift(s) < s->nodes && *index < s->cpus_each;
}

/* One line on stderr, and which node says it.  Returns -1. */
int say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif /* VMM_H */
