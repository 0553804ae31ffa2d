// SPDX-License-Identifier: GPL-2.0
/*
 * The local APIC: who is meant by an interrupt, in which order they are taken,
 * what INIT forgets, when the timer is due, what is refused.
 */
#include "../../../userspace/mios-vmm/apic.h"
#include "test.h"

enum {
	ID = 0x802, VERSION = 0x803, TPR = 0x808, PPR = 0x80a, EOI = 0x80b,
	LDR = 0x80d, SVR = 0x80f, ISR = 0x810, TMR = 0x818, IRR = 0x820,
	ESR = 0x828, ICR = 0x830, TIMER = 0x832, LINT0 = 0x835,
	INITIAL = 0x838, CURRENT = 0x839, DIVIDE = 0x83e, SELF = 0x83f,
};

static struct apic a;
static struct apic_ipi ipi;
static struct apic_time now;

static uint64_t get(uint32_t msr)
{
	uint64_t value = 0;

	CHECK(apic_read(&a, msr, &now, &value));
	return value;
}

static enum apic_wish set(uint32_t msr, uint64_t value)
{
	return apic_write(&a, msr, value, &now, &ipi);
}

static void fixed(uint8_t vector, bool level)
{
	apic_deliver(&a, &(struct apic_ipi){ .vector = vector, .level = level });
}

static void begin(uint32_t id)
{
	now = (struct apic_time){ .ns = 1000, .tsc = 5000, .khz = 2000000 };
	apic_reset(&a, id);
	CHECK(set(SVR, 0x1ff) == APIC_NOTHING);
}

static void registers(void)
{
	uint64_t value;

	apic_reset(&a, 0x23);
	CHECK(get(ID) == 0x23 && get(LDR) == 0x20008 && get(SVR) == 0xff);
	CHECK((get(VERSION) & 0xff) == 0x14 && get(VERSION) >> 16 == 5);
	CHECK(get(TIMER) == 0x10000 && get(LINT0) == 0x10000);
	CHECK(!apic_read(&a, 0x804, &now, &value));
	CHECK(!apic_read(&a, 0x82f, &now, &value));
	CHECK(!apic_read(&a, 0x838 + 2, &now, &value));
	CHECK(!apic_read(&a, EOI, &now, &value));
	CHECK(set(ID, 1) == APIC_REFUSED && set(VERSION, 1) == APIC_REFUSED);
	CHECK(set(IRR, 0) == APIC_REFUSED && set(PPR, 0) == APIC_REFUSED);
	CHECK(set(TPR, 0x100) == APIC_REFUSED);
	CHECK(set(SVR, 1ull << 32) == APIC_REFUSED);
	CHECK(set(EOI, 1) == APIC_REFUSED && set(ESR, 1) == APIC_REFUSED);
	CHECK(set(DIVIDE, 4) == APIC_REFUSED && set(SELF, 256) == APIC_REFUSED);
	CHECK(set(ICR, 1 << 13) == APIC_REFUSED);
	CHECK(set(ICR, 1 << 20) == APIC_REFUSED);
	CHECK(set(TIMER, 1 << 20) == APIC_REFUSED);
	/* Off: it keeps everything masked, and takes nothing. */
	CHECK(set(TIMER, 0x30) == APIC_NOTHING && get(TIMER) == 0x10030);
	fixed(0x40, false);
	CHECK(apic_next(&a) < 0);
}

