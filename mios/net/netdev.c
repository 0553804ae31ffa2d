// SPDX-License-Identifier: GPL-2.0
/*
 * The device itself: making it, its address, its carrier, what ethtool says.
 * Called by main.c in process context.
 *
 * Features: the bytes travel by memory, which does not damage them, so a
 * checksum that the stack has not computed need not be (HW_CSUM); the receiver
 * is told where it belongs, and fills it in when it forwards the frame over a
 * real wire.  Segmentation is not offered: a frame is as long as a segment.
 * Byte queue limits are not used: a frame is copied before xmit returns, so
 * nothing is ever queued in the device.
 */
#include <linux/err.h>
#include <linux/etherdevice.h>
#include <linux/ethtool.h>
#include <linux/mutex.h>

#include "net.h"

/* Who looks last sets it last: members come and go beside each other. */
void mios_net_carrier(struct mios_net *net)
{
	static DEFINE_MUTEX(carrier_lock);

	mutex_lock(&carrier_lock);
	if (mios_bulk_members())
		netif_carrier_on(net->dev);
	else
		netif_carrier_off(net->dev);
	mutex_unlock(&carrier_lock);
}

static int net_open(struct net_device *dev)
{
	struct mios_net *net = netdev_priv(dev);

	napi_enable(&net->napi);
	mios_net_carrier(net);
	netif_tx_start_all_queues(dev);
	mios_net_receive(net, ~0ULL);
	return 0;
}

static int net_stop(struct net_device *dev)
{
	struct mios_net *net = netdev_priv(dev);

	netif_tx_stop_all_queues(dev);
	napi_disable(&net->napi);
	return 0;
}

static const struct net_device_ops net_ops = {
	.ndo_open = net_open,
	.ndo_stop = net_stop,
	.ndo_start_xmit = mios_net_xmit,
	.ndo_select_queue = mios_net_select,
	.ndo_set_mac_address = eth_mac_addr,
	.ndo_validate_addr = eth_validate_addr,
};

static const char stat_names[][ETH_GSTRING_LEN] = {
	"tx_waited_for_room", "rx_bad_frames", "tx_floods", "members",
	"tx_refused",
};

static void net_drvinfo(struct net_device *dev, struct ethtool_drvinfo *info)
{
	strscpy(info->driver, "mios_net", sizeof(info->driver));
}

static int net_sset_count(struct net_device *dev, int sset)
{
	return sset == ETH_SS_STATS ? ARRAY_SIZE(stat_names) : -EOPNOTSUPP;
}

static void net_strings(struct net_device *dev, u32 sset, u8 *data)
{
	if (sset == ETH_SS_STATS)
		memcpy(data, stat_names, sizeof(stat_names));
}

static void net_stats(struct net_device *dev, struct ethtool_stats *stats,
		      u64 *data)
{
	const struct mios_net *net = netdev_priv(dev);

	data[0] = net->full;
	data[1] = net->bad;
	data[2] = net->floods;
	data[3] = hweight64(mios_bulk_members());
	data[4] = atomic64_read(&net->refused);
}

static const struct ethtool_ops net_ethtool = {
	.get_drvinfo = net_drvinfo,
	.get_link = ethtool_op_get_link,
	.get_sset_count = net_sset_count,
	.get_strings = net_strings,
	.get_ethtool_stats = net_stats,
};

static const struct mios_bulk_ops bulk_ops = {
	.receive = mios_net_receive,
	.space = mios_net_space,
};

static void net_setup(struct net_device *dev)
{
	struct mios_net *net = netdev_priv(dev);
	u8 address[ETH_ALEN];

	net->dev = dev;
	dev->netdev_ops = &net_ops;
	dev->ethtool_ops = &net_ethtool;
	dev->pcpu_stat_type = NETDEV_PCPU_STAT_TSTATS;
	dev->hw_features = NETIF_F_SG | NETIF_F_FRAGLIST | NETIF_F_HW_CSUM;
	dev->features = dev->hw_features | NETIF_F_HIGHDMA;
	dev->vlan_features = dev->hw_features;
	dev->min_mtu = ETH_MIN_MTU;
	dev->max_mtu = MIOS_MTU_MAX;
	dev->mtu = MIOS_MTU_MAX;
	mios_net_address(address, mios_link_self());
	eth_hw_addr_set(dev, address);
	/*
	 * No netconsole: it sends with interrupts off, also in a panic, when
	 * a CPU that was stopped may hold a channel's lock.  The log has a ring.
	 */
	dev->priv_flags |= IFF_DISABLE_NETPOLL;
	strscpy(dev->name, "mios%d", sizeof(dev->name));
	netif_napi_add(dev, &net->napi, mios_net_poll);
}

struct mios_net *mios_net_create(void)
{
	struct net_device *dev;
	int err;

	dev = alloc_etherdev_mqs(sizeof(struct mios_net), mios_link_nr(), 1);
	if (!dev)
		return ERR_PTR(-ENOMEM);
	net_setup(dev);
	netif_carrier_off(dev);
	/* Until the device is open a doorbell finds its NAPI disabled. */
	err = mios_bulk_register(&bulk_ops, netdev_priv(dev));
	if (err)
		goto free;
	err = register_netdev(dev);
	if (err)
		goto bulk;
	return netdev_priv(dev);

bulk:
	mios_bulk_unregister();
free:
	free_netdev(dev);
	return ERR_PTR(err);
}

void mios_net_destroy(struct mios_net *net)
{
	mios_bulk_unregister();
	unregister_netdev(net->dev);
	free_netdev(net->dev);
}
