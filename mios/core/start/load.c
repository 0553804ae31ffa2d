// SPDX-License-Identifier: GPL-2.0
/*
 * What lies in a node's memory when it starts: the segments that the loader
 * brought, checked against the node's bounds and against their checksums, and
 * beside them what only the kernel may say: memory map, manifest, seed.
 * Under the node's lock, while none of the node's CPUs runs; but for what comes
 * from user space, which is copied without it, and put there a piece at a time.
 */
#include <linux/crc32.h>
#include <linux/delay.h>
#include <linux/io.h>
#include <linux/mm.h>
#include <linux/moduleparam.h>
#include <linux/overflow.h>
#include <linux/random.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/threads.h>
#include <linux/timekeeping.h>
#include <linux/uaccess.h>
#include <asm/apic.h>
#include <asm/bootparam.h>
#include <asm/e820/types.h>
#include <asm/mios.h>
#include <asm/setup_data.h>
#include <asm/tsc.h>

#include "../../inject/inject.h"
#include "../link/link.h"
#include "start.h"

#define PIECE		SZ_2M		/* mapped and copied at once */
#define SEED_SIZE	32

static_assert(PID_MAX_LIMIT / MIOS_MAX_INSTANCES == MIOS_PIDS_EACH);
static_assert(2 * MIOS_PIDS_BOOT == MIOS_PIDS_EACH);

MIOS_INJECT_VALUE(manifest_version, "hand out manifests of this version");
MIOS_INJECT_SWITCH(share_pids, "give every instance the PIDs of instance 1");
MIOS_INJECT_SWITCH(mute_ending, "last words ring where nobody listens");
MIOS_INJECT_SWITCH(damage_image,
		   "flip a byte of the image after it was loaded");

MIOS_INJECT_VALUE(slow_load, "wait so many milliseconds with each piece of an image");

/**
 * struct loading - an image on its way from user space
 * @instance, @claimer: where it goes
 * @segments:	of it
 * @piece:	what has been copied of one
 */
struct loading {
	u32 instance;
	const void *claimer;
	struct mios_segment segments[MIOS_MAX_SEGMENTS];
	u8 piece[PIECE];
};

static u64 load_base(const struct mios_node *node)
{
	return mios_node_base(node) + MIOS_HEAD_SIZE;
}

static u64 load_end(const struct mios_node *node)
{
	return mios_node_base(node) + node->ranges[0].size;
}

static bool inside(const struct mios_segment *s, u64 base, u64 size)
{
	return base >= s->dest && size <= s->memsz &&
	       base - s->dest <= s->memsz - size;
}

static const struct mios_segment *segment_of(const struct mios_node *node,
					     u64 base, u64 size)
{
	unsigned int i;

	for (i = 0; i < node->nr_segments; i++)
		if (inside(&node->segments[i], base, size))
			return &node->segments[i];
	return NULL;
}

static int segment_check(const struct mios_node *node, unsigned int n,
			 struct mios_reason *why)
{
	const struct mios_segment *s = &node->segments[n], *t;
	u64 end;

	if (!s->memsz || s->bufsz > s->memsz || !PAGE_ALIGNED(s->dest) ||
	    check_add_overflow(s->dest, s->memsz, &end)) {
		mios_reason_set(why, "segment %u is malformed", n);
		return -EINVAL;
	}
	if (s->dest < load_base(node) || end > load_end(node)) {
		mios_reason_set(why,
				"segment %u (%llu bytes) does not fit into node %u; it has room for %llu",
				n, s->memsz, node->id,
				load_end(node) - load_base(node));
		return -EFBIG;
	}
	for (t = node->segments; t < s; t++) {
		if (s->dest < t->dest + t->memsz && t->dest < end) {
			mios_reason_set(why, "segment %u overlaps another", n);
			return -EINVAL;
		}
	}
	return 0;
}

/* What lies there is no more than is to be; zeroes behind it. */
static int piece_fill(u64 dest, u64 size, const void *from, u64 count)
{
	void *map = memremap(dest, size, MEMREMAP_WB);

	if (!map)
		return -ENOMEM;
	memcpy(map, from, count);
	memset(map + count, 0, size - count);
	memunmap(map);
	return 0;
}