/* Higher classes first, and while one is served only those above it. */
static void priorities(void)
{
	begin(0);
	fixed(0x31, false);
	fixed(0x45, false);
	fixed(0x42, false);
	CHECK(apic_next(&a) == 0x45);
	apic_taken(&a, 0x45);
	CHECK(get(PPR) == 0x40 && get(ISR + 2) == 1 << 5);
	CHECK(apic_next(&a) < 0);
	fixed(0x50, false);
	CHECK(apic_next(&a) == 0x50);
	apic_taken(&a, 0x50);
	CHECK(set(EOI, 0) == APIC_NOTHING && get(PPR) == 0x40);
	CHECK(set(EOI, 0) == APIC_NOTHING && apic_next(&a) == 0x42);
	CHECK(set(TPR, 0x4f) == APIC_NOTHING && apic_next(&a) < 0);
	CHECK(get(PPR) == 0x4f);
	CHECK(set(TPR, 0x3f) == APIC_NOTHING && apic_next(&a) == 0x42);
	apic_taken(&a, 0x42);
	/* The same vector again while it is served: once more, later. */
	fixed(0x42, false);
	CHECK(apic_next(&a) < 0 && get(IRR + 2) == 1 << 2);
	CHECK(set(EOI, 0) == APIC_NOTHING && apic_next(&a) == 0x42);
	CHECK(set(EOI, 0) == APIC_NOTHING);	/* nothing is served: nothing */
	fixed(5, false);
	CHECK(!get(IRR) && !get(ESR));
	CHECK(set(ESR, 0) == APIC_NOTHING && get(ESR) == 0x40);
}

/* Only the end of a level interrupt is told. */
static void ends(void)
{
	begin(7);
	fixed(0x60, true);
	apic_taken(&a, apic_next(&a));
	CHECK(get(TMR + 3) == 1);
	CHECK(set(EOI, 0) == APIC_ENDED && ipi.vector == 0x60);
	fixed(0x60, false);
	apic_taken(&a, apic_next(&a));
	CHECK(set(EOI, 0) == APIC_NOTHING);
}

/* Who of these is meant, a bit each. */
static uint32_t meant(void)
{
	static const uint32_t ids[] = { 0, 1, 2, 0x10, 0x11 };
	uint32_t bits = 0;

	for (int i = 0; i < 5; i++)
		bits |= (uint32_t)apic_meant(&ipi, ids[i]) << i;
	return bits;
}

static uint32_t sent(uint64_t icr)
{
	CHECK(set(ICR, icr) == APIC_SEND);
	CHECK(get(ICR) == icr);
	return meant();
}

static void commands(void)
{
	begin(1);
	CHECK(sent(0x40 | 2ull << 32) == 1 << 2 && ipi.vector == 0x40);
	CHECK(ipi.mode == APIC_FIXED && ipi.sender == 1);
	CHECK(sent(0x40 | 0x40000) == 1 << 1);
	CHECK(sent(0x40 | 0x80000) == 0x1f);
	CHECK(sent(0xc0400) == 0x1d && ipi.mode == APIC_NMI);
	CHECK(sent(0x40 | 0xffffffffull << 32) == 0x1f);
	CHECK(sent(0x40 | 0x800 | 3ull << 32) == 3);
	CHECK(sent(0x40 | 0x800 | 0x10003ull << 32) == 0x18);
	CHECK(sent(0x4500 | 2ull << 32) == 1 << 2 && ipi.mode == APIC_INIT);
	CHECK(sent(0x4608 | 2ull << 32) == 1 << 2);
	CHECK(ipi.mode == APIC_SIPI && ipi.vector == 8);
	CHECK(set(ICR, 0x8500 | 2ull << 32) == APIC_NOTHING);
	CHECK(set(ICR, 0x200) == APIC_NOTHING);		/* SMI: there is none */
	CHECK(set(ICR, 5) == APIC_NOTHING && set(ESR, 0) == APIC_NOTHING);
	CHECK(get(ESR) == 0x20);
	CHECK(set(SELF, 0x51) == APIC_SEND && meant() == 1 << 1);
	CHECK(ipi.vector == 0x51);
}

static void start_up(void)
{
	const struct apic_ipi init = { .mode = APIC_INIT };
	const struct apic_ipi sipi = { .mode = APIC_SIPI, .vector = 0x99 };

	begin(3);
	fixed(0x40, false);
	apic_deliver(&a, &(struct apic_ipi){ .mode = APIC_NMI });
	CHECK(a.nmi);
	apic_deliver(&a, &sipi);
	apic_deliver(&a, &init);
	/* One that came before INIT is forgotten with all else. */
	CHECK(a.init && !a.sipi);
	apic_init(&a);
	CHECK(!a.init && !a.nmi && !a.sipi && apic_next(&a) < 0);
	CHECK(get(ID) == 3 && get(SVR) == 0xff);
	/* One that came after it, before anybody looked, is not. */
	apic_deliver(&a, &init);
	apic_deliver(&a, &sipi);
	apic_init(&a);
	CHECK(!a.init && a.sipi && a.sipi_vector == 0x99);
}

