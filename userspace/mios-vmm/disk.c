// SPDX-License-Identifier: GPL-2.0
/*
 * What a disk's virtio device says of it, and its requests.
 */
#include <linux/virtio_blk.h>
#include <linux/virtio_config.h>
#include <linux/virtio_ids.h>
#include <linux/virtio_ring.h>
#include <stdio.h>

#include "block.h"
#include "disk.h"
#include "worker.h"

#define OFFERS	(1ull << VIRTIO_F_VERSION_1 | 1ull << VIRTIO_RING_F_INDIRECT_DESC | \
		 1ull << VIRTIO_BLK_F_SIZE_MAX | 1ull << VIRTIO_BLK_F_SEG_MAX | \
		 1ull << VIRTIO_BLK_F_FLUSH)

static struct disk {
	struct worker worker;		/* the first, so that it is the disk */
	struct block block;
	struct virtio_blk_config config;
	char name[16];
} disks[DISKS_MAX];

/* A driver that knows no flush counts on what has been written. */
static int64_t serve(struct worker *w, uint32_t queue,
		     const struct virtq_chain *c)
{
	struct disk *d = (struct disk *)w;

	return block_serve(&d->block, c, !(w->task[queue].accepted >> VIRTIO_BLK_F_FLUSH & 1));
}

static int disk_start(struct disk *d, uint16_t number, const char *what)
{
	if (block_open(&d->block, what))
		return -1;
	snprintf(d->name, sizeof(d->name), "disk %u", number);
	d->config = (struct virtio_blk_config){
		.capacity = d->block.sectors, .size_max = BLOCK_PART_MAX,
		.seg_max = BLOCK_PARTS,
	};
	d->worker = (struct worker){
		.name = d->name, .serve = serve,
		.virtio = {
			.id = VIRTIO_ID_BLOCK, .queues = 1, .config = &d->config,
			.config_size = sizeof(d->config),
			.offers = OFFERS |
				(uint64_t)d->block.read_only << VIRTIO_BLK_F_RO,
		},
	};
	return worker_start(&d->worker, number);
}

int disks_start(const struct disks *d)
{
	for (uint16_t i = 0; i < d->count; i++)
		if (disk_start(&disks[i], i, d->what[i]))
			return -1;
	return 0;
}
