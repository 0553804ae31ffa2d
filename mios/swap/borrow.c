// SPDX-License-Identifier: GPL-2.0
/*
 * The borrower: loans of others, the nearest first, in one row of frames for
 * the block device.  A loan may be exchanged for another one while frames are
 * read and written, and be lost, when its lender has died: its frames are errors
 * then, and nothing else.
 *
 * A frame is read and written with io_sem held as by a reader, which costs no
 * shared cache line; who exchanges or loses a loan holds it as a writer, for
 * the time of a copy, and allocates nothing meanwhile: memory may be got by
 * writing frames.
 */
#define pr_fmt(fmt) "mios: " fmt

#include <linux/bio.h>
#include <linux/bitmap.h>
#include <linux/blkdev.h>
#include <linux/delay.h>
#include <linux/io.h>
#include <linux/mm.h>
#include <linux/moduleparam.h>
#include <linux/mutex.h>
#include <linux/percpu-rwsem.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/sysfs.h>
#include <linux/vmalloc.h>
#include <uapi/linux/mios.h>

#include "../inject/inject.h"
#include "../core/link/link.h"

#include "swap.h"

MIOS_INJECT_SWITCH(no_sum, "believe each frame");
MIOS_INJECT_SWITCH(spoil, "change what has been written to frames");
MIOS_INJECT_SWITCH(keep_mapped, "use what a dead lender had");
MIOS_INJECT_SWITCH(any_loan, "move what was taken since, too");

static uint delay_ns;
module_param(delay_ns, uint, 0600);
MODULE_PARM_DESC(delay_ns, "each frame takes so much longer, for experiments (at most 1000000)");

static DEFINE_MUTEX(borrow_lock);	/* of which loans there are */
DEFINE_STATIC_PERCPU_RWSEM(io_sem);	/* of ->map of each, and of these: */
static struct borrowed *loans;
static unsigned int nr_loans;		/* grows without it: loans_fill() */
static u32 *sums;			/* of each frame; of zeros it is 0 */
static unsigned long *used;		/* frames that hold something */

/* --- frames */

/* Where it is; -EAGAIN: not in memory; -EIO: it is lost. */
static void *frame_place(u64 frame)
{
	const struct borrowed *loan;

	if (frame >= nr_loans * MIOS_LOAN_FRAMES)
		return ERR_PTR(-EIO);
	loan = &loans[frame / MIOS_LOAN_FRAMES];
	if (!loan->map)
		return ERR_PTR(loan->place ? -EAGAIN : -EIO);
	return loan->map + frame % MIOS_LOAN_FRAMES * PAGE_SIZE;
}

static void take_time(void)
{
	uint ns = min(READ_ONCE(delay_ns), 1000000U);

	if (ns)
		ndelay(ns);
}

/*
 * frame_read() - copy a frame to a page
 * @frame: its number
 * @to: the page
 *
 * -EIO: its lender is dead, or it is not as it was written.  -EAGAIN:
 * frames_pass_on().
 */
static int frame_read(u64 frame, void *to)
{
	void *at;
	int err;

	take_time();
	percpu_down_read(&io_sem);
	at = frame_place(frame);
	err = PTR_ERR_OR_ZERO(at);
	if (!err) {
		copy_page(to, at);
		err = mios_frame_sum(to) == sums[frame] ||
		      inject_no_sum ? 0 : -EIO;
		if (err)
			pr_err_ratelimited("frame %llu, lent by instance %u, is not as it was written\n",
					   frame, loans[frame / MIOS_LOAN_FRAMES].lender);
	}
	percpu_up_read(&io_sem);
	return err;
}

/*
 * frame_write() - copy a page to a frame
 * @frame: its number
 * @from: the page, which may change meanwhile
 */
