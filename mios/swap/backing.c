// SPDX-License-Identifier: GPL-2.0
/*
 * A local block device that takes what no lender has room for any more, in
 * places as large as a loan.  What has gone there stays until it is given up:
 * who knows its place needs no lock.
 */
#define pr_fmt(fmt) "mios: " fmt

#include <linux/bio.h>
#include <linux/bitmap.h>
#include <linux/blkdev.h>
#include <linux/slab.h>
#include <linux/sysfs.h>

#include "swap.h"

static struct file *backing;		/* NULL: none; with the borrower's lock */
static char name[BDEVNAME_SIZE + 8];
static unsigned long *places;		/* those that are in use */
static unsigned int nr_places;

static void backing_close(void)
{
	if (!backing)
		return;
	bdev_fput(backing);
	backing = NULL;
	bitmap_free(places);
	nr_places = 0;
}

static int backing_open(const char *path)
{
	struct file *file = bdev_file_open_by_path(path, BLK_OPEN_READ |
						   BLK_OPEN_WRITE, &backing,
						   NULL);
	struct block_device *bdev;
	int err = -EINVAL;

	if (IS_ERR(file))
		return PTR_ERR(file);
	bdev = file_bdev(file);
	if (mios_disk_is(bdev->bd_disk) ||
	    bdev_logical_block_size(bdev) > PAGE_SIZE)
		goto put;
	err = -ENOSPC;
	nr_places = min_t(u64, bdev_nr_bytes(bdev) / MIOS_LOAN_SIZE,
			  INT_MAX / MIOS_LOAN_FRAMES);
	if (!nr_places)
		goto put;
	err = -ENOMEM;
	places = bitmap_zalloc(nr_places, GFP_KERNEL);
	if (!places)
		goto put;
	backing = file;
	snprintf(name, sizeof(name), "%pg", bdev);
	return 0;

put:
	bdev_fput(file);
	return err;
}

/**
 * mios_backing_set() - put there what has no other place
 * @path: a block device that nobody else uses; "none": nowhere
 *
 * With the borrower's lock held, as all here but mios_backing_submit().
 * -EBUSY: there is something on the one that it was.
 */
int mios_backing_set(const char *path)
{
	if (backing && !bitmap_empty(places, nr_places))
		return -EBUSY;
	backing_close();
	return strcmp(path, "none") ? backing_open(path) : 0;
}

/* Its name, bytes, and bytes that are in use. */
int mios_backing_show(char *buf)
{
	if (!backing)
		return sysfs_emit(buf, "none\n");
	return sysfs_emit(buf, "%s %llu %llu\n", name,
			  nr_places * MIOS_LOAN_SIZE,
			  bitmap_weight(places, nr_places) * MIOS_LOAN_SIZE);
}

/**
 * mios_backing_take() - take a place
 *
 * Return: its number, from 1; -ENOSPC: there is none.
 */
int mios_backing_take(void)
{
	unsigned long place;

	if (!backing)
		return -ENOSPC;
	place = find_first_zero_bit(places, nr_places);
	if (place == nr_places)
		return -ENOSPC;
	set_bit(place, places);
	return place + 1;
}

void mios_backing_give(unsigned int place)
{
	clear_bit(place - 1, places);
}

static sector_t place_sector(unsigned int place, unsigned int frame)
{
	return ((u64)(place - 1) * MIOS_LOAN_FRAMES + frame) * PAGE_SECTORS;
}

/**
 * mios_backing_write() - write a frame, and wait for that
 * @place: taken
 * @frame: which in it
 * @page: of memory that has a struct page
 */
int mios_backing_write(unsigned int place, unsigned int frame, void *page)
{
	struct bio_vec vec;
	struct bio bio;
	int err;

	bio_init(&bio, file_bdev(backing), &vec, 1, REQ_OP_WRITE | REQ_SYNC);
	bio.bi_iter.bi_sector = place_sector(place, frame);
	__bio_add_page(&bio, virt_to_page(page), PAGE_SIZE,
		       offset_in_page(page));
	err = submit_bio_wait(&bio);
	bio_uninit(&bio);
	return err;
}

/**
 * mios_backing_submit() - let a request go there instead
 * @bio: of a place and no other
 * @place: which
 * @frame: its first in it
 */
void mios_backing_submit(struct bio *bio, unsigned int place,
			 unsigned int frame)
{
	bio_set_dev(bio, file_bdev(backing));
	bio->bi_iter.bi_sector = place_sector(place, frame);
	submit_bio_noacct(bio);
}
