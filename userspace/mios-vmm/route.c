// SPDX-License-Identifier: GPL-2.0
/*
 * Messages between the nodes' VMMs.  What a peer sends is checked before it is
 * believed: which node it comes from, and that the CPU which it names is there.
 */
#include <string.h>

#include "../mios-dsm/runtime/mios_dsm.h"
#include "bus.h"
#include "cpu.h"
#include "end.h"
#include "route.h"

#define ROUTE_VERSION	1

enum kind { KIND_IPI, KIND_ACCESS, KIND_ANSWER, KIND_END };

struct message {
	uint8_t version, kind;
	uint8_t mode, vector, shorthand, logical, level;	/* of an IPI */
	uint8_t space, size, write;				/* of an access */
	uint8_t status, zero;
	uint32_t cpu, dest;
	uint32_t zero2;
	uint64_t at, value;
};

_Static_assert(sizeof(struct message) == 40, "alike on all nodes");

static const struct shape *shape;

static void send(uint16_t node, const struct message *m)
{
	/* To who has died: this node is told, too, and ends. */
	(void)mios_dsm_send(node, m, sizeof(*m));
}

static void send_all(const struct message *m)
{
	for (uint16_t i = 0; i < shape->nodes; i++)
		if (i != shape->self)
			send(i, m);
}

/* One of those who are meant takes it: the first. */
static bool lowest(struct apic_ipi *ipi)
{
	for (uint16_t node = 0; node < shape->nodes; node++)
		for (uint16_t i = 0; i < shape->cpus_each; i++) {
			uint32_t cpu = shape_cpu(shape, node, i);

			if (!apic_meant(ipi, cpu))
				continue;
			ipi->shorthand = APIC_NAMED;
			ipi->logical = false;
			ipi->dest = cpu;
			ipi->mode = APIC_FIXED;
			return true;
		}
	return false;
}

void route_interrupt(const struct apic_ipi *asked)
{
	struct apic_ipi ipi = *asked;
	struct message m;
	uint16_t node, index;

	if (ipi.mode == APIC_LOWEST && !lowest(&ipi))
		return;
	m = (struct message){
		.version = ROUTE_VERSION, .kind = KIND_IPI, .mode = ipi.mode,
		.vector = ipi.vector, .shorthand = ipi.shorthand,
		.logical = ipi.logical, .level = ipi.level,
		.cpu = ipi.sender, .dest = ipi.dest,
	};
	if (ipi.shorthand == APIC_NAMED && !ipi.logical &&
	    ipi.dest != APIC_EVERYBODY) {
		if (!shape_place(shape, ipi.dest, &node, &index))
			return;
		if (node == shape->self)
			cpu_interrupt(&ipi);
		else
			send(node, &m);
		return;
	}
	cpu_interrupt(&ipi);
	if (ipi.shorthand != APIC_SELF)
		send_all(&m);
}

void route_access(const struct access *a)
{
	const struct message m = {
		.version = ROUTE_VERSION, .kind = KIND_ACCESS,
		.space = a->space, .size = a->size, .write = a->write,
		.cpu = a->cpu, .at = a->at, .value = a->value,
	};

	send(0, &m);
}

void route_answer(uint32_t cpu, uint64_t value)
{
	const struct message m = {
		.version = ROUTE_VERSION, .kind = KIND_ANSWER, .cpu = cpu,
		.value = value,
	};
	uint16_t node, index;

	if (shape_place(shape, cpu, &node, &index))
		send(node, &m);
}

void route_end(uint8_t status)
{
	const struct message m = {
		.version = ROUTE_VERSION, .kind = KIND_END, .status = status,
	};

	send_all(&m);
}

static void take_interrupt(const struct message *m)
{
	const struct apic_ipi ipi = {
		.sender = m->cpu, .dest = m->dest, .mode = m->mode & 7,
		.vector = m->vector, .shorthand = m->shorthand & 3,
		.logical = m->logical & 1, .level = m->level & 1,
	};

	cpu_interrupt(&ipi);
}

static bool take_access(int from, const struct message *m)
{
	const struct access a = {
		.cpu = m->cpu, .space = m->space, .size = m->size,
		.write = m->write & 1, .at = m->at, .value = m->value,
	};
	uint16_t node, index;

	return !shape->self && m->space < ROUTE_SPACES &&
		(m->size == 1 || m->size == 2 || m->size == 4 || m->size == 8) &&
		shape_place(shape, m->cpu, &node, &index) && node == from &&
		bus_queue(&a);
}

/* On the library's thread: nothing here waits, or sends. */
static void heard(int from, const void *data, size_t len, void *arg)
{
	struct message m;

	(void)arg;
	if (!data) {
		end_died(from);
		return;
	}
	memcpy(&m, data, len < sizeof(m) ? len : sizeof(m));
	if (len != sizeof(m) || m.version != ROUTE_VERSION) {
		end_broken(from, "is of another version: start all nodes with one mios-vmm");
		return;
	}
	switch (m.kind) {
	case KIND_IPI:
		take_interrupt(&m);
		return;
	case KIND_ANSWER:
		if (!from && cpu_answer(m.cpu, m.value))
			return;
		break;
	case KIND_ACCESS:
		if (take_access(from, &m))
			return;
		break;
	case KIND_END:
		end_told(m.status);
		return;
	}
	end_broken(from, "says what makes no sense");
}

int route_start(const struct shape *s)
{
	shape = s;
	if (mios_dsm_listen(heard, NULL))
		return say("a guest takes mios-dsm run --protocol wi (an interrupt must not "
			   "overtake what was stored before it), without --own-faults (KVM does "
			   "not say which page it lacks)");
	return 0;
}
