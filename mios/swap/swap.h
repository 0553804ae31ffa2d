/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Memory that instances lend each other to swap into: what the files of
 * mios/swap/ share.  A loan is 2 MiB.  The lender has allocated it and uses it
 * for nothing else; who borrows it maps it, and is the only one who reads and
 * writes it until he has given it back, or is dead.
 *
 * Locks, the outermost first: borrow_lock (borrow.c), then, on another
 * instance, lend_lock (lend.c).  Who has lend_lock calls nobody.
 */
#ifndef _MIOS_SWAP_H
#define _MIOS_SWAP_H

#include <linux/types.h>

#include <mios/msg.h>

struct bio;

#define MIOS_LOAN_FRAMES	(MIOS_LOAN_SIZE / PAGE_SIZE)

/* lend.c: what this instance lends */
int mios_lend_set(u64 bytes);
u64 mios_lend_get(void);
int mios_lend_show(char *buf);
int mios_lend_take(u32 instance, u32 incarnation, u64 ticket,
		   struct mios_loan *loan);
void mios_lend_forget(u32 instance, u32 incarnation, u64 ticket);
void mios_lend_back(u32 instance, u32 incarnation, u64 base, u64 ticket);
void mios_lend_dead(u32 instance, u32 incarnation);

/**
 * struct borrowed - a loan as the borrower has it
 * @map:	mapping; NULL: lost, or on the local block device
 * @base:	physical address
 * @ticket:	with which it was taken
 * @lender:	whose it is
 * @incarnation: which boot of him
 * @place:	on the local block device, where it is instead; 0: it is not
 */
struct borrowed {
	void *map;
	u64 base;
	u64 ticket;
	u32 lender;
	u32 incarnation;
	u32 place;
};

/**
 * struct source - one who may lend
 * @incarnation: its boot; 0: it is not there, or lends nothing
 * @distance:	from here
 * @taken:	loans taken from it at this time
 */
struct source {
	u32 incarnation;
	u32 distance;
	unsigned int taken;
};

/* take.c: how it gets loans */
int mios_sources_look(struct source *sources, u32 but);
int mios_loan_take(struct source *sources, bool (*has)(u64 base),
		   struct borrowed *one);
int mios_loan_give(u32 lender);
int mios_loan_forget(u32 lender);

/* borrow.c: what it has borrowed, and moves when it is asked to */
int mios_borrow_set(u64 bytes);
u64 mios_borrow_get(void);
u64 mios_borrow_used(void);
int mios_borrow_show(char *buf);
int mios_borrow_backing(const char *path);
int mios_borrow_backing_show(char *buf);
u32 mios_borrow_tell(struct mios_loan_line *lines);
int mios_borrow_recall(u32 instance, u64 base, u64 ticket);
void mios_borrow_dead(u32 instance, u32 incarnation);
int mios_borrow_init(void);
void mios_borrow_exit(void);

/* backing.c: where what nobody lends for any more is instead */
int mios_backing_set(const char *path);
int mios_backing_show(char *buf);
int mios_backing_take(void);
void mios_backing_give(unsigned int place);
int mios_backing_write(unsigned int place, unsigned int frame, void *page);
void mios_backing_submit(struct bio *bio, unsigned int place,
			 unsigned int frame);

/* tell.c: who lends to whom, of all instances */
int mios_loans_show(char *buf);

/* frame_sum.c */
u32 mios_frame_sum(const void *frame);

/**
 * struct mios_disk_frames - what the blocks of the block device are
 * @read:	copy a frame to a page; -EAGAIN: @pass_on
 * @write:	the same, to a frame
 * @pass_on:	let a request go to the local block device
 * @free:	what is in a frame is needed no more
 */
struct mios_disk_frames {
	int (*read)(u64 frame, void *to);
	int (*write)(u64 frame, const void *from);
	void (*pass_on)(struct bio *bio);
	void (*free)(u64 frame);
};

/* disk.c: the block device over it */
struct gendisk;
bool mios_disk_is(const struct gendisk *which);
int mios_disk_close(void);
void mios_disk_open(u64 bytes);
int mios_disk_init(const struct mios_disk_frames *under);
void mios_disk_exit(void);

#endif /* _MIOS_SWAP_H */
