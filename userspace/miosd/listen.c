// SPDX-License-Identifier: GPL-2.0
/*
 * Where miosd can be reached: a unix socket for everybody on this instance,
 * and a TCP port on the device between instances, for live instances of the
 * own ring.  Who comes from an ordinary port gets no process; who comes from
 * a reserved one has yet to prove that it is root's miosd: see hello.c.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "miosd.h"

int listen_unix(void)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX,
				    .sun_path = MIOSD_SOCKET };
	mode_t old;
	int fd, err;

	if (mkdir("/run/mios", 0755) && errno != EEXIST)
		return -errno;
	unlink(MIOSD_SOCKET);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	old = umask(0111);
	err = bind(fd, (struct sockaddr *)&addr, sizeof(addr)) ||
	      listen(fd, 128) ? -errno : 0;
	umask(old);
	if (err) {
		close(fd);
		return err;
	}
	return fd;
}

/* On mios0 only; -ENODEV until it is there. */
int listen_device(void)
{
	struct sockaddr_in addr = { .sin_family = AF_INET,
				    .sin_port = htons(MIOSD_PORT) };
	int fd, one = 1, err;

	fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	if (setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, MIOSD_DEVICE,
		       sizeof(MIOSD_DEVICE)) ||
	    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) ||
	    bind(fd, (struct sockaddr *)&addr, sizeof(addr)) ||
	    listen(fd, 128)) {
		err = -errno;
		close(fd);
		return err;
	}
	return fd;
}

/* Which instance of which ring an address belongs to, or -1. */
static int instance_at(const struct sockaddr_in *addr, int *ring)
{
	uint32_t a = ntohl(addr->sin_addr.s_addr), its;
	int id = (int)(a & 0xff) - 1;

	*ring = a >> 8 & 0xff;
	if (addr->sin_family != AF_INET || *ring >= MIOS_MAX_RINGS || id < 0 ||
	    id >= MIOS_MAX_INSTANCES)
		return -1;
	return !mios_address(*ring, id, &its) && its == a ? id : -1;
}

/* Anybody can provoke this line: at most one per second. */
static void complain(const struct sockaddr_in *addr)
{
	char text[INET_ADDRSTRLEN];
	static time_t last;
	time_t now = time(NULL);

	if (now == last)
		return;
	last = now;
	inet_ntop(AF_INET, &addr->sin_addr, text, sizeof(text));
	fprintf(stderr, "miosd: hung up on %s port %u: not the miosd of a "
		"live instance of our ring\n", text, ntohs(addr->sin_port));
}

/* A connection from another miosd, or -errno; others are hung up on. */
int accept_peer(int listener, const struct mios_instance *self,
		struct mios_instance *peer)
{
	struct sockaddr_in addr = { 0 };
	socklen_t len = sizeof(addr);
	int fd, id, ring;

	fd = accept4(listener, (struct sockaddr *)&addr, &len, SOCK_CLOEXEC);
	if (fd < 0)
		return -errno;
	id = instance_at(&addr, &ring);
	if (id >= 0 && ntohs(addr.sin_port) < IPPORT_RESERVED &&
	    !mios_instance_read(id, peer) && peer->state == MIOS_STATE_UP &&
	    peer_ring(self, peer) == ring) {
		peer_set_timeouts(fd);
		return fd;
	}
	complain(&addr);
	close(fd);
	return -EPERM;
}
