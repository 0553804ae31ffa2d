// SPDX-License-Identifier: GPL-2.0
/*
 * Carries the bytes of a session between a local caller and another
 * instance.  The TCP socket stays in here: a socket keeps its port when its
 * owner disconnects it and connects it again, and a reserved port is not for
 * users.  Nothing that passes is looked at.
 *
 * Each way has one buffer, which is filled only when it is empty: a side
 * that does not read stops the other.  A session lasts as long as both ways
 * do, so either end ends the relay, after what came before it has been
 * passed on.  The connection is reset, not closed: the side that closes
 * first would keep the port for a minute, and a user could use them all up.
 */
#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "miosd.h"

#define BUFFER_SIZE	65536
#define LAST_WORDS_MS	1000	/* to take what a caller said before it went */

struct way {
	int from, to;
	size_t start, len;	/* what is in @data */
	bool eof;		/* nothing more comes */
	bool lost;		/* nobody will ever read it */
	unsigned char data[BUFFER_SIZE];
};

static void way_fill(struct way *w, bool from_gone)
{
	ssize_t n = recv(w->from, w->data, sizeof(w->data), MSG_DONTWAIT);

	w->start = 0;
	if (n > 0)
		w->len = n;
	else if (!n || from_gone || (errno != EAGAIN && errno != EINTR))
		w->eof = true;
}

static void way_drain(struct way *w)
{
	ssize_t n = send(w->to, w->data + w->start, w->len,
			 MSG_DONTWAIT | MSG_NOSIGNAL);

	if (n >= 0) {
		w->start += n;
		w->len -= n;
	} else if (errno != EAGAIN && errno != EINTR) {
		w->len = 0;
		w->eof = w->lost = true;
	}
}

/* @from_gone: what it left can be read without waiting. */
static void way_pump(struct way *w, bool from_gone)
{
	do {
		if (!w->len && !w->eof)
			way_fill(w, from_gone);
		if (w->len)
			way_drain(w);
	} while (from_gone && !w->len && !w->eof);
}

/* poll() tells of a side that has gone again and again: ask only once. */
static void arm(struct pollfd *p, int fd, bool gone, const struct way *in,
		const struct way *out)
{
	p->fd = gone ? -1 : fd;
	p->events = (!in->len && !in->eof ? POLLIN : 0) |
		    (out->len ? POLLOUT : 0);
	p->revents = 0;
}

static bool over(const struct way *up, const struct way *down)
{
	if (down->eof && !down->len)
		return true;
	/* lost: what the other side said before it went is still to come */
	return up->eof && !up->len && !up->lost;
}

/* Returns when one of the two has gone. */
void relay_run(int user, int remote)
{
	static struct way up, down;
	struct linger reset = { .l_onoff = 1 };
	bool user_gone = false, remote_gone = false;
	int64_t limit = INT64_MAX;
	struct pollfd p[2];

	setsockopt(remote, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
	up.from = down.to = user;
	up.to = down.from = remote;
	while (!over(&up, &down) && mios_now_ms() < limit) {
		arm(&p[0], user, user_gone, &up, &down);
		arm(&p[1], remote, remote_gone, &down, &up);
		if (poll(p, 2, user_gone ? LAST_WORDS_MS : -1) < 0)
			continue;
		remote_gone |= !!(p[1].revents & (POLLERR | POLLHUP));
		if (p[0].revents & (POLLERR | POLLHUP)) {
			user_gone = true;
			limit = mios_now_ms() + LAST_WORDS_MS;
		}
		way_pump(&up, user_gone);
		way_pump(&down, remote_gone);
	}
	close(remote);
	close(user);
}
