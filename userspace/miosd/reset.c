// SPDX-License-Identifier: GPL-2.0
/*
 * Ends TCP connections with an instance that has died: its kernel resets none,
 * and without keepalives who only waits for it would wait for ever.  The error
 * is ECONNABORTED.  It is what "ss --kill" does (sock_diag(7), SOCK_DESTROY);
 * but ss is a file of instance 0, which may be the one that is dead.
 *
 * Main process only.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "miosd.h"

/*
 * Open MPI's daemons end their ranks as soon as they lose mpirun: those on
 * instance 0's side get a while to go on with what needs nobody.
 */
#define HOST_GRACE_S	60

struct request {
	struct nlmsghdr head;
	struct inet_diag_req_v2 diag;
};

/* What each instance was at the last look. */
static struct {
	unsigned int incarnation;	/* 0: not up */
	unsigned int gone;		/* the incarnation that is to be reset */
	int ring;
	time_t due;			/* of the reset, 0: none */
} known[MIOS_MAX_INSTANCES];

static int request(int fd, unsigned int type, unsigned int flags,
		   const struct inet_diag_req_v2 *diag)
{
	struct request r = {
		.head = {
			.nlmsg_len = sizeof(r),
			.nlmsg_type = type,
			.nlmsg_flags = NLM_F_REQUEST | flags,
		},
		.diag = *diag,
	};

	return send(fd, &r, sizeof(r), 0) < 0 ? -errno : 0;
}

/* Also of a socket for IPv6 that took a connection over IPv4. */
static bool leads_to(const struct inet_diag_msg *m, struct in_addr to)
{
	static const unsigned char mapped[12] = { [10] = 0xff, [11] = 0xff };
	const unsigned char *dst = (const unsigned char *)m->id.idiag_dst;

	if (m->idiag_family == AF_INET)
		return !memcmp(dst, &to, sizeof(to));
	return !memcmp(dst, mapped, sizeof(mapped)) &&
	       !memcmp(dst + sizeof(mapped), &to, sizeof(to));
}

/* 0, also when it has ended by itself; -EOPNOTSUPP: this kernel cannot. */
static int destroy(int fd, const struct inet_diag_msg *m)
{
	struct inet_diag_req_v2 diag = {
		.sdiag_family = m->idiag_family,
		.sdiag_protocol = IPPROTO_TCP,
		.id = m->id,
	};
	struct {
		struct nlmsghdr head;
		struct nlmsgerr said;
		char rest[512];
	} ack;
	int err = request(fd, SOCK_DESTROY, NLM_F_ACK, &diag);

	if (err)
		return err;
	if (recv(fd, &ack, sizeof(ack), 0) < (int)sizeof(ack.head) + 4)
		return -EIO;
	if (ack.head.nlmsg_type != NLMSG_ERROR)
		return -EPROTO;
	return ack.said.error == -ENOENT ? 0 : ack.said.error;
}

/* How many were ended, and why one of them was not. */
struct tally {
	unsigned int count;
	int err;
};

/*
 * Walks one answer of the dump; 1: there is more, 0: that was all.  One that
 * cannot be ended keeps no other from it: nobody looks a second time.
 */
static int destroy_listed(int fd, int killer, struct in_addr to,
			  struct tally *tally)
{
	static char buf[32768] __attribute__((aligned(8)));
	ssize_t len = recv(fd, buf, sizeof(buf), 0);
	struct inet_diag_msg *m;
	struct nlmsghdr *h;
	int err;

	if (len < 0)
		return -errno;
	for (h = (void *)buf; NLMSG_OK(h, len); h = NLMSG_NEXT(h, len)) {
		if (h->nlmsg_type == NLMSG_DONE)
			return 0;
		if (h->nlmsg_type != SOCK_DIAG_BY_FAMILY ||
		    h->nlmsg_len < NLMSG_LENGTH(sizeof(*m)))
			return -EPROTO;
		m = NLMSG_DATA(h);
		if (!leads_to(m, to))
			continue;
		err = destroy(killer, m);
		if (err == -EIO || err == -EPROTO)
			return err;	/* nobody answers: not once more */
		if (err)
			tally->err = err;
		else
			tally->count++;
	}
	return 1;
}

static int netlink_open(void)
{
	struct timeval limit = { .tv_sec = 1 };
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC,
			NETLINK_SOCK_DIAG);

	/* The kernel answers at once, or not at all. */
	if (fd >= 0)
		setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	return fd;
}

static void reset_address(struct in_addr to)
{
	static const int families[] = { AF_INET, AF_INET6 };
	struct inet_diag_req_v2 diag = {
		.sdiag_protocol = IPPROTO_TCP,
		/* A listener or one that is over has no partner to lose. */
		.idiag_states = ~(1u << TCP_LISTEN | 1u << TCP_TIME_WAIT |
				  1u << TCP_CLOSE),
	};
	struct tally tally = { 0 };
	int fd, killer, err;
	unsigned int i;

	for (i = 0; i < 2; i++) {
		fd = netlink_open();
		killer = netlink_open();
		diag.sdiag_family = families[i];
		err = fd < 0 || killer < 0 ? -errno :
			request(fd, SOCK_DIAG_BY_FAMILY, NLM_F_DUMP, &diag);
		if (!err)
			do {
				err = destroy_listed(fd, killer, to, &tally);
			} while (err > 0);
		if (err)
			tally.err = err;
		close(fd);
		close(killer);
	}
	if (tally.err)
		fprintf(stderr, "miosd: not all connections with %s are ended: %s\n",
			inet_ntoa(to), strerror(-tally.err));
	if (tally.count)
		fprintf(stderr, "miosd: %u connections with %s ended\n",
			tally.count, inet_ntoa(to));
}

/*
 * The kernel may have to load a module for it, from a root that is still there:
 * nobody is connected with this address.
 */
void reset_prepare(void)
{
	reset_address((struct in_addr){ INADDR_BROADCAST });
}

static void look(const struct mios_instance *inst, int own_ring, time_t now)
{
	/* Instance 0 is in every ring, and each has its own address of it. */
	int ring = inst->id ? inst->ring : own_ring;
	bool up = ring >= 0 && mios_instance_runs(inst);
	typeof(known[0]) *k = &known[inst->id];

	if (k->incarnation && (!up || inst->incarnation != k->incarnation)) {
		k->due = inst->id ? now : now + HOST_GRACE_S;
		k->gone = k->incarnation;
	}
	/* Called dead for a moment: a peer may have damaged what is read. */
	if (up && inst->incarnation == k->gone)
		k->due = 0;
	if (k->due && now >= k->due) {
		k->due = 0;
		if (!mios_injected("keep_connections"))
			reset_address((struct in_addr){
				htonl(10u << 24 | 77u << 16 |
				      (uint32_t)k->ring << 8 | (inst->id + 1)) });
	}
	k->incarnation = up ? inst->incarnation : 0;
	if (up)
		k->ring = ring;
}

/* Look who has gone since the last time. */
void reset_gone(const struct ring_view *v)
{
	struct timespec ts;
	int i;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	for (i = 0; i < v->nr_instances; i++)
		if (v->instances[i].id != v->self)
			look(&v->instances[i], v->ring, ts.tv_sec);
}
