// SPDX-License-Identifier: GPL-2.0
/*
 * A socket for raw frames of our EtherType on one interface.  Used by
 * ethernet.c in a node, and by cmd_run.c, which tells others of its end.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "seal.h"

#define BUFFER	(4 << 20)	/* bytes that wait for the service thread */

static int complain(const char *interface, const char *what, int err)
{
	fprintf(stderr, "mios-dsm: interface '%s': %s\n", interface, what);
	return -err;
}

static int look(struct ether *e, const char *interface)
{
	struct ifreq r = { };

	snprintf(r.ifr_name, sizeof(r.ifr_name), "%s", interface);
	if (ioctl(e->fd, SIOCGIFINDEX, &r))
		return complain(interface, "there is none of that name",
				ENODEV);
	e->index = r.ifr_ifindex;
	if (ioctl(e->fd, SIOCGIFHWADDR, &r) ||
	    r.ifr_hwaddr.sa_family != ARPHRD_ETHER)
		return complain(interface, "is no Ethernet", EINVAL);
	memcpy(e->mac, r.ifr_hwaddr.sa_data, ETHER_MAC);
	if (ioctl(e->fd, SIOCGIFMTU, &r) || r.ifr_mtu < ETHER_MTU_LEAST)
		return complain(interface, "its frames are too short", EINVAL);
	e->mtu = r.ifr_mtu;
	if (ioctl(e->fd, SIOCGIFFLAGS, &r) || !(r.ifr_flags & IFF_UP))
		return complain(interface, "is down", ENETDOWN);
	return 0;
}

int ether_open(struct ether *e, const char *interface, int type)
{
	struct sockaddr_ll at = { .sll_family = AF_PACKET,
				  .sll_protocol = htons(ETHER_TYPE) };
	int err, on = 1, room = BUFFER;

	e->fd = socket(AF_PACKET, type | SOCK_CLOEXEC, 0);
	if (e->fd < 0)
		return complain(interface, errno == EPERM ?
				"raw frames need CAP_NET_RAW" :
				strerror(errno), errno);
	err = look(e, interface);
	at.sll_ifindex = e->index;
	/* With our own frames we would talk to ourselves. */
	if (!err && (setsockopt(e->fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, &on,
				sizeof(on)) ||
		     bind(e->fd, (struct sockaddr *)&at, sizeof(at))))
		err = complain(interface, strerror(errno), errno);
	/* Without the right to so much it gets what the system allows. */
	if (setsockopt(e->fd, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof(room)))
		setsockopt(e->fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof(room));
	if (err)
		close(e->fd);
	return err;
}

/*
 * A name that is gone with who has it, and belongs to a network namespace as an
 * interface does.
 */
int ether_claim(const struct ether *e, u16 cluster)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0), len, err;

	/* The first byte is 0: it is no file. */
	len = snprintf(at.sun_path + 1, sizeof(at.sun_path) - 1,
		       "mios-dsm-%d-%u", e->index, cluster);
	if (fd >= 0 && !bind(fd, (struct sockaddr *)&at,
			     offsetof(struct sockaddr_un, sun_path) + 1 + len))
		return fd;
	err = errno;
	fprintf(stderr, "mios-dsm: %s\n", err == EADDRINUSE ?
		"a node of this cluster runs on this interface already" :
		strerror(err));
	if (fd >= 0)
		close(fd);
	return -err;
}

int ether_notes_only(struct ether *e)
{
	/* The first two bytes, in the network's order. */
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_H | BPF_ABS, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, htons(ETHER_MAGIC), 1, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, htons(SEAL_RUN), 0, 1),
		BPF_STMT(BPF_RET | BPF_K, 0xffff),
		BPF_STMT(BPF_RET | BPF_K, 0),
	};
	struct sock_fprog all = { .len = 5, .filter = code };

	return setsockopt(e->fd, SOL_SOCKET, SO_ATTACH_FILTER, &all,
			  sizeof(all)) ? -errno : 0;
}

void ether_send(struct ether *e, const u8 *mac, const void *frame, u32 len)
{
	struct sockaddr_ll to = { .sll_family = AF_PACKET,
				  .sll_protocol = htons(ETHER_TYPE),
				  .sll_ifindex = e->index,
				  .sll_halen = ETHER_MAC };

	memset(to.sll_addr, 0xff, ETHER_MAC);
	if (mac)
		memcpy(to.sll_addr, mac, ETHER_MAC);
	if (sendto(e->fd, frame, len, MSG_DONTWAIT, (struct sockaddr *)&to,
		   sizeof(to)) < 0)
		return;
}
