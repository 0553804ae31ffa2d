// SPDX-License-Identifier: GPL-2.0
/*
 * The local APIC's registers and what they do to each other.  No call of KVM
 * or of the system: the unit tests have it as it is.
 */
#include <string.h>

#include "apic.h"

enum apic_register {
	REG_ID = 0x802, REG_VERSION = 0x803, REG_TPR = 0x808, REG_PPR = 0x80a,
	REG_EOI = 0x80b, REG_LDR = 0x80d, REG_SVR = 0x80f, REG_ISR = 0x810,
	REG_TMR = 0x818, REG_IRR = 0x820, REG_ESR = 0x828, REG_ICR = 0x830,
	REG_LVT = 0x832, REG_INITIAL = 0x838, REG_CURRENT = 0x839,
	REG_DIVIDE = 0x83e, REG_SELF = 0x83f,
};

#define VERSION		(0x14 | (APIC_LVTS - 1) << 16)
#define ENABLED		0x100
#define MASKED		0x10000
#define SVR_BITS	0x1ff
#define PERIODIC	1
#define DEADLINE	2
#define LVT_BITS	0x107ff
#define TIMER_BITS	0x700ff
/* Bit 12 says "busy" in older APICs, and is written back by some. */
#define ICR_BITS	0xffffffff000cdfffull
#define ICR_LEVEL	0x4000
#define ICR_TRIGGER	0x8000
#define ESR_SEND	0x20	/* vectors below 16: sent, */
#define ESR_RECEIVE	0x40	/* received */
#define FIRST_VECTOR	16

void apic_reset(struct apic *a, uint32_t id)
{
	memset(a, 0, sizeof(*a));
	a->id = id;
	a->svr = 0xff;
	for (int i = 0; i < APIC_LVTS; i++)
		a->lvt[i] = MASKED;
}

void apic_init(struct apic *a)
{
	uint8_t vector = a->sipi_vector;
	bool sipi = a->sipi;

	apic_reset(a, a->id);
	a->sipi = sipi;
	a->sipi_vector = vector;
}

/* The highest bit of 256, or -1. */
static int highest(const uint32_t *bits)
{
	for (int i = 7; i >= 0; i--)
		if (bits[i])
			return i * 32 + 31 - __builtin_clz(bits[i]);
	return -1;
}

static void bit_set(uint32_t *bits, int nr, bool on)
{
	if (on)
		bits[nr / 32] |= 1u << nr % 32;
	else
		bits[nr / 32] &= ~(1u << nr % 32);
}

static bool bit_get(const uint32_t *bits, int nr)
{
	return bits[nr / 32] >> nr % 32 & 1;
}

static uint32_t ldr(uint32_t id)
{
	return id >> 4 << 16 | 1u << (id & 15);
}

/* What is below this class must wait. */
static uint32_t ppr(const struct apic *a)
{
	int in_service = highest(a->isr);
	uint32_t isr = in_service < 0 ? 0 : in_service & 0xf0;

	return (a->tpr & 0xf0) >= isr ? a->tpr : isr;
}

static uint32_t timer_mode(const struct apic *a)
{
	return a->lvt[APIC_TIMER] >> 17 & 3;
}

/* ns that one count takes: by 2, 4 ... 128, and 1. */
static uint64_t divider(const struct apic *a)
{
	uint32_t code = (a->divide & 3) | (a->divide >> 1 & 4);

	return code == 7 ? 1 : 2ull << code;
}

uint64_t apic_due(const struct apic *a, const struct apic_time *now)
{
	uint64_t ticks;

	if (timer_mode(a) == DEADLINE) {
		if (!a->deadline)
			return 0;
		if (a->deadline <= now->tsc)
			return now->ns ? now->ns : 1;
		ticks = a->deadline - now->tsc;
		/* A deadline that nobody lives to see must not wrap. */
		if (ticks / now->khz > INT32_MAX)
			return 0;
		return now->ns + ticks / now->khz * 1000000 +
			ticks % now->khz * 1000000 / now->khz + 1;
	}
	if (!a->initial)
		return 0;
	return a->started + a->initial * divider(a);
}