static int frame_write(u64 frame, const void *from)
{
	void *at;

	take_time();
	percpu_down_read(&io_sem);
	at = frame_place(frame);
	if (!IS_ERR(at)) {
		copy_page(at, (void *)from);
		sums[frame] = mios_frame_sum(at);
		/* The first holds mkswap's word that all this is swap space. */
		if (frame && inject_spoil)
			*(u8 *)at ^= 1;
		set_bit(frame, used);
	}
	percpu_up_read(&io_sem);
	return PTR_ERR_OR_ZERO(at);
}

/*
 * frames_pass_on() - let a request go to the local block device
 * @bio: of one loan, of which a frame was -EAGAIN
 */
static void frames_pass_on(struct bio *bio)
{
	u64 first = bio->bi_iter.bi_sector / PAGE_SECTORS, frame;

	if (op_is_write(bio_op(bio)))
		for (frame = first;
		     frame < first + bio_sectors(bio) / PAGE_SECTORS; frame++)
			set_bit(frame, used);
	/* It stays there, while the device is in use. */
	mios_backing_submit(bio, loans[first / MIOS_LOAN_FRAMES].place,
			    first % MIOS_LOAN_FRAMES);
}

/*
 * frame_free() - what is in it is needed no more
 * @frame: its number; of a device that is in use, so that all this stays
 *
 * Callable with spin locks held.
 */
static void frame_free(u64 frame)
{
	if (frame < nr_loans * MIOS_LOAN_FRAMES)
		clear_bit(frame, used);
}

/* --- loans */

static void loans_drop(void)
{
	u32 lender, i, nr;
	u64 lenders = 0;

	/* Who looks at them has looked, or finds none. */
	percpu_down_write(&io_sem);
	nr = nr_loans;
	nr_loans = 0;
	percpu_up_write(&io_sem);
	for (i = 0; i < nr; i++) {
		if (loans[i].place)
			mios_backing_give(loans[i].place);
		if (!loans[i].map)
			continue;
		memunmap(loans[i].map);
		lenders |= BIT_ULL(loans[i].lender);
	}
	/* He gets it when we die, at the latest. */
	for (lender = 0; lender < mios_link_nr(); lender++) {
		if (lenders & BIT_ULL(lender))
			mios_loan_give(lender);
		mios_loan_forget(lender);
	}
	kvfree(loans);
	vfree(sums);
	bitmap_free(used);
	loans = NULL;
	sums = NULL;
	used = NULL;
}

/* With borrow_lock held, as who takes a loan has it. */
static bool is_borrowed(u64 base)
{
	unsigned int i;

	for (i = 0; i < nr_loans; i++)
		if (loans[i].map && loans[i].base == base)
			return true;
	return false;
}

static int loans_fill(unsigned int nr)
{
	struct source *sources = kcalloc(mios_link_nr(), sizeof(*sources),
					 GFP_KERNEL);
	unsigned long frames = (unsigned long)nr * MIOS_LOAN_FRAMES;
	int err = -ENOMEM;

	loans = kvcalloc(nr, sizeof(*loans), GFP_KERNEL);
	sums = vzalloc(array_size(frames, sizeof(*sums)));
	used = bitmap_zalloc(frames, GFP_KERNEL | __GFP_NOWARN);
	if (sources && loans && sums && used)
		err = mios_sources_look(sources, MIOS_NO_INSTANCE);
	while (nr_loans < nr && !err) {
		err = fatal_signal_pending(current) ? -EINTR :
		      mios_loan_take(sources, is_borrowed,
				     &loans[nr_loans]);
		/* The loan before its number: nr_loans_now(). */
		smp_store_release(&nr_loans, nr_loans + !err);
	}
	kfree(sources);
	if (err)
		loans_drop();
	return err;
}

/**
 * mios_borrow_set() - borrow so much for the block device
 * @bytes: rounded up to loans; 0: give all back
 *
 * -EBUSY: it is in use; -ENOSPC: nobody lends so much, and nothing is borrowed.
 */
