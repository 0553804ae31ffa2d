// SPDX-License-Identifier: GPL-2.0
/*
 * What this instance says of itself: its node descriptor, published in every
 * ring that it is a member of, again whenever its CPUs change, and for the
 * last time when it stops, panics or leaves.  Guarded by link_lock, which a
 * panic does not take: by then every other CPU has stopped.
 */
#define pr_fmt(fmt) "mios: " fmt

#include <linux/cpu.h>
#include <linux/cpuhotplug.h>
#include <linux/cpumask.h>
#include <linux/ioport.h>
#include <linux/mm.h>
#include <linux/moduleparam.h>
#include <linux/utsname.h>

#include <asm/apic.h>
#include <asm/irq_vectors.h>
#include <asm/mios.h>
#include <asm/smp.h>

#include "../../inject/inject.h"
#include "ring.h"

MIOS_INJECT_TIMES(bad_doorbell, "publish another instance's CPU");

static int doorbell_cpu = -1;
module_param(doorbell_cpu, int, 0400);
MODULE_PARM_DESC(doorbell_cpu, "CPU that takes doorbells (-1: the first)");

static_assert(MIOS_DOORBELL_VECTOR == X86_PLATFORM_IPI_VECTOR);

static enum cpuhp_state hotplug_state;

static int count_range(struct resource *res, void *arg)
{
	struct mios_desc_body *body = arg;

	/* Memory of a node that can be taken back is not ours. */
	if (res->flags & IORESOURCE_SYSRAM_DRIVER_MANAGED)
		return 0;
	body->memory_bytes += resource_size(res);
	/* More than fit, as on big machines: the first ones are named. */
	if (body->nr_ranges == MIOS_DESC_RANGES)
		return 0;
	body->memory[body->nr_ranges].base = res->start;
	body->memory[body->nr_ranges++].size = resource_size(res);
	return 0;
}

/* All that the page allocator has its pages from, with what is lent to it. */
static int count_all(struct resource *res, void *bytes)
{
	*(u64 *)bytes += resource_size(res);
	return 0;
}

/* Of a body that is all zero in these. */
static void memory_describe(struct mios_desc_body *body)
{
	u64 bytes = 0, pages;

	walk_iomem_res_desc(IORES_DESC_NONE, IORESOURCE_SYSTEM_RAM |
			    IORESOURCE_BUSY, 0, -1, body, count_range);
	walk_iomem_res_desc(IORES_DESC_NONE, IORESOURCE_SYSTEM_RAM |
			    IORESOURCE_BUSY, 0, -1, &bytes, count_all);
	pages = (u64)totalram_pages() << PAGE_SHIFT;
	body->cost_bytes = bytes > pages ? bytes - pages : 0;
}

/* The chosen CPU if it is online, else the first that will stay. */
static unsigned int doorbell_choose(unsigned int leaving)
{
	unsigned int cpu;

	if (doorbell_cpu >= 0 && doorbell_cpu != leaving &&
	    (unsigned int)doorbell_cpu < nr_cpu_ids && cpu_online(doorbell_cpu))
		return doorbell_cpu;
	for_each_online_cpu(cpu)
		if (cpu != leaving)
			return cpu;
	return 0;	/* cannot go offline */
}

/* Those that will stay; returns how many. */
static u32 cpus_list(u32 *apicid, unsigned int leaving)
{
	unsigned int cpu;
	u32 nr = 0;

	for_each_online_cpu(cpu)
		if (cpu != leaving && nr < MIOS_AREA_CPUS)
			apicid[nr++] = per_cpu(x86_cpu_to_apicid, cpu);
	return nr;
}

static void cpus_describe(struct mios_desc_body *body, unsigned int leaving)
{
	mios_link.doorbell_cpu = doorbell_choose(leaving);
	body->doorbell_apicid = per_cpu(x86_cpu_to_apicid,
					mios_link.doorbell_cpu);
	body->doorbell_vector = MIOS_DOORBELL_VECTOR;
	body->nr_cpus = cpus_list(body->apicid, leaving);
}