static uint32_t current(const struct apic *a, const struct apic_time *now)
{
	uint64_t due = apic_due(a, now);

	if (timer_mode(a) == DEADLINE || due <= now->ns)
		return 0;
	return (due - now->ns + divider(a) - 1) / divider(a);
}

bool apic_read(const struct apic *a, uint32_t msr, const struct apic_time *now,
	       uint64_t *value)
{
	if (msr >= REG_ISR && msr < REG_ESR) {
		const uint32_t *bits = msr < REG_TMR ? a->isr :
			msr < REG_IRR ? a->tmr : a->irr;

		*value = bits[msr & 7];
		return true;
	}
	if (msr >= REG_LVT && msr < REG_LVT + APIC_LVTS) {
		*value = a->lvt[msr - REG_LVT];
		return true;
	}
	switch (msr) {
	case REG_ID:
		*value = a->id;
		return true;
	case REG_VERSION:
		*value = VERSION;
		return true;
	case REG_TPR:
		*value = a->tpr;
		return true;
	case REG_PPR:
		*value = ppr(a);
		return true;
	case REG_LDR:
		*value = ldr(a->id);
		return true;
	case REG_SVR:
		*value = a->svr;
		return true;
	case REG_ESR:
		*value = a->esr;
		return true;
	case REG_ICR:
		*value = a->icr;
		return true;
	case REG_INITIAL:
		*value = a->initial;
		return true;
	case REG_CURRENT:
		*value = current(a, now);
		return true;
	case REG_DIVIDE:
		*value = a->divide;
		return true;
	case APIC_MSR_DEADLINE:
		*value = timer_mode(a) == DEADLINE ? a->deadline : 0;
		return true;
	}
	return false;
}

static enum apic_wish end_of_interrupt(struct apic *a, struct apic_ipi *ipi)
{
	int vector = highest(a->isr);

	if (vector < 0)
		return APIC_NOTHING;
	bit_set(a->isr, vector, false);
	if (!bit_get(a->tmr, vector))
		return APIC_NOTHING;
	*ipi = (struct apic_ipi){ .sender = a->id, .vector = vector };
	return APIC_ENDED;
}

static enum apic_wish command(struct apic *a, uint64_t value,
			      struct apic_ipi *ipi)
{
	if (value & ~ICR_BITS)
		return APIC_REFUSED;
	a->icr = value;
	*ipi = (struct apic_ipi){
		.sender = a->id, .dest = value >> 32, .vector = value,
		.mode = value >> 8 & 7, .logical = value >> 11 & 1,
		.shorthand = value >> 18 & 3,
	};
	switch (ipi->mode) {
	case APIC_FIXED:
	case APIC_LOWEST:
		if (ipi->vector >= FIRST_VECTOR)
			return APIC_SEND;
		a->esr_next |= ESR_SEND;
		return APIC_NOTHING;
	case APIC_INIT:
		/* The end of the signal, which only older APICs want. */
		if (value & ICR_TRIGGER && !(value & ICR_LEVEL))
			return APIC_NOTHING;
		return APIC_SEND;
	case APIC_NMI:
	case APIC_SIPI:
		return APIC_SEND;
	}
	return APIC_NOTHING;
}

static bool lvt_write(struct apic *a, uint32_t nr, uint64_t value)
{
	uint32_t bits = nr == APIC_TIMER ? TIMER_BITS :
		nr >= APIC_LINT0 && nr <= APIC_LINT1 ? LVT_BITS | 0xa000 :
		LVT_BITS;
	uint32_t mode = timer_mode(a);

	if (value & ~(uint64_t)(bits | 0x1000 | 0x4000))
		return false;
	a->lvt[nr] = value & bits;
	if (!(a->svr & ENABLED))
		a->lvt[nr] |= MASKED;
	/* A timer of another kind begins anew. */
	if (nr == APIC_TIMER && timer_mode(a) != mode) {
		a->initial = 0;
		a->deadline = 0;
	}
	return true;
}

