// SPDX-License-Identifier: GPL-2.0
/*
 * The walk over PCI functions (mios/core/pci/walk.c) against a model of a
 * segment: a host bridge, bridges with buses behind them, functions in holes,
 * virtual functions, a disk of a virtual machine that goes on until it is
 * reset, functions that do not obey, and the death of who walks at each access.
 *
 *   pci [--break KNOB]
 */
#include <setjmp.h>

#include "../../../mios/core/pci/walk.h"
#include "../inject.h"
#include "../test.h"

#define MASTER		4u
#define NR		16
#define AT(bus, device, function) \
	((u32)(bus) << 8 | (device) << 3 | (function))

/* One function: its space, and what is wrong with it. */
struct function {
	u32 at;
	u8 space[256];
	bool stuck;		/* its bit cannot be cleared */
	bool vanishes;		/* answers nothing once it was written to */
	int pending;		/* reads of its status until it has ended, -1: never */
	bool writes;		/* virtio: goes on with what it had begun */
	bool no_end;		/* virtio: its reset does not end */
};

static struct function functions[NR];
static int nr;
static bool status_written;
static long accesses, dies_at;
static jmp_buf death;

static u32 word_get(const u8 *at)
{
	return at[0] | at[1] << 8 | at[2] << 16 | (u32)at[3] << 24;
}

static void word_set(u8 *at, u32 value, u32 bytes)
{
	while (bytes--) {
		*at++ = value;
		value >>= 8;
	}
}

static struct function *find(u32 at)
{
	int i;

	for (i = 0; i < nr; i++)
		if (functions[i].at == at)
			return &functions[i];
	return NULL;
}

static void step(void)
{
	if (++accesses == dies_at)
		longjmp(death, 1);
}

static u32 model_read(void *ctx, u32 at, u32 offset)
{
	struct function *f = find(at);

	(void)ctx;
	step();
	CHECK(at < MIOS_PCI_FUNCTIONS && offset < 256 && offset % 4 == 0);
	if (!f)
		return ~0u;
	if (offset == 0x80 + 8 && f->pending) {
		if (f->pending > 0)
			f->pending--;
		return 1u << 21;
	}
	/* The window shows the register that it is over. */
	if (offset == 0x60 + 16 && word_get(f->space + 0x68) == 0x1000 + 20)
		return f->writes || f->no_end ? 0x0f : 0;
	return word_get(f->space + offset);
}

static void model_write(void *ctx, u32 at, u32 offset, u32 value, u32 bytes)
{
	struct function *f = find(at);

	(void)ctx;
	step();
	CHECK(offset % bytes == 0);
	if (!f)
		return;
	if (offset == 4 && bytes > 2)
		status_written = true;
	if (offset == 4 && f->stuck)
		value |= MASTER;
	if (offset == 0x60 + 16) {
		CHECK(word_get(f->space + 0x68) == 0x1000 + 20);
		CHECK(word_get(f->space + 0x6c) == 1);
		if (!(value & 0xff))
			f->writes = false;
		return;
	}
	word_set(f->space + offset, value, bytes);
	if (offset == 4 && f->vanishes)
		f->at = MIOS_PCI_FUNCTIONS;
}

static void model_pause(void *ctx, bool waits)
{
	(void)ctx;
	(void)waits;
}

static const struct mios_pci_access access = {
	.read = model_read, .write = model_write, .pause = model_pause,
};

static struct function *add(u32 at, u32 vendor, u32 class, u32 command)
{
	struct function *f = &functions[nr++];

	CHECK(nr <= NR);
	memset(f, 0, sizeof(*f));
	f->at = at;
	word_set(f->space, vendor, 4);
	word_set(f->space + 4, command, 4);
	word_set(f->space + 8, class << 16, 4);
	return f;
}

/* A list of capabilities: two of virtio, then that of PCI Express. */
static void add_caps(struct function *f)
{
	word_set(f->space + 4, word_get(f->space + 4) | 1u << 20, 4);
	word_set(f->space + 0x34, 0x40, 1);
	word_set(f->space + 0x40, 0x01106009, 4);
	word_set(f->space + 0x44, 4, 1);
	word_set(f->space + 0x48, 0x1000, 4);
	word_set(f->space + 0x60, 0x05148009, 4);
	word_set(f->space + 0x80, 0x0010, 4);
}

/* What a machine may have. */
static void machine(void)
{
	struct function *f;

	nr = 0;
	status_written = false;
	add(AT(0, 0, 0), 0x29c08086, 0x0600, 0x0007)->stuck = true;
	add(AT(0, 31, 0), 0x29188086, 0x0601, 0x0007)->stuck = true;
	f = add(AT(0, 1, 0), 0x12348086, 0x0604, 0x0107);	/* a bridge */
	f->space[0x0e] = 0x81;
	word_set(f->space + 0x18, 0x00080500, 4);
	add(AT(0, 1, 7), 0x12358086, 0x0200, 0x0006);	/* its neighbour */
	add(AT(0, 9, 3), 0x12368086, 0x0106, 0x0006);	/* without function 0 */
	add(AT(5, 0, 0), 0x12378086, 0x0108, 0x0406);	/* behind the bridge */
	f = add(AT(5, 0, 1), 0x12388086, 0x0108, 0x0000); /* off */
	add_caps(f);
	add(AT(6, 2, 1), 0xffffffff, 0x0200, 0x0004);	/* a virtual function */
	f = add(AT(255, 31, 7), 0x12398086, 0x0200, 0xf8100006);
	add_caps(f);
	f->pending = 3;
	f = add(AT(0, 2, 0), 0x10421af4, 0x0100, 0x0507);
	add_caps(f);
	f->writes = true;
}

