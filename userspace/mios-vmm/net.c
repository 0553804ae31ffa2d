// SPDX-License-Identifier: GPL-2.0
/*
 * Frames between the guest and a tap.  What comes in is read into a buffer of
 * ours before a place in the guest is looked for, and stays there until there is
 * one; what goes out is written to the tap as it is.  No checksums and no
 * segments are left to the other side.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <linux/virtio_config.h>
#include <linux/virtio_ids.h>
#include <linux/virtio_net.h>
#include <linux/virtio_ring.h>
#include <net/if.h>
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "net.h"
#include "worker.h"

#define RECEIVES	0	/* the queues, as the standard has them */
#define SENDS		1
#define HEADER		sizeof(struct virtio_net_hdr_v1)	/* before a frame */
#define FRAME_MAX	65536
#define FRAME_FITS	1514	/* a place has 1526 bytes at least, the header's too */
#define OFFERS	(1ull << VIRTIO_F_VERSION_1 | 1ull << VIRTIO_RING_F_INDIRECT_DESC | \
		 1ull << VIRTIO_NET_F_MAC)

static struct {
	struct worker worker;
	struct virtio_net_config config;
	int fd, end;
	/* Each the thread's of one queue. */
	uint8_t in[HEADER + FRAME_MAX], out[FRAME_MAX];
	ssize_t came;
	bool complained;	/* of the tap, once */
} net = { .fd = -1, .end = -1 };

/* Until a frame is there that has not been given to the guest; false: the end. */
static bool ready(struct worker *w, uint32_t queue)
{
	struct pollfd both[] = {
		{ .fd = net.end, .events = POLLIN },
		{ .fd = net.fd, .events = POLLIN },
	};

	(void)w;
	while (queue == RECEIVES && net.came <= 0) {
		if (poll(both, 2, -1) < 0 && errno != EINTR)
			return false;
		if (both[0].revents)
			return false;
		net.came = read(net.fd, net.in + HEADER, FRAME_MAX);
		if (net.came < 0 && errno != EAGAIN && errno != EINTR) {
			say("the guest receives nothing any more: %s", strerror(errno));
			return false;
		}
		/* A frame that no driver has room for is lost, as on a wire. */
		if (net.came > FRAME_FITS)
			net.came = 0;
	}
	return true;
}

static int64_t receive(const struct virtq_chain *c)
{
	const struct virtio_net_hdr_v1 head = { .num_buffers = 1 };
	uint64_t len = HEADER + net.came;

	memcpy(net.in, &head, HEADER);
	if (!virtq_write(c, 0, net.in, len))
		return -1;
	net.came = 0;
	return len;
}

/* A tap that is down, or full, loses a frame; TCP sends it again. */
static void lost(void)
{
	if (!net.complained)
		say("the tap does not take the guest's frames: %s", strerror(errno));
	net.complained = true;
}

static int64_t transmit(const struct virtq_chain *c)
{
	/* What is shorter than the header is very long. */
	uint64_t len = c->in - HEADER;

	if (len > FRAME_MAX ||
	    !virtq_read(c, HEADER, net.out, len))
		return -1;
	while (write(net.fd, net.out, len) < 0)
		if (errno != EINTR) {
			lost();
			break;
		}
	return 0;
}

static int64_t serve(struct worker *w, uint32_t queue,
		     const struct virtq_chain *c)
{
	(void)w;
	return queue == RECEIVES ? receive(c) : transmit(c);
}

static void end(struct worker *w)
{
	(void)w;
	eventfd_write(net.end, 1);
}

int net_start(uint16_t number, int fd, const uint8_t mac[NET_MAC])
{
	net.fd = fd;
	net.end = eventfd(0, EFD_CLOEXEC);
	if (net.end < 0)
		return say("cannot have a network: %s", strerror(errno));
	memcpy(net.config.mac, mac, NET_MAC);
	net.worker = (struct worker){
		.name = "the network", .serve = serve, .ready = ready, .end = end,
		.virtio = {
			.id = VIRTIO_ID_NET, .queues = 2, .config = &net.config,
			.config_size = sizeof(net.config), .offers = OFFERS,
		},
	};
	return worker_start(&net.worker, number);
}

int net_open(uint16_t number, const char *tap)
{
	struct ifreq ifr = { .ifr_flags = IFF_TAP | IFF_NO_PI };
	uint8_t *mac = (uint8_t *)ifr.ifr_hwaddr.sa_data;
	int fd;

	/* One that is made by being opened could not be set up before. */
	if (strlen(tap) >= sizeof(ifr.ifr_name) || !if_nametoindex(tap))
		return say("there is no tap %s: ip tuntap add %s mode tap; ip link set %s up",
			   tap, tap, tap);
	strcpy(ifr.ifr_name, tap);
	fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
	/* Who had the tap before may have taken checksums and segments upon itself. */
	if (fd < 0 || ioctl(fd, TUNSETIFF, &ifr) || ioctl(fd, TUNSETOFFLOAD, 0) ||
	    ioctl(fd, SIOCGIFHWADDR, &ifr))
		return say("cannot use %s as a network: %s", tap, strerror(errno));
	/*
	 * The tap's own address is the host's end.  The guest's differs in bytes
	 * in which those of other taps do not.
	 */
	mac[0] = (mac[0] | 2) & ~1;
	mac[1] ^= 'M';
	return net_start(number, fd, mac);
}
