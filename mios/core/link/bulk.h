/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The bulk class of channels, of all rings, for one user: mios_net.ko.  An
 * instance is a member of one ring, so its number says enough; instance 0 has
 * those of every ring.  Messages are filled and read in place, so that a frame
 * is copied once on each side.
 */
#ifndef _MIOS_LINK_BULK_H
#define _MIOS_LINK_BULK_H

#include <linux/types.h>

struct mios_bulk_reader;

/**
 * struct mios_bulk_ops - how the user hears of its channels
 * @receive:	there are messages, perhaps from each of the instances whose bit
 *		is set in @from (hard interrupt or softirq context)
 * @space:	there is room towards an instance again (softirq context)
 */
struct mios_bulk_ops {
	void (*receive)(void *ctx, u64 from);
	void (*space)(void *ctx, u32 instance);
};

/**
 * mios_bulk_register() - become the user; -EBUSY if there is one
 * @ops: stays valid until mios_bulk_unregister()
 * @ctx: their first argument
 */
int mios_bulk_register(const struct mios_bulk_ops *ops, void *ctx);

/* Returns when none of the ops runs or will run; may sleep. */
void mios_bulk_unregister(void);

/* Bit for every instance that messages arrive at; any context. */
u64 mios_bulk_members(void);

/**
 * mios_bulk_send() - send a message; softirqs off
 * @instance: to whom
 * @type: enum mios_msg_type
 * @total: bytes
 * @fill: writes bytes @offset .. @offset + @length of the message to @to
 * @ctx: its first argument
 *
 * 0; -EAGAIN: no room, ->space() will be called when there is; -ENOTCONN: no
 * such member; -EMSGSIZE.
 */
int mios_bulk_send(u32 instance, u32 type, u32 total,
		   void (*fill)(void *ctx, void *to, u32 offset, u32 length),
		   void *ctx);

/**
 * mios_bulk_take() - read the next message from one instance; softirq context
 * @instance: from whom
 * @take: copies what it wants with mios_bulk_read()
 * @ctx: its first argument
 *
 * The doorbell is not armed then: before it stops taking, the user calls
 * mios_bulk_arm().
 *
 * Return: 0: there is none; 1: one has been taken, no other was there yet;
 * 2: one has been taken, and there is more.
 */
int mios_bulk_take(u32 instance,
		   void (*take)(void *ctx, const struct mios_bulk_reader *r,
				u32 type, u32 total),
		   void *ctx);

/**
 * mios_bulk_read() - copy a part of the message; within take() only
 * @r: as take() got it
 * @to: private memory
 * @offset: first byte; offset + length must not exceed the total
 * @length: bytes
 * @copy: copies each piece; NULL: memcpy to @to
 * @ctx: its first argument
 */
void mios_bulk_read(const struct mios_bulk_reader *r, void *to, u32 offset,
		    u32 length,
		    void (*copy)(void *ctx, const void *from, u32 offset,
				 u32 length),
		    void *ctx);

/**
 * mios_bulk_arm() - nothing more is read; ask for ->receive(); softirq context
 * @from: bit for every instance that is asked for
 *
 * Return: bit for every one of them that has sent something already.
 */
u64 mios_bulk_arm(u64 from);

#endif /* _MIOS_LINK_BULK_H */
