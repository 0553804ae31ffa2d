// SPDX-License-Identifier: GPL-2.0
/*
 * The first seconds of a connection, in a process of its own: a local
 * caller is identified and connected to the instance it asked for; a
 * connection from another instance proves that it is root's, says on whose
 * behalf it comes and turns into a session.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "miosd.h"

#define HANDSHAKE_SECONDS	38	/* for all of it */
#define STEP_SECONDS	10	/* for one word of the other miosd */
#define REFUSE_MS		5000	/* for the other side to read why */

static void set_wait(int fd, int seconds)
{
	struct timeval tv = { .tv_sec = seconds };

	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &tv, sizeof(tv));
}

/* The answer, with the session's socket if there is one; never waits. */
void local_reply(int fd, int error, const char *text, int pass)
{
	struct mios_reply r = { .error = error };
	struct iovec iov = { .iov_base = &r, .iov_len = sizeof(r) };
	union {
		char buf[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control = { 0 };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
	struct cmsghdr *cmsg;

	snprintf(r.text, sizeof(r.text), "%s", text);
	if (pass >= 0) {
		msg.msg_control = control.buf;
		msg.msg_controllen = sizeof(control.buf);
		cmsg = CMSG_FIRSTHDR(&msg);
		cmsg->cmsg_level = SOL_SOCKET;
		cmsg->cmsg_type = SCM_RIGHTS;
		cmsg->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(cmsg), &pass, sizeof(int));
	}
	if (sendmsg(fd, &msg, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
		fprintf(stderr, "miosd: a caller left before its answer\n");
}

static int check_request(const struct mios_request *rq, char *why, size_t size)
{
	if (rq->magic != MIOS_PROTO_MAGIC) {
		snprintf(why, size, "miosd did not understand the request");
		return -EPROTO;
	}
	if (rq->version != MIOS_PROTO_VERSION) {
		snprintf(why, size, "miosd speaks version %d, you speak %u: "
			 "install the same release on both sides",
			 MIOS_PROTO_VERSION, rq->version);
		return -EPROTONOSUPPORT;
	}
	if ((rq->op != MIOS_OP_EXEC && rq->op != MIOS_OP_TOP) ||
	    rq->instance >= MIOS_MAX_INSTANCES || rq->cpus > MAX_CPUS) {
		snprintf(why, size, "miosd was asked for something it does "
			 "not know");
		return -EINVAL;
	}
	return 0;
}

/* May we reach it, and is it there? */
static int check_target(const struct mios_instance *self, int id,
			struct mios_instance *to, char *why, size_t size)
{
	if (mios_instance_read(id, to)) {
		snprintf(why, size, "there is no instance %d: mios status "
			 "lists them", id);
		return -ENODEV;
	}
	if (id == self->id)
		return 0;
	if (to->state != MIOS_STATE_UP) {
		snprintf(why, size, "instance %d is %s, not up: mios status "
			 "shows it", id, mios_state_name(to->state));
		return -EHOSTDOWN;
	}
	if (peer_ring(self, to) < 0) {
		snprintf(why, size, "instance %d is on ring %d and this one "
			 "on ring %d: rings do not reach each other", id,
			 to->ring, self->ring);
		return -EHOSTUNREACH;
	}
	return 0;
}

/* To ourselves: the session runs in this process, on a socket pair. */
static int hand_to_self(int fd, struct slot *slot, struct caller *c)
{
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
		return -errno;
	local_reply(fd, 0, "", pair[0]);
	close(pair[0]);
	close(fd);
	alarm(0);
	session_run(pair[1], slot, c);
	return 0;
}

/*
 * To another instance.  The caller gets an end of a socket pair, never the
 * socket that was let in there: see relay.c.
 */
static int hand_over(int fd, const struct mios_instance *to, int ring,
		     struct caller *c, char *why, size_t size)
{
	int pair[2], remote, err;

	remote = peer_connect(to, ring, why, size);
	if (remote < 0)
		return remote;
	set_wait(remote, STEP_SECONDS);
	err = hello_send(remote, to->id, c, why, size);
	if (err)
		return err;
	set_wait(remote, 0);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
		return -errno;
	local_reply(fd, 0, "", pair[0]);
	close(pair[0]);
	close(fd);
	alarm(0);
	table_detach(NULL);
	relay_run(pair[1], remote);
	return 0;
}

/* How many one user may hold, apart for the two uses of a slot. */
static int check_share(struct slot *slot, uid_t uid, bool relay, char *why,
		       size_t size)
{
	unsigned int max = relay ? MAX_RELAYS_USER : MAX_SESSIONS_USER;

	slot->uid = uid;
	slot->relay = relay;
	slot->identified = true;
	if (!uid || slots_of_user(uid, relay) <= max)
		return 0;
	slot->identified = false;	/* what is refused does not count */
	snprintf(why, size, "you have %u sessions %s already: wait for some "
		 "to end", max, relay ? "on other instances" : "on it");
	return -EAGAIN;
}

static int serve_request(int fd, const struct mios_request *rq,
			 struct slot *slot, char *why, size_t size)
{
	struct mios_instance self, to;
	struct caller c;
	int err;

	err = caller_identify(fd, &c, why, size);
	if (err)
		return err;
	snprintf(why, size, "this kernel has no " MIOS_SYSFS ": load the mios "
		 "modules");
	err = peer_self(&self);
	if (!err)
		err = check_target(&self, rq->instance, &to, why, size);
	if (!err)
		err = check_share(slot, c.hello.uid, to.id != self.id, why,
				  size);
	if (err)
		return err;
	c.hello.magic = MIOS_PROTO_MAGIC;
	c.hello.version = MIOS_PROTO_VERSION;
	c.hello.op = rq->op;
	c.hello.cpus = rq->cpus;
	c.hello.instance = self.id;
	if (to.id == self.id)
		return hand_to_self(fd, slot, &c);
	return hand_over(fd, &to, peer_ring(&self, &to), &c, why, size);
}

/* A process for one local caller; returns when it has been answered. */
void serve_local(int fd, struct slot *slot)
{
	struct mios_request rq;
	char why[MIOS_TEXT_LEN] = "";
	ssize_t n;
	int err;

	alarm(HANDSHAKE_SECONDS);
	set_wait(fd, 5);
	n = recv(fd, &rq, sizeof(rq), MSG_WAITALL);
	if (n != sizeof(rq))
		return;
	err = check_request(&rq, why, sizeof(why));
	if (!err)
		err = serve_request(fd, &rq, slot, why, sizeof(why));
	if (err)
		local_reply(fd, err, why, -1);
}

static void refuse_peer(int fd, const char *text)
{
	struct mios_fail fail = { .code = 125 };
	struct mios_link l;

	snprintf(fail.text, sizeof(fail.text), "%s", text);
	if (!link_init(&l, fd, MIOS_SPEC_MAX) &&
	    !link_send(&l, MIOS_FRAME_FAIL, 0, &fail, sizeof(fail)))
		link_end(&l, REFUSE_MS);
}

/* A process for one connection from another instance's miosd. */
void serve_peer(int fd, struct slot *slot)
{
	char why[MIOS_TEXT_LEN] = "";
	struct caller c;
	int err;

	alarm(HANDSHAKE_SECONDS);
	set_wait(fd, STEP_SECONDS);
	err = hello_receive(fd, &c);
	if (err == -ECONNRESET)	/* "mios boot" asks whether we are here */
		return;
	if (err || (int)c.hello.instance != slot->peer) {
		fprintf(stderr, "miosd: hung up on instance %d: %s\n",
			slot->peer, err == -EKEYREJECTED ?
			"no proof that it knows this machine's key" :
			err ? strerror(-err) : "wrong number");
		return;
	}
	err = check_share(slot, c.hello.uid, false, why, sizeof(why));
	if (!err && slots_full(slot->uid)) {
		snprintf(why, sizeof(why), "too many sessions there: wait for "
			 "some to end");
		err = -EAGAIN;
	}
	if (err) {
		refuse_peer(fd, why);
		return;
	}
	set_wait(fd, 0);
	alarm(0);
	session_run(fd, slot, &c);
}
