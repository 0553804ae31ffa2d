// SPDX-License-Identifier: GPL-2.0
/*
 * Sending frames: the destination's address names the member; everything else
 * (broadcast, multicast, foreign addresses) is copied to all of them.  Called
 * by the stack in softirq context under the queue's lock; the channel has a
 * lock of its own, since floods come from another queue.
 *
 * Back-pressure: each member has a queue, which stops while the channel to it
 * is full, so that a slow member delays nobody else.
 */
#include <linux/etherdevice.h>
#include <linux/skbuff.h>

#include "net.h"

/* 02 (locally administered), "MIO", 0, instance: needs no look-up. */
void mios_net_address(u8 *address, u32 instance)
{
	address[0] = 0x02;
	address[1] = 0x4d;
	address[2] = 0x49;
	address[3] = 0x4f;
	address[4] = 0;
	address[5] = instance;
}

struct filler {
	struct sk_buff *skb;
	struct mios_msg_frame head;
};

/* Bytes @offset .. @offset + @length of the message: header, then frame. */
static void frame_fill(void *ctx, void *to, u32 offset, u32 length)
{
	struct filler *f = ctx;
	u32 head = sizeof(f->head);

	if (!offset) {
		memcpy(to, &f->head, head);
		to += head;
		length -= head;
		offset = head;
	}
	skb_copy_bits(f->skb, offset - head, to, length);
}

static void frame_prepare(struct filler *f, struct sk_buff *skb)
{
	memset(f, 0, sizeof(*f));
	f->skb = skb;
	if (skb->ip_summed != CHECKSUM_PARTIAL)
		return;
	f->head.flags = MIOS_FRAME_CSUM;
	f->head.csum_start = skb_checksum_start_offset(skb);
	f->head.csum_offset = skb->csum_offset;
}

static int frame_send(struct filler *f, u32 instance)
{
	return mios_bulk_send(instance, MIOS_MSG_FRAME,
			      f->skb->len + sizeof(f->head), frame_fill, f);
}

/* To every member; one that has no room misses it, as on a busy wire. */
static void frame_flood(struct mios_net *net, struct filler *f)
{
	u64 members = mios_bulk_members();
	u32 i;

	net->floods++;
	for (i = 0; i < mios_link_nr(); i++)
		if ((members & BIT_ULL(i)) && frame_send(f, i))
			dev_core_stats_tx_dropped_inc(net->dev);
}

/* The member that an address belongs to; ourselves: none in particular. */
static u32 frame_target(const u8 *address)
{
	u8 own[ETH_ALEN];

	mios_net_address(own, address[5]);
	if (address[5] >= mios_link_nr() || !ether_addr_equal(own, address))
		return mios_link_self();
	return address[5];
}

u16 mios_net_select(struct net_device *dev, struct sk_buff *skb,
		    struct net_device *sb_dev)
{
	if (!pskb_may_pull(skb, ETH_HLEN))
		return mios_link_self();
	return frame_target(skb->data);
}

/*
 * A queue waits for its own member only: a frame that a filter has put into
 * another one is dropped when there is no room.
 * The queue stops before the second try: if that finds no room either, the
 * wish it leaves is answered after the stop and wakes the queue (SPACE).
 */
static int frame_send_or_stop(struct mios_net *net, struct filler *f,
			      u32 instance, struct netdev_queue *queue)
{
	int err = frame_send(f, instance);

	if (err != -EAGAIN)
		return err;
	if (queue != netdev_get_tx_queue(net->dev, instance))
		return -ENOBUFS;
	net->full++;
	netif_tx_stop_queue(queue);
	smp_mb__after_atomic(); /* SPACE: pairs with mios_net_space() */
	err = frame_send(f, instance);
	if (err != -EAGAIN)
		netif_tx_start_queue(queue);
	return err;
}

netdev_tx_t mios_net_xmit(struct sk_buff *skb, struct net_device *dev)
{
	struct mios_net *net = netdev_priv(dev);
	struct netdev_queue *queue;
	unsigned int length = skb->len;
	struct filler f;
	u32 target;
	int err = 0;

	if (!pskb_may_pull(skb, ETH_HLEN)) {
		dev_core_stats_tx_dropped_inc(dev);
		dev_kfree_skb_any(skb);
		return NETDEV_TX_OK;
	}
	target = frame_target(skb->data);
	if (!mios_net_may_send(skb)) {
		atomic64_inc(&net->refused);
		dev_core_stats_tx_dropped_inc(dev);
		dev_kfree_skb_any(skb);
		return NETDEV_TX_OK;
	}
	frame_prepare(&f, skb);
	queue = netdev_get_tx_queue(dev, skb_get_queue_mapping(skb));
	if (target == mios_link_self())
		frame_flood(net, &f);
	else
		err = frame_send_or_stop(net, &f, target, queue);
	if (err == -EAGAIN)
		return NETDEV_TX_BUSY;
	skb_tx_timestamp(skb);
	if (err) {
		dev_core_stats_tx_dropped_inc(dev);
		dev_kfree_skb_any(skb);
	} else {
		dev_sw_netstats_tx_add(dev, 1, length);
		dev_consume_skb_any(skb);
	}
	return NETDEV_TX_OK;
}

/* Softirq or process context: whoever waits for @instance may try again. */
void mios_net_space(void *ctx, u32 instance)
{
	struct mios_net *net = ctx;

	if (instance < net->dev->real_num_tx_queues)
		netif_wake_subqueue(net->dev, instance);
}