/*
 * Copying from user space may take as long as that likes, so it is done without
 * the node's lock; whose node it is then is asked anew.
 */
static int piece_load(struct loading *l, u64 dest, u64 size, u64 count,
		      const void __user *from, struct mios_reason *why)
{
	struct mios_node *node;
	int err;

	if (count && copy_from_user(l->piece, from, count))
		return -EFAULT;
	if (inject_slow_load)
		msleep(inject_slow_load);
	node = mios_node_claimed(l->instance, l->claimer, why, &err);
	if (!node)
		return err;
	err = piece_fill(dest, size, l->piece, count);
	mutex_unlock(&node->lock);
	return err;
}

static int segment_load(struct loading *l, unsigned int n,
			struct mios_reason *why)
{
	const struct mios_segment *s = &l->segments[n];
	const void __user *from = u64_to_user_ptr(s->buf);
	u32 crc = ~0;
	u64 at;
	int err;

	for (at = 0; at < s->memsz; at += PIECE) {
		u64 size = min_t(u64, PIECE, s->memsz - at);
		u64 count = at < s->bufsz ? min(size, s->bufsz - at) : 0;

		if (signal_pending(current))
			return -EINTR;
		err = piece_load(l, s->dest + at, size, count, from + at, why);
		if (err)
			return err;
		crc = crc32_le(crc, l->piece, count);
		cond_resched();
	}
	if (~crc != s->crc) {
		mios_reason_set(why,
				"segment %u changed while it was loaded (checksum); load it again",
				n);
		return -EBADMSG;
	}
	return 0;
}

/* As a stray write, or a bad memory module, would. */
static void segment_damage(const struct mios_segment *s)
{
	u8 *map = memremap(s->dest, PAGE_SIZE, MEMREMAP_WB);

	if (map) {
		map[0] ^= 1;
		memunmap(map);
	}
}

static int segment_verify(const struct mios_segment *s)
{
	u32 crc = ~0;
	u64 at;

	for (at = 0; at < s->bufsz; at += PIECE) {
		u64 size = min_t(u64, PIECE, s->bufsz - at);
		void *map = memremap(s->dest + at, size, MEMREMAP_WB);

		if (!map)
			return -ENOMEM;
		crc = crc32_le(crc, map, size);
		memunmap(map);
		cond_resched();
	}
	return ~crc == s->crc ? 0 : -EBADMSG;
}

/* Is it an image for this node? */
static int image_check(struct mios_node *node, const struct loading *l,
		       const struct mios_load *load, struct mios_reason *why)
{
	const struct mios_segment *zero;
	unsigned int i;
	int err;

	node->loaded = false;
	memcpy(node->segments, l->segments, sizeof(node->segments));
	node->nr_segments = load->nr_segments;
	for (i = 0; i < node->nr_segments; i++) {
		err = segment_check(node, i, why);
		if (err)
			return err;
	}
	zero = segment_of(node, load->zero_page, sizeof(struct boot_params));
	if (!zero || zero->dest != load->zero_page ||
	    !segment_of(node, load->entry, 1)) {
		mios_reason_set(why,
				"entry point or zero page lies outside the segments");
		return -EINVAL;
	}
	return 0;
}

static int image_load(struct loading *l, const struct mios_load *load,
		      struct mios_reason *why)
{
	struct mios_node *node;
	unsigned int i;
	int err;

	if (copy_from_user(l->segments, u64_to_user_ptr(load->segments),
			   load->nr_segments * sizeof(l->segments[0])))
		return -EFAULT;
	node = mios_node_claimed(l->instance, l->claimer, why, &err);
	if (!node)
		return err;
	err = image_check(node, l, load, why);
	mutex_unlock(&node->lock);
	for (i = 0; i < load->nr_segments && !err; i++)
		err = segment_load(l, i, why);
	if (err)
		return err;
	node = mios_node_claimed(l->instance, l->claimer, why, &err);
	if (!node)
		return err;
	node->entry = load->entry;
	node->zero_page = load->zero_page;
	node->loaded = true;
	mutex_unlock(&node->lock);
	return 0;
}

