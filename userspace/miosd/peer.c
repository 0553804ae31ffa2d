// SPDX-License-Identifier: GPL-2.0
/*
 * Connects to the miosd of another instance, from a reserved port, with
 * every wait bounded.  That an instance has died is for the ring to say.
 */
#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "miosd.h"

#define CONNECT_MS	15000
#define LOST_S		900
#define KEEPALIVES	5
#define FIRST_PORT	512
/* Above, for clients of the file server: each asks for a port of its own. */
#define LAST_PORT	999
#define NR_PORTS	(LAST_PORT + 1 - FIRST_PORT)

/* No client's port, ours or the NFS client's, may be the one to listen on. */
static_assert(MIOSD_PORT < FIRST_PORT, "a client may take it");

/* This instance; -ENXIO if it is not up on any ring. */
int peer_self(struct mios_instance *self)
{
	int id = mios_self();

	if (id < 0)
		return id;
	return mios_instance_read(id, self);
}

/* The ring that two instances share, or -1; instance 0 is in every one. */
int peer_ring(const struct mios_instance *a, const struct mios_instance *b)
{
	if (!a->id)
		return b->ring;
	return !b->id || a->ring == b->ring ? a->ring : -1;
}

/*
 * Both ends, and the last resort only: an instance that stands still for a
 * while is suspect, no more, and its sessions go on with it.  What the ring
 * does not notice, a device that was taken away for one, ends after this.
 */
void peer_set_timeouts(int fd)
{
	int limit = mios_injected("impatient") ? 10 : LOST_S;
	int one = 1, interval = limit / KEEPALIVES, count = KEEPALIVES - 1;
	int user = limit * 1000;

	setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &one, sizeof(one));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &interval,
		   sizeof(interval));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval,
		   sizeof(interval));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &count, sizeof(count));
	setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &user, sizeof(user));
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
}

static int wait_connected(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLOUT };
	socklen_t len = sizeof(int);
	int n, err = 0;

	do {
		n = poll(&p, 1, CONNECT_MS);
	} while (n < 0 && errno == EINTR);
	if (n == 0)
		return -ETIMEDOUT;
	if (n < 0 || getsockopt(fd, SOL_SOCKET, SO_ERROR, &err, &len))
		return -errno;
	return -err;
}

static int connect_from(unsigned int port, const struct sockaddr_in *to)
{
	struct sockaddr_in from = { .sin_family = AF_INET,
				    .sin_port = htons(port) };
	int fd, one = 1, err;

	fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, MIOSD_DEVICE,
		       sizeof(MIOSD_DEVICE)) ||
	    bind(fd, (struct sockaddr *)&from, sizeof(from))) {
		err = -errno;
		close(fd);
		return err;
	}
	peer_set_timeouts(fd);
	err = connect(fd, (const struct sockaddr *)to, sizeof(*to)) ?
		-errno : 0;
	if (err == -EINPROGRESS)
		err = wait_connected(fd);
	if (!err && fcntl(fd, F_SETFL, 0))	/* the hello may be long */
		err = -errno;
	if (err) {
		close(fd);
		return err;
	}
	return fd;
}

/* Ports that are in use towards @to are passed over, in random order. */
int peer_connect(const struct mios_instance *to, int ring, char *why,
		 size_t size)
{
	struct sockaddr_in addr = { .sin_family = AF_INET,
				    .sin_port = htons(MIOSD_PORT) };
	unsigned int first = getpid() * 7u, i;
	int fd = -EADDRINUSE, err;
	uint32_t address;

	err = mios_address(ring, to->id, &address);
	if (err) {
		snprintf(why, size, "%s", MIOS_NO_NETWORK);
		return err;
	}
	addr.sin_addr.s_addr = htonl(address);
	for (i = 0; i < NR_PORTS; i++) {
		fd = connect_from(FIRST_PORT + (first + i) % NR_PORTS, &addr);
		if (fd != -EADDRINUSE && fd != -EADDRNOTAVAIL)
			break;
	}
	if (fd == -EADDRINUSE || fd == -EADDRNOTAVAIL)
		snprintf(why, size, "all reserved ports towards instance %d "
			 "are in use: wait for some sessions to end", to->id);
	else if (fd == -ECONNREFUSED)
		snprintf(why, size, "instance %d runs no miosd: start "
			 "miosd.service there (mios console %d)", to->id,
			 to->id);
	else if (fd < 0)
		snprintf(why, size, "cannot reach miosd on instance %d: %s",
			 to->id, strerror(-fd));
	return fd;
}
