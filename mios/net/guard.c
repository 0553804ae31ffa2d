// SPDX-License-Identifier: GPL-2.0
/*
 * Keeps everybody but root's from the file server of another instance.  That server
 * believes whom a client names, if it comes from a port below 1024: which a
 * program with CAP_NET_BIND_SERVICE alone can do, a container's packets after
 * translation, or anybody where such ports are free for all.  So a connection
 * to it begins only from a socket that was opened with all of root's rights,
 * as the kernel's NFS client opens its own; and no frame to it is taken that no
 * socket of this instance has sent.  Called by transmit.c for each frame,
 * in softirq context.
 *
 * Who has the server sends nothing to it through mios0: for its own programs
 * mios-host-setup(8) sees to it.
 */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/etherdevice.h>
#include <linux/file.h>
#include <linux/if_vlan.h>
#include <linux/ip.h>
#include <linux/module.h>
#include <linux/net.h>
#include <linux/skbuff.h>
#include <net/ip.h>
#include <net/sock.h>
#include <net/tcp_states.h>

#include "../inject/inject.h"
#include "net.h"

#define NFS_PORT	2049

MIOS_INJECT_SWITCH(open_server, "let everybody reach the file server");

/* Of whoever opened it, not of who uses it now: retransmission is nobody's. */
static bool opened_by_root(struct sock *sk)
{
	const struct cred *cred;
	bool root = false;

	read_lock_bh(&sk->sk_callback_lock);
	if (sk->sk_socket && sk->sk_socket->file) {
		cred = sk->sk_socket->file->f_cred;
		root = cred->user_ns == &init_user_ns &&
		       cap_raised(cred->cap_effective, CAP_SYS_ADMIN);
	}
	read_unlock_bh(&sk->sk_callback_lock);
	return root;
}

/*
 * A connection that was let begin goes on, also when its socket is closed;
 * what ends one for which there is no socket comes from one of the kernel's.
 */
static bool may_send(struct sock *sk)
{
	if (!sk)
		return false;
	if (!sk_fullsock(sk))
		return true;
	if (sk->sk_family == AF_PACKET)
		return false;
	if (sk->sk_protocol == IPPROTO_TCP && sk->sk_type == SOCK_STREAM)
		return sk->sk_state != TCP_SYN_SENT || opened_by_root(sk);
	if (sk->sk_protocol == IPPROTO_TCP && sk->sk_kern_sock)
		return true;
	return opened_by_root(sk);
}

/* A TCP segment to the server's port; also one that is too short to tell. */
static bool to_server(const struct sk_buff *skb)
{
	const struct iphdr *ip;
	struct iphdr ip_room;
	const __be16 *ports;
	__be16 room[2];

	ip = skb_header_pointer(skb, ETH_HLEN, sizeof(ip_room), &ip_room);
	if (!ip || ip->version != 4 || ip->protocol != IPPROTO_TCP ||
	    ip->frag_off & htons(IP_OFFSET))
		return false;
	ports = skb_header_pointer(skb, ETH_HLEN + ip->ihl * 4, sizeof(room),
				   room);
	return !ports || ports[1] == htons(NFS_PORT);
}

/* Packet sockets could hide an IP packet in a tag that the receiver drops. */
static bool tagged(__be16 protocol, const struct sock *sk)
{
	return eth_type_vlan(protocol) && sk && sk->sk_family == AF_PACKET;
}

bool mios_net_may_send(const struct sk_buff *skb)
{
	const struct ethhdr *eth = (const struct ethhdr *)skb->data;

	if (inject_open_server)
		return true;
	if (tagged(eth->h_proto, skb->sk))
		return false;
	return eth->h_proto != htons(ETH_P_IP) || !to_server(skb) ||
	       may_send(skb->sk);
}