/**
 * mios_image_load - copy segments into a claimed node
 * @instance: which
 * @load: as user space gave it, itself already copied in
 * @claimer: as given to mios_node_claim(); it loads one at a time
 * @why: explains a failure
 */
int mios_image_load(u32 instance, const struct mios_load *load,
		    const void *claimer, struct mios_reason *why)
{
	struct loading *l;
	int err;

	if (!load->nr_segments || load->nr_segments > MIOS_MAX_SEGMENTS) {
		mios_reason_set(why, "%u segments; 1 to %u are possible",
				load->nr_segments, MIOS_MAX_SEGMENTS);
		return -EINVAL;
	}
	l = kvzalloc(sizeof(*l), GFP_KERNEL);
	if (!l)
		return -ENOMEM;
	l->instance = instance;
	l->claimer = claimer;
	err = image_load(l, load, why);
	kvfree(l);
	return err;
}

static void e820_add(struct boot_params *bp, u64 base, u64 size,
		     enum e820_type type)
{
	struct boot_e820_entry *e = &bp->e820_table[bp->e820_entries++];

	e->addr = base;
	e->size = size;
	e->type = type;
}

/*
 * The slice of low memory and the node's own.  The head is RAM of the child,
 * so that it is in its direct map from the beginning, but of the type that
 * the decompressor never places a randomised kernel in.
 */
static void memory_map(struct mios_node *node, struct boot_params *bp)
{
	u64 base = mios_node_base(node);
	unsigned int i;

	bp->e820_entries = 0;
	e820_add(bp, node->slice, MIOS_SLICE_SIZE, E820_TYPE_RAM);
	e820_add(bp, base, MIOS_HEAD_END, MIOS_E820_HEAD);
	e820_add(bp, base + MIOS_HEAD_END, node->ranges[0].size - MIOS_HEAD_END,
		 E820_TYPE_RAM);
	for (i = 1; i < node->nr_ranges; i++)
		e820_add(bp, node->ranges[i].base, node->ranges[i].size,
			 E820_TYPE_RAM);
}

/* Two instances must not start from the same random numbers. */
static void seed_fill(struct mios_node *node)
{
	struct setup_data *seed = node->head + MIOS_HEAD_SEED;

	seed->next = 0;
	seed->type = SETUP_RNG_SEED;
	seed->len = SEED_SIZE;
	get_random_bytes(seed->data, SEED_SIZE);
}

/* How the child's kernel finds its manifest, before it knows its command line */
static void setup_fill(struct mios_node *node)
{
	struct setup_data *setup = node->head + MIOS_HEAD_SETUP;

	setup->next = mios_node_base(node) + MIOS_HEAD_SEED;
	setup->type = SETUP_MIOS;
	setup->len = sizeof(u64);
	*(u64 *)setup->data = mios_node_base(node) + MIOS_HEAD_MANIFEST;
}

static int zero_page_finish(struct mios_node *node)
{
	struct boot_params *bp;

	bp = memremap(node->zero_page, sizeof(*bp), MEMREMAP_WB);
	if (!bp)
		return -ENOMEM;
	/* Firmware and screen are not the child's. */
	memset(&bp->screen_info, 0, sizeof(bp->screen_info));
	memset(&bp->efi_info, 0, sizeof(bp->efi_info));
	bp->acpi_rsdp_addr = 0;
	bp->hdr.setup_data = mios_node_base(node) + MIOS_HEAD_SETUP;
	bp->hdr.hardware_subarch = X86_SUBARCH_PC;
	bp->hdr.hardware_subarch_data = 0;
	memory_map(node, bp);
	memunmap(bp);
	return 0;
}

