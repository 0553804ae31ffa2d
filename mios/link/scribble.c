// SPDX-License-Identifier: GPL-2.0
/*
 * For tests only (MIOS_FAULT=1): overwrites the channels between two
 * instances of ring 0 with random bytes, both heads and slots.
 *   mios/scribble	write "FROM TO SEED": both directions; FROM = TO: its
 *			descriptor
 */
#include <linux/debugfs.h>
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/prandom.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "fault.h"
#include "ring.h"

static void scribble(struct mios_ring *ring, u32 from, u32 to,
		     struct rnd_state *rnd)
{
	struct mios_desc *desc = mios_area_desc(ring->area, &ring->g, from);
	u32 class, i;

	for (i = 0; from == to && i < sizeof(*desc); i += sizeof(u32))
		WRITE_ONCE(*(u32 *)((u8 *)desc + i), prandom_u32_state(rnd));
	for (class = 0; from != to && class < MIOS_CLASSES; class++) {
		const struct mios_shape *shape = &ring->g.shape[class];
		u32 size = sizeof(struct mios_chan) +
			   shape->slot_size * shape->nr_slots;
		u8 *chan = (u8 *)mios_area_chan(ring->area, &ring->g, to, from,
						class);

		for (i = 0; i < size; i += sizeof(u32))
			WRITE_ONCE(*(u32 *)(chan + i), prandom_u32_state(rnd));
	}
}

/*
 * Publish a descriptor that is sound but for its CPUs: the first, which takes
 * the doorbells, is the first of the highest other instance.
 */
void mios_scribble_lie(struct mios_ring *ring)
{
	u32 victim = ring->g.nr - (mios_link.self == ring->g.nr - 1 ? 2 : 1);
	u32 apicid = READ_ONCE(mios_area_cpus(ring->area, victim)->apicid[0]);
	struct mios_desc_body *body;

	body = kmemdup(&ring->body, sizeof(*body), GFP_ATOMIC);
	if (!body)
		return;
	body->apicid[0] = apicid;
	body->doorbell_apicid = apicid;
	mios_desc_write(ring->desc, body);
	kfree(body);
}

static ssize_t scribble_write(struct file *file, const char __user *buf,
			      size_t size, loff_t *pos)
{
	struct mios_ring *ring = mios_ring_get(0);
	struct rnd_state rnd;
	char line[64] = {};
	u32 from, to, seed;

	if (size >= sizeof(line) || copy_from_user(line, buf, size))
		return -EINVAL;
	if (sscanf(line, "%u %u %u", &from, &to, &seed) != 3 || !ring ||
	    from >= ring->g.nr || to >= ring->g.nr)
		return -EINVAL;
	prandom_seed_state(&rnd, seed);
	scribble(ring, from, to, &rnd);
	scribble(ring, to, from, &rnd);
	return size;
}

static const struct file_operations scribble_fops = {
	.owner = THIS_MODULE,
	.write = scribble_write,
};

void mios_scribble_init(struct dentry *dir)
{
	debugfs_create_file("scribble", 0200, dir, NULL, &scribble_fops);
}