/* On instance 0: the list that its own descriptor is checked against. */
void mios_self_own(unsigned int leaving)
{
	static u32 apicid[MIOS_AREA_CPUS];	/* under link_lock */

	if (mios_link.host)
		mios_cpu_owner_set(0, apicid, cpus_list(apicid, leaving));
}

/* Before anything is published; the memory does not change afterwards. */
void mios_self_init(struct mios_ring *ring)
{
	struct mios_desc_body *body = &ring->body;

	body->instance = mios_link.self;
	body->ring = ring->id;
	body->incarnation = mios_link.incarnation;
	body->node = mios_link.node;
	body->next = MIOS_NO_INSTANCE;
	body->area_version = MIOS_AREA_VERSION;
	body->manifest_version = MIOS_MANIFEST_VERSION;
	strscpy(body->release, init_utsname()->release, MIOS_RELEASE_LEN);
	memory_describe(body);
	body->cost_bytes += ring->g.block_size;
	cpus_describe(body, nr_cpu_ids);
}

void mios_self_publish(struct mios_ring *ring, enum mios_desc_state state)
{
	ring->body.state = state;
	if (mios_inject(bad_doorbell))
		mios_scribble_lie(ring);
	else
		mios_desc_write(ring->desc, &ring->body);
	ring->published = true;
}

/* Write it anew if somebody has overwritten it; under link_lock. */
void mios_self_check(struct mios_ring *ring)
{
	const struct mios_desc *shared = ring->desc;

	if (!ring->published ||
	    (!(READ_ONCE(shared->sequence) & 1) &&
	     READ_ONCE(shared->checksum) ==
	     mios_crc32(&ring->body, sizeof(ring->body)) &&
	     !memcmp(&shared->body, &ring->body, sizeof(ring->body))))
		return;
	pr_warn_ratelimited("our descriptor in ring %u has been overwritten; written anew\n",
			    ring->id);
	mios_self_publish(ring, ring->body.state);
	mios_bell_ring_all(ring, MIOS_BELL_CHANGE);
}

void mios_self_publish_all(enum mios_desc_state state)
{
	struct mios_ring *ring;
	u32 i;

	for_each_mios_ring(ring, i)
		if (ring->published) {
			mios_self_publish(ring, state);
			mios_bell_ring_all(ring, MIOS_BELL_CHANGE);
		}
}

u64 mios_self_memory(void)
{
	struct mios_desc_body *body = kzalloc(sizeof(*body), GFP_KERNEL);
	u64 bytes = 0;

	if (body) {
		memory_describe(body);
		bytes = body->memory_bytes;
	}
	kfree(body);
	return bytes;
}

static void cpus_changed(unsigned int leaving)
{
	struct mios_ring *ring;
	u32 i;

	for_each_mios_ring(ring, i) {
		cpus_describe(&ring->body, leaving);
		if (!ring->published)
			continue;
		mios_self_publish(ring, ring->body.state);
		mios_bell_ring_all(ring, MIOS_BELL_CHANGE);
	}
}

/* Nobody may find a CPU in the descriptor that is not on the list. */
static int cpu_comes(unsigned int cpu)
{
	mutex_lock(&mios_link.lock);
	mios_self_own(nr_cpu_ids);
	cpus_changed(nr_cpu_ids);
	mutex_unlock(&mios_link.lock);
	return 0;
}

/* It takes interrupts for a while: what was rung there is found by the tick. */
static int cpu_goes(unsigned int cpu)
{
	mutex_lock(&mios_link.lock);
	cpus_changed(cpu);
	mios_self_own(cpu);
	mutex_unlock(&mios_link.lock);
	return 0;
}

int mios_self_watch(void)
{
	int ret;

	ret = cpuhp_setup_state_nocalls(CPUHP_AP_ONLINE_DYN, "mios:link",
					cpu_comes, cpu_goes);
	if (ret < 0)
		return ret;
	hotplug_state = ret;
	return 0;
}

void mios_self_unwatch(void)
{
	cpuhp_remove_state_nocalls(hotplug_state);
}