/* What it says of the machine and of this kernel. */
static void manifest_describe_host(struct mios_manifest *m)
{
	struct mios_host self;

	mios_host_describe(&self);
	m->magic = MIOS_MANIFEST_MAGIC;
	m->version = MIOS_MANIFEST_VERSION;
	m->size = sizeof(*m);
	m->tsc_khz = tsc_khz;
	m->cpu_khz = cpu_khz;
	m->lapic_period = self.lapic_period;
	m->hz = HZ;
	m->bsp_apicid = mios_manifest() ? mios_manifest()->bsp_apicid :
			per_cpu(x86_cpu_to_apicid, 0);
	m->doorbell = X86_PLATFORM_IPI_VECTOR;
}

static int manifest_fill(struct mios_node *node, struct mios_reason *why)
{
	struct mios_manifest *m = mios_node_manifest(node);
	struct mios_log *log = mios_node_log(node);
	u32 pids = inject_share_pids ? 1 : node->id;
	const u8 *from = (const u8 *)&m->instance;
	int err;

	memset(m, 0, MIOS_MANIFEST_SIZE);
	manifest_describe_host(m);
	if (inject_manifest_version)
		m->version = inject_manifest_version;
	m->self = mios_node_base(node) + MIOS_HEAD_MANIFEST;
	m->instance = node->id;
	m->node = node->id;
	m->incarnation = incarnation_of(node);
	m->ring = node->ring;
	m->nr_cpus = node->nr_cpus;
	memcpy(m->apicid, node->apicid, node->nr_cpus * sizeof(u32));
	m->pid_first = pids * MIOS_PIDS_EACH +
		       m->incarnation % 2 * MIOS_PIDS_BOOT;
	m->pid_last = m->pid_first + MIOS_PIDS_BOOT - 1;
	m->host_apicid = inject_mute_ending ? node->apicid[0] :
		per_cpu(x86_cpu_to_apicid, 0);
	err = mios_link_area(node->ring, &m->area_base, &m->area_size);
	if (err) {
		mios_reason_set(why,
				"there is no memory in one piece for ring %u (error %d)",
				node->ring, -err);
		return err;
	}

	m->log_base = mios_node_base(node) + MIOS_HEAD_LOG;
	m->log_size = MIOS_LOG_SIZE;
	m->head_size = MIOS_HEAD_END;
	memset(node->head + MIOS_NOTES_OFFSET, 0, MIOS_NOTES_SIZE);
	memset(log, 0, sizeof(*log));
	log->magic = MIOS_LOG_MAGIC;
	log->size = MIOS_LOG_SIZE;

	local_irq_disable();
	m->wall_tsc = rdtsc_ordered();
	m->wall_ns = ktime_get_real_ns();
	local_irq_enable();
	m->crc = ~crc32_le(~0, from, (const u8 *)m + MIOS_MANIFEST_SIZE - from);
	m->state = MIOS_CHILD_LOADED;
	return 0;
}

/**
 * mios_image_finish - complete what was loaded, and look at it once more
 * @node: which
 * @why: explains a failure
 *
 * Until the child's own interrupt table stands a fault resets the machine, so
 * a damaged image must not get as far as the first SIPI.
 *
 * Return: 0; -ENOEXEC before a load; -EBADMSG if memory differs from what was
 * loaded.
 */
int mios_image_finish(struct mios_node *node, struct mios_reason *why)
{
	unsigned int i;
	int err;

	if (!node->loaded) {
		mios_reason_set(why, "node %u: nothing has been loaded",
				node->id);
		return -ENOEXEC;
	}
	if (inject_damage_image)
		segment_damage(&node->segments[0]);
	for (i = 0; i < node->nr_segments; i++) {
		err = segment_verify(&node->segments[i]);
		if (err) {
			mios_reason_set(why,
					"node %u: segment %u is damaged in memory; not started",
					node->id, i);
			return err;
		}
	}
	/* That has taken its time, and what follows writes. */
	err = mios_node_hosted(node, why);
	if (err)
		return err;
	/* Once only: the zero page differs from what was loaded after this. */
	node->loaded = false;
	seed_fill(node);
	setup_fill(node);
	err = zero_page_finish(node);
	return err ?: manifest_fill(node, why);
}
