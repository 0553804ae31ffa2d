// SPDX-License-Identifier: GPL-2.0
/*
 * Messages between nodes: which node an interrupt goes to, that what one sends
 * another one takes for the same, and that a peer which says what it has no
 * business to say ends the guest.  What route.c calls is here.
 */
#include "../../../userspace/mios-dsm/runtime/mios_dsm.h"
#include "../../../userspace/mios-vmm/bus.h"
#include "../../../userspace/mios-vmm/cpu.h"
#include "../../../userspace/mios-vmm/end.h"
#include "test.h"

static void (*hear)(int node, const void *data, size_t len, void *arg);
static struct shape shape = { .nodes = 3, .cpus_each = 3 };
static struct apic_ipi came;
static struct access queued;
static uint8_t frame[MIOS_DSM_TALK_MAX];
static size_t length;
static uint64_t answered;
static int sent_to, here, queues, answers, broken, deaths, ends;

int mios_dsm_listen(mios_dsm_heard *heard, void *arg)
{
	CHECK(!arg);
	hear = heard;
	return 0;
}

/* A bit for each node that it went to; all hear the same. */
int mios_dsm_send(int node, const void *data, size_t len)
{
	CHECK(node != shape.self && node < shape.nodes && len <= sizeof(frame));
	CHECK(!sent_to || (length == len && !memcmp(frame, data, len)));
	memcpy(frame, data, len);
	length = len;
	sent_to |= 1 << node;
	return 0;
}

void cpu_interrupt(const struct apic_ipi *ipi)
{
	came = *ipi;
	here++;
}

bool cpu_answer(uint32_t id, uint64_t value)
{
	answered = value;
	answers++;
	return id == shape_cpu(&shape, shape.self, 0);
}

bool bus_queue(const struct access *a)
{
	queued = *a;
	return ++queues == 1;
}

void end_told(uint8_t status)
{
	ends += status;
}

void end_died(int node)
{
	deaths |= 1 << node;
}

void end_broken(int node, const char *why)
{
	(void)node;
	CHECK(*why);
	broken++;
}

int say(const char *fmt, ...)
{
	(void)fmt;
	return -1;
}

static void begin(uint16_t self)
{
	shape.self = self;
	sent_to = here = queues = answers = broken = 0;
	CHECK(!route_start(&shape));
}

/* What was sent last reaches another node. */
static void arrives(uint16_t from, uint16_t to)
{
	begin(to);
	hear(from, frame, length, NULL);
}

static void interrupts(void)
{
	struct apic_ipi ipi = { .sender = 4, .dest = 8, .vector = 0x55 };

	/* Three CPUs each: a node has four names, one of which is nobody's. */
	begin(1);
	route_interrupt(&ipi);
	CHECK(sent_to == 1 << 2 && !here);
	arrives(1, 2);
	CHECK(here == 1 && came.vector == 0x55 && came.dest == 8 &&
	      came.sender == 4 && came.mode == APIC_FIXED && !broken);
	begin(2);
	route_interrupt(&ipi);
	CHECK(!sent_to && here == 1);
	ipi.dest = 7;
	route_interrupt(&ipi);
	ipi.dest = 12;
	route_interrupt(&ipi);
	CHECK(!sent_to && here == 1);
	ipi.dest = APIC_EVERYBODY;
	route_interrupt(&ipi);
	CHECK(sent_to == 3 && here == 2);
	begin(1);
	ipi.shorthand = APIC_OTHERS;
	ipi.mode = APIC_NMI;
	route_interrupt(&ipi);
	CHECK(sent_to == 5 && here == 1);
	arrives(1, 0);
	CHECK(came.shorthand == APIC_OTHERS && came.mode == APIC_NMI);
	begin(1);
	ipi.shorthand = APIC_SELF;
	route_interrupt(&ipi);
	CHECK(!sent_to && here == 1);
	/* One of many: the first, as a name of its own. */
	ipi = (struct apic_ipi){ .logical = true, .dest = 0x600, .level = true,
				 .mode = APIC_LOWEST, .vector = 0x66 };
	route_interrupt(&ipi);
	CHECK(sent_to == 1 << 2 && here == 1);
	arrives(1, 2);
	CHECK(came.dest == 9 && !came.logical && came.level);
}

static void accesses(void)
{
	struct access a = { .cpu = 5, .space = ROUTE_PORT, .size = 2,
			    .write = true, .at = 0x3f8, .value = 0x1234 };

	begin(1);
	route_access(&a);
	CHECK(sent_to == 1);
	arrives(1, 0);
	CHECK(queues == 1 && queued.cpu == 5 && queued.at == 0x3f8 &&
	      queued.value == 0x1234 && queued.size == 2 && queued.write);
	/* There is no room: no honest peer has so many. */
	hear(1, frame, length, NULL);
	CHECK(broken == 1);
	/* For a CPU of another's, or to a node that has no devices. */
	arrives(2, 0);
	CHECK(!queues && broken == 1);
	arrives(1, 2);
	CHECK(!queues && broken == 1);
	begin(1);
	a.size = 3;
	route_access(&a);
	arrives(1, 0);
	CHECK(!queues && broken == 1);
	begin(1);
	a.size = 2;
	a.space = ROUTE_SPACES;
	route_access(&a);
	arrives(1, 0);
	CHECK(!queues && broken == 1);
	begin(0);
	route_answer(4, 77);
	CHECK(sent_to == 1 << 1);
	arrives(0, 1);
	CHECK(answers == 1 && answered == 77 && !broken);
	/* Only node 0 answers, and only who has asked. */
	arrives(2, 1);
	CHECK(!answers && broken == 1);
	arrives(0, 2);
	CHECK(broken == 1);
}

static void others(void)
{
	begin(0);
	hear(2, NULL, 0, NULL);
	CHECK(deaths == 1 << 2);
	route_end(3);
	CHECK(sent_to == 6);
	arrives(0, 1);
	CHECK(ends == 3 && !broken);
	hear(0, frame, length - 1, NULL);
	frame[1] = 99;
	hear(0, frame, length, NULL);
	frame[0]++;
	hear(0, frame, length, NULL);
	CHECK(broken == 3 && ends == 3 && !here && !queues && !answers);
}

void route_tests(void)
{
	interrupts();
	accesses();
	others();
}