int mios_borrow_set(u64 bytes)
{
	unsigned int nr = min_t(u64, DIV_ROUND_UP_ULL(bytes, MIOS_LOAN_SIZE),
				INT_MAX / MIOS_LOAN_FRAMES);
	int err = mios_disk_close();

	if (err)
		return err;
	mutex_lock(&borrow_lock);
	loans_drop();
	if (nr)
		err = loans_fill(nr);
	mios_disk_open(nr_loans * MIOS_LOAN_SIZE);
	mutex_unlock(&borrow_lock);
	return err;
}

/* For who only looks: borrow_lock is held while others are asked for loans. */
static unsigned int nr_loans_now(void)
{
	/* Pairs with loans_fill(); none goes but with io_sem held by a writer. */
	return smp_load_acquire(&nr_loans);
}

u64 mios_borrow_get(void)
{
	return READ_ONCE(nr_loans) * MIOS_LOAN_SIZE;
}

u64 mios_borrow_used(void)
{
	u64 frames;

	percpu_down_read(&io_sem);
	frames = bitmap_weight(used, nr_loans_now() * MIOS_LOAN_FRAMES);
	percpu_up_read(&io_sem);
	return frames * PAGE_SIZE;
}

static u32 line_of(struct mios_loan_line *line, u32 lender)
{
	unsigned int i, nr = nr_loans_now();

	*line = (struct mios_loan_line){ .lender = lender };
	for (i = 0; i < nr; i++) {
		if (loans[i].lender != lender)
			continue;
		line->loans++;
		line->lost += !loans[i].map && !loans[i].place;
		line->frames += bitmap_weight(used + i * MIOS_LOAN_FRAMES /
					      BITS_PER_LONG, MIOS_LOAN_FRAMES);
	}
	return !!line->loans;
}

/**
 * mios_borrow_tell() - whose memory it is that has been borrowed
 * @lines: out, MIOS_LOAN_LINES
 *
 * Return: how many there are.
 */
u32 mios_borrow_tell(struct mios_loan_line *lines)
{
	u32 lender, nr = 0;

	percpu_down_read(&io_sem);
	nr += line_of(lines, MIOS_NO_INSTANCE);
	for (lender = 0; lender < mios_link_nr() && nr < MIOS_LOAN_LINES;
	     lender++)
		nr += line_of(&lines[nr], lender);
	percpu_up_read(&io_sem);
	return nr;
}

/* A line for each lender: his number, bytes, and bytes that are lost. */
int mios_borrow_show(char *buf)
{
	struct mios_loan_line line;
	u32 lender;
	int at = 0;

	percpu_down_read(&io_sem);
	for (lender = 0; lender < mios_link_nr(); lender++)
		if (line_of(&line, lender))
			at += sysfs_emit_at(buf, at, "%u %llu %llu\n", lender,
					    line.loans * MIOS_LOAN_SIZE,
					    line.lost * MIOS_LOAN_SIZE);
	percpu_up_read(&io_sem);
	return at;
}

int mios_borrow_backing(const char *path)
{
	int err;

	mutex_lock(&borrow_lock);
	err = mios_backing_set(path);
	mutex_unlock(&borrow_lock);
	return err;
}

int mios_borrow_backing_show(char *buf)
{
	int size;

	mutex_lock(&borrow_lock);
	size = mios_backing_show(buf);
	mutex_unlock(&borrow_lock);
	return size;
}

static void loan_exchange(struct borrowed *old, const struct borrowed *new)
{
	void *map = old->map;

	percpu_down_write(&io_sem);
	memcpy(new->map, map, MIOS_LOAN_SIZE);
	*old = *new;
	percpu_up_write(&io_sem);
	memunmap(map);
}

/*
 * To the local block device.  A frame that is not as it was written would be
 * one that is right there: then all of it stays.
 */
