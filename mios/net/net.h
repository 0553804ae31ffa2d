/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The network device between instances: what the files of mios/net/ share.
 * One device, one transmit queue per instance, one receive context.
 */
#ifndef _MIOS_NET_H
#define _MIOS_NET_H

#include <linux/netdevice.h>

#include "../core/link/bulk.h"
#include "../core/link/link.h"

/*
 * Largest IP packet that is a multiple of 16.  The larger the frame, the
 * fewer packets, interrupts and trips through the stack per byte; memory has
 * no link speed that a long frame could block.
 */
#define MIOS_MTU_MAX	65520

/**
 * struct mios_net - private part of a device
 * @dev:	the device
 * @napi:	receives from all members
 * @rung:	members that have rung since the last poll; bits, any context
 * @left:	members that may have more; of the poll alone, as the next two
 * @polled:	members whose doorbell is not armed
 * @next:	member that gave the last frame
 * @full:	frames that found no room and waited
 * @bad:	frames from members that no frame may look like
 * @floods:	frames copied to every member
 * @refused:	frames to the file server that are not root's
 */
struct mios_net {
	struct net_device *dev;
	struct napi_struct napi;
	atomic64_t rung;
	u64 left;
	u64 polled;
	u32 next;
	u64 full;
	u64 bad;
	u64 floods;
	atomic64_t refused;
};

/* netdev.c */
struct mios_net *mios_net_create(void);
void mios_net_destroy(struct mios_net *net);
void mios_net_carrier(struct mios_net *net);

/* transmit.c */
void mios_net_address(u8 *address, u32 instance);
netdev_tx_t mios_net_xmit(struct sk_buff *skb, struct net_device *dev);
u16 mios_net_select(struct net_device *dev, struct sk_buff *skb,
		    struct net_device *sb_dev);
void mios_net_space(void *ctx, u32 instance);

/* guard.c */
bool mios_net_may_send(const struct sk_buff *skb);

/* receive.c */
void mios_net_receive(void *ctx, u64 from);
int mios_net_poll(struct napi_struct *napi, int budget);

#endif /* _MIOS_NET_H */
