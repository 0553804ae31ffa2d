// SPDX-License-Identifier: GPL-2.0
/*
 * The bulk class of channels: the same rules as message.c, without a copy in
 * between and without types, for the network device.  The net channels' locks
 * are taken with softirqs off and held over one copy.
 */
#define pr_fmt(fmt) "mios: " fmt

#include <linux/export.h>
#include <linux/rcupdate.h>

#include "bulk.h"
#include "ring.h"

struct mios_bulk_reader {
	const struct mios_consumer *c;
	const struct mios_message *m;
};

/* Who uses them; @ops is released after @ctx (USER). */
static struct {
	const struct mios_bulk_ops *ops;
	void *ctx;
} user;

int mios_bulk_register(const struct mios_bulk_ops *ops, void *ctx)
{
	int err = 0;

	mutex_lock(&mios_link.lock);
	if (user.ops) {
		err = -EBUSY;
	} else {
		user.ctx = ctx;
		/* USER: the context comes first. */
		smp_store_release(&user.ops, ops);
	}
	mutex_unlock(&mios_link.lock);
	return err;
}
EXPORT_SYMBOL_NS_GPL(mios_bulk_register, MIOS);

void mios_bulk_unregister(void)
{
	WRITE_ONCE(user.ops, NULL);
	/* The doorbell runs with interrupts off, the softirq side in RCU. */
	synchronize_rcu();
}
EXPORT_SYMBOL_NS_GPL(mios_bulk_unregister, MIOS);

void mios_bulk_receive(u64 from)
{
	const struct mios_bulk_ops *ops;

	rcu_read_lock();
	/* USER */
	ops = smp_load_acquire(&user.ops);
	if (ops)
		ops->receive(user.ctx, from);
	rcu_read_unlock();
}

void mios_bulk_space(u32 instance)
{
	const struct mios_bulk_ops *ops;

	rcu_read_lock();
	/* USER */
	ops = smp_load_acquire(&user.ops);
	if (ops)
		ops->space(user.ctx, instance);
	rcu_read_unlock();
}

u64 mios_bulk_members(void)
{
	u64 members = 0;
	u32 i;

	for (i = 0; i < MIOS_AREA_INSTANCES; i++)
		if (mios_peer_get(i))
			members |= BIT_ULL(i);
	return members;
}
EXPORT_SYMBOL_NS_GPL(mios_bulk_members, MIOS);

int mios_bulk_send(u32 instance, u32 type, u32 total,
		   void (*fill)(void *ctx, void *to, u32 offset, u32 length),
		   void *ctx)
{
	struct mios_peer *peer = mios_peer_get(instance);
	u32 offset, part;
	struct mios_out *out;
	bool bell = false;
	void *to;
	int err;

	if (!peer)
		return -ENOTCONN;
	out = &peer->out[MIOS_CLASS_NET];
	lockdep_assert_in_softirq();
	spin_lock(&out->lock);
	err = mios_producer_begin(&out->p, total);
	if (err == -EAGAIN && mios_producer_wish(&out->p, total))
		err = mios_producer_begin(&out->p, total);
	if (!err) {
		for (offset = 0; offset < total; offset += part) {
			to = mios_producer_room(&out->p, offset, &part);
			fill(ctx, to, offset, part);
		}
		bell = mios_producer_end(&out->p, type);
	}
	spin_unlock(&out->lock);
	if (bell)
		mios_bell_ring(peer, MIOS_BELL_NET);
	if (err == -ESHUTDOWN)
		mios_out_broken(peer, out);
	return err;
}
EXPORT_SYMBOL_NS_GPL(mios_bulk_send, MIOS);

int mios_bulk_take(u32 instance,
		   void (*take)(void *ctx, const struct mios_bulk_reader *r,
				u32 type, u32 total),
		   void *ctx)
{
	struct mios_peer *peer = mios_peer_get(instance);
	struct mios_bulk_reader reader;
	struct mios_message m;
	struct mios_in *in;
	bool bell = false;
	int ret;

	if (!peer)
		return 0;
	in = &peer->in[MIOS_CLASS_NET];
	lockdep_assert_in_softirq();
	spin_lock(&in->lock);
	mios_consumer_disarm(&in->c);
	ret = mios_consumer_peek(&in->c, &m);
	if (ret < 0) {
		mios_consumer_resync(&in->c);
		pr_warn_ratelimited("instance %u: garbage in its network channel; begun anew\n",
				    instance);
		ret = 0;
	}
	if (ret) {
		reader.c = &in->c;
		reader.m = &m;
		take(ctx, &reader, m.type, m.total);
		bell = mios_consumer_pop(&in->c, &m);
		ret = mios_consumer_more(&in->c) ? 2 : 1;
	}
	spin_unlock(&in->lock);
	if (bell)
		mios_bell_ring(peer, MIOS_BELL_SPACE);
	return ret;
}
EXPORT_SYMBOL_NS_GPL(mios_bulk_take, MIOS);

void mios_bulk_read(const struct mios_bulk_reader *r, void *to, u32 offset,
		    u32 length,
		    void (*copy)(void *ctx, const void *from, u32 offset,
				 u32 length),
		    void *ctx)
{
	u32 end = min(offset + length, r->m->total);
	u32 first = offset;
	const void *from;
	u32 part;

	for (; offset < end; offset += part) {
		from = mios_consumer_room(r->c, r->m, offset, &part);
		part = min(part, end - offset);
		if (copy)
			copy(ctx, from, offset, part);
		else
			memcpy(to + (offset - first), from, part);
	}
}
EXPORT_SYMBOL_NS_GPL(mios_bulk_read, MIOS);

u64 mios_bulk_arm(u64 from)
{
	struct mios_peer *peer;
	struct mios_in *in;
	u64 more = 0;
	bool bell;
	u32 i;

	for (; from; from &= from - 1) {
		i = __ffs64(from);
		peer = mios_peer_get(i);
		if (!peer)
			continue;
		in = &peer->in[MIOS_CLASS_NET];
		lockdep_assert_in_softirq();
		spin_lock(&in->lock);
		bell = mios_consumer_flush(&in->c);
		if (mios_consumer_arm(&in->c))
			more |= BIT_ULL(i);
		spin_unlock(&in->lock);
		if (bell)
			mios_bell_ring(peer, MIOS_BELL_SPACE);
	}
	return more;
}
EXPORT_SYMBOL_NS_GPL(mios_bulk_arm, MIOS);
