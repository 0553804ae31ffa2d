// SPDX-License-Identifier: GPL-2.0
/*
 * Which CPUs belong to which instance: instance 0 keeps the original and
 * writes a copy into every ring's area, against which descriptors are checked
 * (mios_desc_read()).  Called by host.c, self.c and link.c under link_lock.
 */
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "ring.h"

static struct mios_area_cpus *owned;	/* of each instance; NULL in a child */

int mios_cpu_owner_init(void)
{
	owned = kvcalloc(MIOS_AREA_INSTANCES, sizeof(*owned), GFP_KERNEL);
	return owned ? 0 : -ENOMEM;
}

void mios_cpu_owner_exit(void)
{
	kvfree(owned);
	owned = NULL;
}

static bool owned_stands(const struct mios_area_cpus *cpus, u32 instance)
{
	return !(READ_ONCE(cpus->sequence) & 1) &&
	       !memcmp(&cpus->nr, &owned[instance].nr,
		       sizeof(*cpus) - sizeof(cpus->sequence));
}

/* A ring that is being made learns all of them; an old one is put right. */
void mios_cpu_owner_fill(struct mios_ring *ring)
{
	struct mios_area_cpus *cpus;
	u32 i;

	for (i = 0; i < MIOS_AREA_INSTANCES; i++) {
		cpus = mios_area_cpus(ring->area, i);
		if (!owned_stands(cpus, i))
			mios_seq_write((u32 *)cpus, (const u32 *)&owned[i],
				       sizeof(owned[i]));
	}
}

void mios_cpu_owner_set(u32 instance, const u32 *apicid, u32 nr)
{
	struct mios_area_cpus *cpus;
	struct mios_ring *ring;
	u32 i;

	if (!owned)
		return;
	cpus = &owned[instance];
	cpus->nr = min(nr, MIOS_AREA_CPUS);
	memcpy(cpus->apicid, apicid, cpus->nr * sizeof(*apicid));
	for_each_mios_ring(ring, i)
		mios_seq_write((u32 *)mios_area_cpus(ring->area, instance),
			       (const u32 *)cpus, sizeof(*cpus));
}

/* Those of an instance, up or not, as instance 0 has named them; how many. */
u32 mios_cpu_owner_get(u32 instance, u32 *apicid)
{
	struct mios_area_cpus *cpus;
	struct mios_ring *ring;
	u32 nr = 0, i;

	if (owned) {
		nr = owned[instance].nr;
		memcpy(apicid, owned[instance].apicid, nr * sizeof(*apicid));
		return nr;
	}
	cpus = kmalloc(sizeof(*cpus), GFP_KERNEL);
	if (!cpus)
		return 0;
	for_each_mios_ring(ring, i) {
		if (mios_seq_read((u32 *)cpus,
				  (u32 *)mios_area_cpus(ring->area, instance),
				  sizeof(*cpus)) || cpus->nr > MIOS_AREA_CPUS)
			continue;
		nr = cpus->nr;
		memcpy(apicid, cpus->apicid, nr * sizeof(*apicid));
	}
	kfree(cpus);
	return nr;
}
