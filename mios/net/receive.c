// SPDX-License-Identifier: GPL-2.0
/*
 * Receiving frames: the doorbell schedules NAPI, which takes frames from all
 * members in turn and hands them to the stack.  A frame is copied out of the
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
	skb_store_bits(ctx, offset - sizeof(struct mios_msg_frame), from,
		       length);
}

static struct sk_buff *frame_alloc(u32 length)
{
	u32 head = min_t(u32, length, FRAME_HEAD);
	struct sk_buff *skb;
	int err;

	skb = alloc_skb_with_frags(NET_SKB_PAD + NET_IP_ALIGN + head,
				   length - head, PAGE_ALLOC_COSTLY_ORDER, &err,
				   GFP_ATOMIC);
	if (!skb)
		return NULL;
	skb_reserve(skb, NET_SKB_PAD + NET_IP_ALIGN);
	skb_put(skb, head);
	skb->data_len = length - head;
	skb->len += length - head;
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

/* Returns 1: the message has been dealt with, one way or the other. */
static int frame_take(void *ctx, const struct mios_bulk_reader *r, u32 type,
		      u32 total)
{
	struct mios_msg_frame frame = {};
	struct taker *t = ctx;
	u32 length;

	if (total > sizeof(frame))
		mios_bulk_read(r, &frame, 0, sizeof(frame), NULL, NULL);
	if (total <= sizeof(frame) || !frame_ok(t->net, type, total, &frame)) {
		t->net->bad++;
		return 1;
	}
	length = total - sizeof(frame);
	t->skb = frame_alloc(length);
	if (!t->skb) {
		dev_core_stats_rx_dropped_inc(t->net->dev);
		return 1;
	}
	mios_bulk_read(r, NULL, sizeof(frame), length, frame_store, t->skb);
	if ((frame.flags & MIOS_FRAME_CSUM) &&
	    !skb_partial_csum_set(t->skb, frame.csum_start,
				  frame.csum_offset)) {
		t->net->bad++;
		kfree_skb(t->skb);
		t->skb = NULL;
	}
	return 1;
}

static int frame_receive(struct mios_net *net, u32 instance)
{
	struct taker t = { .net = net };

	if (!mios_bulk_take(instance, frame_take, &t))
		return 0;
	if (!t.skb)
		return 1;
	dev_sw_netstats_rx_add(net->dev, t.skb->len);
	skb_record_rx_queue(t.skb, 0);
	t.skb->protocol = eth_type_trans(t.skb, net->dev);
	napi_gro_receive(&net->napi, t.skb);
	return 1;
}

/* One frame from each member, round and round, until nobody has any. */
int mios_net_poll(struct napi_struct *napi, int budget)
{
	struct mios_net *net = container_of(napi, struct mios_net, napi);
	u32 nr = mios_link_nr();
	u32 idle = 0;
	int done = 0;

	while (done < budget && idle < nr) {
		net->turn = (net->turn + 1) % nr;
		if (frame_receive(net, net->turn)) {
			done++;
			idle = 0;
		} else {
			idle++;
		}
	}
	if (done < budget && napi_complete_done(napi, done) &&
	    mios_bulk_arm())
		napi_schedule(napi);
	return done;
}

/* Hard interrupt, softirq or process context; does nothing while it is down. */
void mios_net_receive(void *ctx)
{
	struct mios_net *net = ctx;
	unsigned long flags;

	local_irq_save(flags);
	napi_schedule_irqoff(&net->napi);
	local_irq_restore(flags);
}
