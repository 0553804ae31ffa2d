// SPDX-License-Identifier: GPL-2.0
/*
 * The walk itself.  It asks all addresses that a segment has, not the tree of
 * its bridges, which a dead kernel may have left half set up: a function is
 * whatever answers at its command register.  So virtual functions (SR-IOV) are
 * found, too, which have no vendor of their own, and functions without number 0.
 *
 * A function issues no request of its own once its bit is off.  What it has
 * posted before lies in queues on the way to the memory; the answer to a read
 * of its registers does not overtake that.  What it has asked of the memory,
 * and what an atomic operation changes there, is waited for.
 *
 * A virtual machine's disk has had its memory looked up when a request began,
 * and does not ask for the bit again: virtio devices are reset, which is over
 * when they say so.
 */
#include "../../inject/inject.h"
#include "walk.h"

MIOS_INJECT_UNIT(only_first);
MIOS_INJECT_UNIT(only_functions_0);
MIOS_INJECT_UNIT(only_vendors);
MIOS_INJECT_UNIT(trust_write);
MIOS_INJECT_UNIT(trust_gone);
MIOS_INJECT_UNIT(no_reset);
MIOS_INJECT_UNIT(no_pending);
MIOS_INJECT_UNIT(no_spare);
MIOS_INJECT_UNIT(no_bridge);

#define NOBODY		0xffffffffu

#define COMMAND		0x04u		/* and in the upper half: status */
#define MASTER		(1u << 2)
#define HAS_LIST	(1u << 20)
#define CLASS_WORD	0x08u		/* in the upper half */
#define CLASS_HOST	0x0600u
#define CLASS_ISA	0x0601u
#define TYPE		0x0cu		/* in the upper half */
#define TYPE_BRIDGE	1u
#define BUSES		0x18u		/* own, the first and the last behind it */
#define LIST		0x34u
#define LIST_MAX	48u		/* as many as fit */
#define CAP_VENDOR	0x09u
#define CAP_EXPRESS	0x10u

#define EXPRESS_STATUS	8u		/* in the upper half */
#define PENDING		(1u << 21)

/* Virtio, 4.1.4: where its registers are, and a window to them. */
#define VIRTIO_VENDOR	0x1af4u
#define VIRTIO_FIRST	0x1000u
#define VIRTIO_LAST	0x107fu
#define VIRTIO_COMMON	1u
#define VIRTIO_WINDOW	5u
#define VIRTIO_BAR	4u		/* from the begin of a capability */
#define VIRTIO_OFFSET	8u
#define VIRTIO_LENGTH	12u
#define VIRTIO_DATA	16u
#define VIRTIO_STATUS	20u		/* among its common registers */

/* Of about a millisecond each, for all functions together. */
#define PATIENCE	1000u

static bool is_on(const struct mios_pci_walk *walk, u32 f)
{
	return walk->on[f / 8] & 1u << f % 8;
}

static u32 get(const struct mios_pci_access *a, u32 f, u32 at)
{
	return a->read(a->ctx, f, at);
}

static void put(const struct mios_pci_access *a, u32 f, u32 at, u32 value,
		u32 bytes)
{
	a->write(a->ctx, f, at, value, bytes);
}

/* The next capability after @at, 0: the first one, with this number; or 0. */
static u32 cap_next(const struct mios_pci_access *a, u32 f, u32 at, u32 id)
{
	u32 left, word = 0;

	if (!at) {
		if (!(get(a, f, COMMAND) & HAS_LIST))
			return 0;
		at = get(a, f, LIST) & 0xfc;
	} else {
		at = get(a, f, at) >> 8 & 0xfc;
	}
	for (left = LIST_MAX; left && at >= 0x40; left--) {
		word = get(a, f, at);
		if (word == NOBODY)
			return 0;
		if ((word & 0xff) == id)
			return at;
		at = word >> 8 & 0xfc;
	}
	return 0;
}

static u32 virtio_cap(const struct mios_pci_access *a, u32 f, u32 type)
{
	u32 at = cap_next(a, f, 0, CAP_VENDOR), left;

	for (left = LIST_MAX; left && at; left--) {
		if (get(a, f, at) >> 24 == type)
			return at;
		at = cap_next(a, f, at, CAP_VENDOR);
	}
	return 0;
}

static bool is_virtio(const struct mios_pci_access *a, u32 f)
{
	u32 word = get(a, f, 0);

	return (word & 0xffff) == VIRTIO_VENDOR && word >> 16 >= VIRTIO_FIRST &&
	       word >> 16 <= VIRTIO_LAST;
}