static bool anybody_writes(void)
{
	int i;

	for (i = 0; i < nr; i++)
		if (functions[i].writes || functions[i].pending ||
		    (!functions[i].stuck &&
		     word_get(functions[i].space + 4) & MASTER))
			return true;
	return false;
}

static struct mios_pci_walk walk;

static bool quiet(void)
{
	return mios_pci_quiet(&access, &walk);
}

static void test_all(void)
{
	machine();
	CHECK(quiet());
	CHECK(!anybody_writes());
	CHECK(walk.seen == 10 && walk.off == 7);
	CHECK(walk.fixed == 2 && walk.reset == 1 && walk.waited == 3);
	CHECK(!status_written);
	/* The other bits of a command stay. */
	CHECK(word_get(find(AT(5, 0, 0))->space + 4) == 0x0402);
	CHECK(word_get(find(AT(255, 31, 7))->space + 4) == 0xf8100002);
	/* Once more, by the next one. */
	CHECK(quiet() && !walk.off && walk.reset == 1);
}

/* One behind the bridge is somebody's who lives. */
static void test_spared(void)
{
	static const u32 spared[] = { AT(5, 0, 0), AT(7, 3, 0) };
	struct mios_pci_access others = access;

	others.spared = spared;
	others.nr_spared = 2;
	machine();
	find(AT(0, 2, 0))->writes = false;
	CHECK(mios_pci_quiet(&others, &walk));
	CHECK(walk.seen == 10 && walk.left == 2 && walk.off == 5);
	CHECK(word_get(find(AT(5, 0, 0))->space + 4) & MASTER);
	CHECK(word_get(find(AT(0, 1, 0))->space + 4) & MASTER);
	CHECK(!(word_get(find(AT(0, 1, 7))->space + 4) & MASTER));
	CHECK(!(word_get(find(AT(6, 2, 1))->space + 4) & MASTER));
	/* A disk of the living is not reset. */
	others.spared = (const u32[]){ AT(0, 2, 0) };
	others.nr_spared = 1;
	machine();
	CHECK(mios_pci_quiet(&others, &walk) && !walk.reset && walk.left == 1);
}

static void test_disobey(void)
{
	machine();
	find(AT(5, 0, 0))->stuck = true;
	CHECK(!quiet() && walk.stuck == 1 && walk.which == AT(5, 0, 0));
	machine();
	find(AT(0, 9, 3))->vanishes = true;
	CHECK(!quiet() && walk.gone == 1 && walk.which == AT(0, 9, 3));
	machine();
	find(AT(255, 31, 7))->pending = -1;
	CHECK(!quiet() && walk.busy == 1 && walk.which == AT(255, 31, 7));
	machine();
	find(AT(0, 2, 0))->no_end = true;
	CHECK(!quiet() && walk.busy == 1 && walk.which == AT(0, 2, 0));
	/* A list of capabilities that leads nowhere, or round and round. */
	machine();
	find(AT(255, 31, 7))->space[0x81] = 0x80;
	CHECK(quiet());
	machine();
	find(AT(0, 2, 0))->space[0x61] = 0x40;
	CHECK(quiet());
	machine();
	find(AT(0, 2, 0))->space[0x34] = 0;
	CHECK(!quiet() && walk.busy == 1);
	/* Nothing answers. */
	nr = 0;
	CHECK(!quiet() && !walk.seen);
}

/* Who walks dies at any access; the next one begins anew. */
static void test_deaths(void)
{
	/* The volatile ones outlive longjmp(). */
	static volatile long end, at;

	machine();
	accesses = 0;
	dies_at = -1;
	CHECK(quiet());
	end = accesses;
	for (at = 1; at <= end; at += at < end / 2 ? 997 : 1009) {
		machine();
		accesses = 0;
		dies_at = at;
		if (!setjmp(death))
			quiet();
		dies_at = -1;
		CHECK(quiet());
		CHECK(!anybody_writes());
	}
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "--break")) {
		if (!inject_on(argv[2], -1)) {
			fprintf(stderr, "no such knob: %s\n", argv[2]);
			return 2;
		}
	} else if (argc != 1) {
		fprintf(stderr, "usage: pci [--break KNOB]\n");
		return 2;
	}
	test_all();
	test_spared();
	test_disobey();
	test_deaths();
	printf("10 functions, each that does not obey, %ld accesses\n",
	       accesses);
	return 0;
}