static void expires(uint64_t ns, bool rings)
{
	now.ns = ns;
	apic_expire(&a, &now);
	CHECK((apic_next(&a) == 0x30) == rings);
	if (!rings)
		return;
	apic_taken(&a, 0x30);
	CHECK(set(EOI, 0) == APIC_NOTHING);
}

static void timer(void)
{
	begin(0);
	CHECK(set(TIMER, 0x30) == APIC_NOTHING);
	CHECK(!apic_due(&a, &now));
	CHECK(set(DIVIDE, 0xb) == APIC_NOTHING);	/* by 1 */
	CHECK(set(INITIAL, 500) == APIC_NOTHING);
	CHECK(apic_due(&a, &now) == 1500 && get(CURRENT) == 500);
	now.ns = 1200;
	CHECK(get(CURRENT) == 300);
	expires(1499, false);
	expires(1500, true);
	CHECK(!apic_due(&a, &now) && !get(CURRENT));
	/* Again and again, and those that are late are one. */
	CHECK(set(TIMER, 0x20030) == APIC_NOTHING);
	CHECK(set(DIVIDE, 2) == APIC_NOTHING);		/* by 8 */
	CHECK(set(INITIAL, 100) == APIC_NOTHING);
	CHECK(apic_due(&a, &now) == 2300);
	expires(2300, true);
	CHECK(apic_due(&a, &now) == 3100);
	expires(5000, true);
	CHECK(apic_due(&a, &now) == 5500);
	expires(5000, false);
	/* Masked it goes on silently. */
	CHECK(set(TIMER, 0x30030) == APIC_NOTHING);
	expires(5500, false);
	CHECK(apic_due(&a, &now) == 6300);
}

static void deadline(void)
{
	begin(0);
	CHECK(set(APIC_MSR_DEADLINE, 9000) == APIC_NOTHING);
	CHECK(!get(APIC_MSR_DEADLINE) && !apic_due(&a, &now));
	CHECK(set(TIMER, 0x40030) == APIC_NOTHING);
	CHECK(set(APIC_MSR_DEADLINE, 5000 + 4000) == APIC_NOTHING);
	/* 2 GHz: 4,000 are 2 us.  Never before it. */
	CHECK(apic_due(&a, &now) == 3001);
	CHECK(get(APIC_MSR_DEADLINE) == 9000 && !get(CURRENT));
	CHECK(set(INITIAL, 5) == APIC_NOTHING && apic_due(&a, &now) == 3001);
	expires(3000, false);
	now.tsc = 9000;
	expires(3001, true);
	CHECK(!get(APIC_MSR_DEADLINE) && !apic_due(&a, &now));
	/* One that has passed is due at once; the last there is, never. */
	CHECK(set(APIC_MSR_DEADLINE, 1) == APIC_NOTHING);
	CHECK(apic_due(&a, &now) == now.ns);
	CHECK(set(APIC_MSR_DEADLINE, UINT64_MAX) == APIC_NOTHING);
	CHECK(!apic_due(&a, &now));
	CHECK(set(APIC_MSR_DEADLINE, 0) == APIC_NOTHING);
	CHECK(!apic_due(&a, &now));
	/* Another kind of timer begins without it. */
	CHECK(set(APIC_MSR_DEADLINE, 99999) == APIC_NOTHING);
	CHECK(set(TIMER, 0x30) == APIC_NOTHING && !apic_due(&a, &now));
	CHECK(set(TIMER, 0x40030) == APIC_NOTHING && !apic_due(&a, &now));
}

void apic_tests(void)
{
	registers();
	priorities();
	ends();
	commands();
	start_up();
	timer();
	deadline();
}