/* Through the window, which needs no address of memory.  Does it end? */
static bool virtio_reset(const struct mios_pci_access *a, u32 f)
{
	u32 common = virtio_cap(a, f, VIRTIO_COMMON);
	u32 window = virtio_cap(a, f, VIRTIO_WINDOW), tries;

	if (!common || !window)
		return false;
	put(a, f, window + VIRTIO_BAR, get(a, f, common + VIRTIO_BAR) & 0xff, 1);
	put(a, f, window + VIRTIO_OFFSET,
	    get(a, f, common + VIRTIO_OFFSET) + VIRTIO_STATUS, 4);
	put(a, f, window + VIRTIO_LENGTH, 1, 4);
	put(a, f, window + VIRTIO_DATA, 0, 1);
	for (tries = 0; tries < PATIENCE; tries++) {
		if (!(get(a, f, window + VIRTIO_DATA) & 0xff))
			return true;
		a->pause(a->ctx, true);
	}
	return false;
}

/* Does a bridge lead to this bus? */
static bool leads_to(const struct mios_pci_access *a, u32 f, u32 bus)
{
	u32 buses;

	if (inject_no_bridge || (get(a, f, TYPE) >> 16 & 0x7f) != TYPE_BRIDGE)
		return false;
	buses = get(a, f, BUSES);
	return bus >= (buses >> 8 & 0xff) && bus <= (buses >> 16 & 0xff);
}

/* What a bridge carries is its functions', which are turned off themselves. */
static bool is_spared(const struct mios_pci_access *a, u32 f)
{
	u32 i;

	for (i = 0; i < a->nr_spared && !inject_no_spare; i++)
		if (a->spared[i] == f ||
		    leads_to(a, f, a->spared[i] / MIOS_PCI_BUS))
			return true;
	return false;
}

static void complain(struct mios_pci_walk *walk, u32 f, u32 *count)
{
	if (!walk->stuck && !walk->gone && !walk->busy)
		walk->which = f;
	++*count;
}

static void turn_off(const struct mios_pci_access *a, u32 f,
		     struct mios_pci_walk *walk)
{
	u32 word = get(a, f, COMMAND);

	if (inject_only_vendors && (get(a, f, 0) & 0xffff) == 0xffff)
		return;
	if (word == NOBODY || !(word & MASTER) || is_spared(a, f))
		return;
	walk->on[f / 8] |= 1u << f % 8;
	/* Its status is in the same four bytes: ones would clear it. */
	put(a, f, COMMAND, word & 0xffff & ~MASTER, 2);
}

/* They carry what others send, and send nothing that a driver has asked for. */
static bool is_fixed(const struct mios_pci_access *a, u32 f)
{
	u32 class = get(a, f, CLASS_WORD) >> 16;

	return class == CLASS_HOST || class == CLASS_ISA;
}

/* The time is for all of them together. */
static void wait_for(const struct mios_pci_access *a, u32 f,
		     struct mios_pci_walk *walk)
{
	u32 at = cap_next(a, f, 0, CAP_EXPRESS);

	if (inject_no_pending)
		return;
	while (at && get(a, f, at + EXPRESS_STATUS) & PENDING) {
		if (walk->waited == PATIENCE) {
			complain(walk, f, &walk->busy);
			return;
		}
		walk->waited++;
		a->pause(a->ctx, true);
	}
}

/*
 * Each is read again, when all have been turned off, whoever has done that: who
 * began may have died.
 */
static void look(const struct mios_pci_access *a, u32 f,
		 struct mios_pci_walk *walk)
{
	u32 word = get(a, f, COMMAND);

	if (word == NOBODY) {
		if (is_on(walk, f) && !inject_trust_gone)
			complain(walk, f, &walk->gone);
		return;
	}
	walk->seen++;
	if (is_spared(a, f)) {
		walk->left++;
		return;
	}
	if (word & MASTER && !inject_trust_write) {
		if (is_fixed(a, f))
			walk->fixed++;
		else
			complain(walk, f, &walk->stuck);
		return;
	}
	walk->off += is_on(walk, f);
	wait_for(a, f, walk);
	if (inject_no_reset || !is_virtio(a, f))
		return;
	if (virtio_reset(a, f))
		walk->reset++;
	else
		complain(walk, f, &walk->busy);
}

static bool is_left_out(u32 f)
{
	return (inject_only_first && f >= MIOS_PCI_BUS) ||
	       (inject_only_functions_0 && f % 8);
}

bool mios_pci_quiet(const struct mios_pci_access *a, struct mios_pci_walk *walk)
{
	u32 f;

	memset(walk, 0, sizeof(*walk));
	for (f = 0; f < MIOS_PCI_FUNCTIONS; f++) {
		if (!is_left_out(f))
			turn_off(a, f, walk);
		if (f % MIOS_PCI_BUS == MIOS_PCI_BUS - 1)
			a->pause(a->ctx, false);
	}
	for (f = 0; f < MIOS_PCI_FUNCTIONS; f++) {
		if (!is_left_out(f))
			look(a, f, walk);
		if (f % MIOS_PCI_BUS == MIOS_PCI_BUS - 1)
			a->pause(a->ctx, false);
	}
	return walk->seen && !walk->stuck && !walk->gone && !walk->busy;
}
