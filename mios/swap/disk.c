// SPDX-License-Identifier: GPL-2.0
/*
 * /dev/mios_swap: a block device over frames that others lend, for mkswap and
 * swapon as any.  A request is a copy, made by who sends it; so swap-in goes
 * without swap cache and read-ahead (BLK_FEAT_SYNCHRONOUS).  Its size is 0
 * while nothing is borrowed, and changes only while nobody has it open.
 */
#include <linux/bio.h>
#include <linux/blkdev.h>
#include <linux/highmem.h>
#include <linux/module.h>

#include "../inject/inject.h"
#include "swap.h"

MIOS_INJECT_SWITCH(no_error, "take an error for success");

#define LOAN_SECTORS	(MIOS_LOAN_SIZE / SECTOR_SIZE)

static struct gendisk *disk;
static const struct mios_disk_frames *frames;
static bool closed;		/* under disk->open_mutex: nobody gets in */

static int segment(struct bio_vec *bv, u64 frame, bool write)
{
	void *page;
	int err;

	/* A block is a page: only a buffer that is askew is in two pieces. */
	if (bv->bv_len != PAGE_SIZE)
		return -EINVAL;
	page = kmap_local_page(bv->bv_page);
	err = write ? frames->write(frame, page) :
		      frames->read(frame, page);
	kunmap_local(page);
	return err;
}

/* Of frames of one loan: all are in memory, or have gone from it meanwhile. */
static void submit_one(struct bio *bio)
{
	bool write = op_is_write(bio_op(bio));
	struct bvec_iter iter;
	struct bio_vec bv;
	int err = 0;

	bio_for_each_segment(bv, bio, iter) {
		err = segment(&bv, iter.bi_sector / PAGE_SECTORS, write);
		if (err)
			break;
	}
	if (err == -EAGAIN) {
		frames->pass_on(bio);
		return;
	}
	if (!inject_no_error)
		bio->bi_status = errno_to_blk_status(err);
	bio_endio(bio);
}

static void submit(struct bio *bio)
{
	u64 first = bio->bi_iter.bi_sector / LOAN_SECTORS;

	if ((bio_end_sector(bio) - 1) / LOAN_SECTORS != first)
		bio = bio_split_to_limits(bio);
	if (bio)
		submit_one(bio);
}

static int opened(struct gendisk *which, blk_mode_t mode)
{
	return closed ? -EBUSY : 0;
}

/* With the lock of the swap device held. */
static void slot_free(struct block_device *bdev, unsigned long slot)
{
	frames->free(slot);
}

static const struct block_device_operations ops = {
	.owner = THIS_MODULE,
	.open = opened,
	.submit_bio = submit,
	.swap_slot_free_notify = slot_free,
};

bool mios_disk_is(const struct gendisk *which)
{
	return which == disk;
}

/**
 * mios_disk_close() - let nobody open it
 *
 * -EBUSY: somebody has it open.
 */
int mios_disk_close(void)
{
	int err = 0;

	mutex_lock(&disk->open_mutex);
	if (disk_openers(disk) || closed)
		err = -EBUSY;
	else
		closed = true;
	mutex_unlock(&disk->open_mutex);
	return err;
}

/**
 * mios_disk_open() - undo that
 * @bytes: the size of it now
 */
void mios_disk_open(u64 bytes)
{
	set_capacity_and_notify(disk, bytes >> SECTOR_SHIFT);
	mutex_lock(&disk->open_mutex);
	closed = false;
	mutex_unlock(&disk->open_mutex);
}

/**
 * mios_disk_init() - before anything is borrowed
 * @under: what its blocks are; stays valid
 */
int mios_disk_init(const struct mios_disk_frames *under)
{
	struct queue_limits limits = {
		.logical_block_size = PAGE_SIZE,
		.physical_block_size = PAGE_SIZE,
		.dma_alignment = PAGE_SIZE - 1,
		.chunk_sectors = LOAN_SECTORS,
		.features = BLK_FEAT_SYNCHRONOUS,
	};
	int err;

	frames = under;
	disk = blk_alloc_disk(&limits, NUMA_NO_NODE);
	if (IS_ERR(disk))
		return PTR_ERR(disk);
	disk->flags |= GENHD_FL_NO_PART;
	disk->fops = &ops;
	strscpy(disk->disk_name, "mios_swap", DISK_NAME_LEN);
	err = add_disk(disk);
	if (err)
		put_disk(disk);
	return err;
}

void mios_disk_exit(void)
{
	del_gendisk(disk);
	put_disk(disk);
}
