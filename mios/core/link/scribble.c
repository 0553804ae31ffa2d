// SPDX-License-Identifier: GPL-2.0
/*
 * For tests only (MIOS_INJECT=1): overwrites what the instances of ring 0
 * share, and shows it.
 *   mios/scribble	write "FROM TO SEED": the channels between two, both
 *			directions, heads and slots; FROM = TO: its descriptor;
 *			"all ROUNDS SEED": one structure after another, of
 *			everybody (garbage.c); "old INSTANCE": its descriptor
 *			says again that it is up; "host INSTANCE INCARNATION":
 *			it is host, says the word in instance 0's block
 *   mios/area		read: all of it
 */
#include <linux/debugfs.h>
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/prandom.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "../channel/garbage.h"
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

static int scribble_pair(struct mios_ring *ring, u32 from, u32 to, u32 seed)
{
	struct rnd_state rnd;

	if (from >= ring->g.nr || to >= ring->g.nr)
		return -EINVAL;
	prandom_seed_state(&rnd, seed);
	scribble(ring, from, to, &rnd);
	scribble(ring, to, from, &rnd);
	return 0;
}

static int scribble_all(struct mios_ring *ring, u32 rounds, u64 seed)
{
	struct mios_desc_body *body = kmalloc(sizeof(*body), GFP_KERNEL);
	u32 i;

	if (!body)
		return -ENOMEM;
	for (i = 0; i < rounds && !signal_pending(current); i++) {
		mios_garbage_round(ring->area, &ring->g, &seed, body);
		cond_resched();
	}
	kfree(body);
	return i < rounds ? -EINTR : 0;
}

/* What a member of an earlier boot would say if it were still there. */
static int scribble_old(struct mios_ring *ring, u32 instance)
{
	struct mios_desc_body *body;
	struct mios_desc *desc;

	if (instance >= ring->g.nr)
		return -EINVAL;
	desc = mios_area_desc(ring->area, &ring->g, instance);
	body = kmemdup(&desc->body, sizeof(*body), GFP_KERNEL);
	if (!body)
		return -ENOMEM;
	body->state = MIOS_DESC_UP;
	mios_desc_write(desc, body);
	kfree(body);
	return 0;
}

static ssize_t scribble_write(struct file *file, const char __user *buf,
			      size_t size, loff_t *pos)
{
	struct mios_ring *ring = mios_ring_get(0);
	char line[64] = {};
	u32 a, b, seed;
	int err = 0;

	if (size >= sizeof(line) || copy_from_user(line, buf, size) || !ring)
		return -EINVAL;
	if (sscanf(line, "all %u %u", &a, &seed) == 2)
		err = scribble_all(ring, a, seed);
	else if (sscanf(line, "host %u %u", &a, &b) == 2)
		WRITE_ONCE(mios_area_lines(ring->area, &ring->g, 0)->host,
			   (u64)b << 32 | a);
	else if (sscanf(line, "old %u", &a) == 1)
		err = scribble_old(ring, a);
	else if (sscanf(line, "%u %u %u", &a, &b, &seed) == 3)
		err = scribble_pair(ring, a, b, seed);
	else
		err = -EINVAL;
	return err ?: size;
}

static const struct file_operations scribble_fops = {
	.owner = THIS_MODULE,
	.write = scribble_write,
};

static ssize_t area_read(struct file *file, char __user *buf, size_t size,
			 loff_t *pos)
{
	struct mios_ring *ring = mios_ring_get(0);

	return ring ? simple_read_from_buffer(buf, size, pos, ring->area,
					      ring->g.area_size) : 0;
}

static const struct file_operations area_fops = {
	.owner = THIS_MODULE,
	.read = area_read,
	.llseek = default_llseek,
};

void mios_scribble_init(struct dentry *dir)
{
	debugfs_create_file("scribble", 0200, dir, NULL, &scribble_fops);
	debugfs_create_file("area", 0400, dir, NULL, &area_fops);
}