static int loan_put_out(struct borrowed *old)
{
	u64 first = (old - loans) * MIOS_LOAN_FRAMES;
	void *page = (void *)__get_free_page(GFP_KERNEL), *map = old->map;
	int place = page ? mios_backing_take() : -ENOMEM, err = 0;
	unsigned int i, flags;

	if (place < 0)
		goto free;
	flags = memalloc_noio_save();
	percpu_down_write(&io_sem);
	for (i = 0; i < MIOS_LOAN_FRAMES && !err; i++) {
		if (!test_bit(first + i, used))
			continue;
		copy_page(page, map + i * PAGE_SIZE);
		err = mios_frame_sum(page) == sums[first + i] ?
		      mios_backing_write(place, i, page) : -EIO;
	}
	if (!err)
		*old = (struct borrowed){
			.lender = MIOS_NO_INSTANCE, .place = place,
		};
	percpu_up_write(&io_sem);
	memalloc_noio_restore(flags);
	if (err)
		mios_backing_give(place);
	else
		memunmap(map);
free:
	free_page((unsigned long)page);
	return place < 0 ? place : err;
}

static struct borrowed *loan_find(u32 lender, u64 base, u64 ticket)
{
	unsigned int i;

	for (i = 0; i < nr_loans; i++)
		if (loans[i].map && loans[i].lender == lender &&
		    loans[i].base == base &&
		    (loans[i].ticket == ticket || inject_any_loan))
			return &loans[i];
	return NULL;
}

/**
 * mios_borrow_recall() - a lender wants a loan back
 * @instance: who
 * @base: which
 * @ticket: with which it was taken: it may be lent here anew
 *
 * What is in it moves to another lender, or to the local block device.  0: it
 * is not in use here (any more); -ENOSPC: nobody else lends, nor is there room.
 */
int mios_borrow_recall(u32 instance, u64 base, u64 ticket)
{
	struct source *sources = kcalloc(mios_link_nr(), sizeof(*sources),
					 GFP_KERNEL);
	struct borrowed *old, new;
	int err = 0;

	if (!sources)
		return -ENOMEM;
	mutex_lock(&borrow_lock);
	old = loan_find(instance, base, ticket);
	if (old) {
		err = mios_sources_look(sources, instance) ?:
		      mios_loan_take(sources, is_borrowed, &new);
		if (!err)
			loan_exchange(old, &new);
		else if (err == -ENOSPC)
			err = loan_put_out(old);
	}
	mutex_unlock(&borrow_lock);
	kfree(sources);
	return err;
}

/**
 * mios_borrow_dead() - use nothing any more that a dead instance has lent
 * @instance: who; its node is used again when this returns
 * @incarnation: which boot of it
 */
void mios_borrow_dead(u32 instance, u32 incarnation)
{
	unsigned int i, lost = 0;
	void *map;

	if (inject_keep_mapped)
		return;
	mutex_lock(&borrow_lock);
	for (i = 0; i < nr_loans; i++) {
		if (!loans[i].map || loans[i].lender != instance ||
		    loans[i].incarnation > incarnation)
			continue;
		map = loans[i].map;
		percpu_down_write(&io_sem);
		loans[i].map = NULL;
		percpu_up_write(&io_sem);
		memunmap(map);
		lost++;
	}
	mutex_unlock(&borrow_lock);
	if (lost)
		pr_warn("instance %u is dead, and with it what has been swapped to it: %llu MiB of %llu\n",
			instance, (lost * MIOS_LOAN_SIZE) >> 20,
			mios_borrow_get() >> 20);
}

static const struct mios_disk_frames frames = {
	.read = frame_read,
	.write = frame_write,
	.pass_on = frames_pass_on,
	.free = frame_free,
};

int mios_borrow_init(void)
{
	return mios_disk_init(&frames);
}

/* Nobody has the device open: he would keep the module. */
void mios_borrow_exit(void)
{
	mios_disk_exit();
	loans_drop();
	mios_borrow_backing("none");
}