/* Registers that are words and no more; false: #GP. */
static bool word_write(struct apic *a, uint32_t msr, uint64_t value,
		       const struct apic_time *now)
{
	if (value > UINT32_MAX)
		return false;
	switch (msr) {
	case REG_TPR:
		a->tpr = value & 0xff;
		return value <= 0xff;
	case REG_SVR:
		a->svr = value & SVR_BITS;
		for (int i = 0; i < APIC_LVTS && !(a->svr & ENABLED); i++)
			a->lvt[i] |= MASKED;
		return true;
	case REG_ESR:
		a->esr = a->esr_next;
		a->esr_next = 0;
		return !value;
	case REG_INITIAL:
		if (timer_mode(a) == DEADLINE)
			return true;
		a->initial = value;
		a->started = now->ns;
		return true;
	case REG_DIVIDE:
		a->divide = value & 0xb;
		return !(value & ~0xbull);
	}
	return false;
}

enum apic_wish apic_write(struct apic *a, uint32_t msr, uint64_t value,
			  const struct apic_time *now, struct apic_ipi *ipi)
{
	switch (msr) {
	case APIC_MSR_DEADLINE:
		if (timer_mode(a) == DEADLINE)
			a->deadline = value;
		return APIC_NOTHING;
	case REG_EOI:
		return value ? APIC_REFUSED : end_of_interrupt(a, ipi);
	case REG_ICR:
		return command(a, value, ipi);
	case REG_SELF:
		if (value > 0xff)
			return APIC_REFUSED;
		return command(a, value | (uint64_t)APIC_SELF << 18, ipi);
	}
	if (msr >= REG_LVT && msr < REG_LVT + APIC_LVTS)
		return lvt_write(a, msr - REG_LVT, value) ? APIC_NOTHING :
			APIC_REFUSED;
	return word_write(a, msr, value, now) ? APIC_NOTHING : APIC_REFUSED;
}

bool apic_meant(const struct apic_ipi *ipi, uint32_t id)
{
	switch (ipi->shorthand) {
	case APIC_SELF:
		return id == ipi->sender;
	case APIC_ALL:
		return true;
	case APIC_OTHERS:
		return id != ipi->sender;
	}
	if (ipi->dest == APIC_EVERYBODY)
		return true;
	if (!ipi->logical)
		return id == ipi->dest;
	return ldr(id) >> 16 == ipi->dest >> 16 &&
		(ldr(id) & ipi->dest & 0xffff);
}

void apic_deliver(struct apic *a, const struct apic_ipi *ipi)
{
	switch (ipi->mode) {
	case APIC_NMI:
		a->nmi = true;
		break;
	case APIC_INIT:
		a->init = true;
		a->sipi = false;
		break;
	case APIC_SIPI:
		a->sipi = true;
		a->sipi_vector = ipi->vector;
		break;
	case APIC_FIXED:
	case APIC_LOWEST:
		if (ipi->vector < FIRST_VECTOR) {
			a->esr_next |= ESR_RECEIVE;
			break;
		}
		if (!(a->svr & ENABLED))
			break;
		bit_set(a->tmr, ipi->vector, ipi->level);
		bit_set(a->irr, ipi->vector, true);
		break;
	}
}

int apic_next(const struct apic *a)
{
	int vector = highest(a->irr);

	return vector >= 0 && (vector & 0xf0u) > (ppr(a) & 0xf0) ? vector : -1;
}

void apic_taken(struct apic *a, int vector)
{
	bit_set(a->irr, vector, false);
	bit_set(a->isr, vector, true);
}

void apic_expire(struct apic *a, const struct apic_time *now)
{
	uint64_t due = apic_due(a, now), period;
	struct apic_ipi tick = { .vector = a->lvt[APIC_TIMER] };

	if (!due || due > now->ns)
		return;
	if (!(a->lvt[APIC_TIMER] & MASKED))
		apic_deliver(a, &tick);
	if (timer_mode(a) == DEADLINE) {
		a->deadline = 0;
	} else if (timer_mode(a) == PERIODIC) {
		/* Those that were missed are one. */
		period = a->initial * divider(a);
		a->started += (now->ns - a->started) / period * period;
	} else {
		a->initial = 0;
	}
}
