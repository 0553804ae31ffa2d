// SPDX-License-Identifier: GPL-2.0
/*
 * Receiving frames: the doorbell schedules NAPI, which takes frames from those
 * who have rung, in turn, and hands them to the stack; not through GRO, since a
 * frame can be as long as what GRO would make of several.  A frame is copied out of the
 * channel under its lock and delivered after that.  Called in softirq context.
 */
#include <linux/etherdevice.h>
#include <linux/if_vlan.h>
#include <linux/mm.h>
#include <linux/skbuff.h>

#include "net.h"

/* Bytes that lie in one piece at the head: what the stack looks into. */
#define FRAME_HEAD	256

struct taker {
	struct mios_net *net;
	struct sk_buff *skb;
};

static void frame_store(void *ctx, const void *from, u32 offset, u32 length)
{
	struct sk_buff *skb = ctx;

	offset -= sizeof(struct mios_msg_frame);
	if (skb_is_nonlinear(skb))
		skb_store_bits(skb, offset, from, length);
	else
		memcpy(skb->data + offset, from, length);
}

static struct sk_buff *frame_alloc(struct napi_struct *napi, u32 length)
{
	struct sk_buff *skb;
	int err;

	if (length <= FRAME_HEAD) {
		skb = napi_alloc_skb(napi, length);
		if (skb)
			skb_put(skb, length);
		return skb;
	}
	skb = alloc_skb_with_frags(NET_SKB_PAD + NET_IP_ALIGN + FRAME_HEAD,
				   length - FRAME_HEAD, PAGE_ALLOC_COSTLY_ORDER, &err,
				   GFP_ATOMIC);
	if (!skb)
		return NULL;
	skb_reserve(skb, NET_SKB_PAD + NET_IP_ALIGN);
	skb_put(skb, FRAME_HEAD);
	skb->data_len = length - FRAME_HEAD;
	skb->len += length - FRAME_HEAD;
	return skb;
}

/* A peer's words, copied: may they be true? */
static bool frame_ok(struct mios_net *net, u32 type, u32 total,
		     const struct mios_msg_frame *frame)
{
	u32 length = total - sizeof(*frame);

	return type == MIOS_MSG_FRAME && length >= ETH_HLEN &&
	       length <= READ_ONCE(net->dev->mtu) + VLAN_ETH_HLEN &&
	       !(frame->flags & ~MIOS_FRAME_CSUM);
}

static void frame_take(void *ctx, const struct mios_bulk_reader *r, u32 type,
		       u32 total)
{
	struct mios_msg_frame frame = {};
	struct taker *t = ctx;
	u32 length;

	if (total > sizeof(frame))
		mios_bulk_read(r, &frame, 0, sizeof(frame), NULL, NULL);
	if (total <= sizeof(frame) || !frame_ok(t->net, type, total, &frame)) {
		t->net->bad++;
		return;
	}
	length = total - sizeof(frame);
	t->skb = frame_alloc(&t->net->napi, length);
	if (!t->skb) {
		dev_core_stats_rx_dropped_inc(t->net->dev);
		return;
	}
	mios_bulk_read(r, NULL, sizeof(frame), length, frame_store, t->skb);
	if ((frame.flags & MIOS_FRAME_CSUM) &&
	    !skb_partial_csum_set(t->skb, frame.csum_start,
				  frame.csum_offset)) {
		t->net->bad++;
		kfree_skb(t->skb);
		t->skb = NULL;
	}
}

/* As mios_bulk_take(). */
static int frame_receive(struct mios_net *net, u32 instance)
{
	struct taker t = { .net = net };
	int taken;

	taken = mios_bulk_take(instance, frame_take, &t);
	if (!t.skb)
		return taken;
	dev_sw_netstats_rx_add(net->dev, t.skb->len);
	skb_record_rx_queue(t.skb, 0);
	t.skb->protocol = eth_type_trans(t.skb, net->dev);
	netif_receive_skb(t.skb);
	return taken;
}

/* The next member after the last one that may have something. */
static u32 next_one(const struct mios_net *net)
{
	u64 later = net->left & (~1ULL << net->next);

	return __ffs64(later ?: net->left);
}

/*
 * One frame from each member that has rung, round and round, until nobody has
 * any.  Only those are asked for again: the others' doorbells are armed.
 * A look counts as work even if it finds nothing, or a member whose channel
 * changes all the time would keep us here.
 */
int mios_net_poll(struct napi_struct *napi, int budget)
{
	struct mios_net *net = container_of(napi, struct mios_net, napi);
	int looks = 0;

	net->left |= atomic64_xchg(&net->rung, 0);
	net->polled |= net->left;
	do {
		while (looks < budget && net->left) {
			looks++;
			net->next = next_one(net);
			if (frame_receive(net, net->next) < 2)
				net->left &= ~BIT_ULL(net->next);
		}
		if (looks == budget)
			return looks;
		net->left = mios_bulk_arm(net->polled);
	} while (net->left);
	net->polled = 0;
	napi_complete_done(napi, looks);
	return looks;
}

/* Hard interrupt, softirq or process context; does nothing while it is down. */
void mios_net_receive(void *ctx, u64 from)
{
	struct mios_net *net = ctx;
	unsigned long flags;

	atomic64_or(from, &net->rung);
	local_irq_save(flags);
	napi_schedule_irqoff(&net->napi);
	local_irq_restore(flags);
}
