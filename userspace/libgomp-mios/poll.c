// SPDX-License-Identifier: GPL-2.0
/*
 * Waiting for descriptors, some of which other processes of the team have.  If one
 * has all, it waits; else we look at each in turn, and sleep in between.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <time.h>

#include "files.h"

#define LOOK_NS		1000000
#define NONE		(-1)		/* what poll() leaves out */

static int poll_at(unsigned int place, struct pollfd *p, nfds_t n, int ms)
{
	if (place == mios_omp_place.number)
		return REAL(poll)(p, n, ms);
	return ask(place, (struct asked){ .number = SYS_poll,
			   .args = { (long)p, n, ms },
			   .pieces = { { 0, GIVE | TAKE, n * sizeof(*p) } } });
}

/* Who has them all; -1: several. */
static int only_place(const struct pollfd *p, nfds_t n)
{
	int place = -1;
	nfds_t i;

	for (i = 0; i < n; i++) {
		if (p[i].fd < 0)
			continue;
		if (place >= 0 && files_place(p[i].fd) != place)
			return -1;
		place = files_place(p[i].fd);
	}
	return place < 0 ? mios_omp_place.number : place;
}

/* Those of @place, now; the others' fields stay. */
static int look(unsigned int place, struct pollfd *p, nfds_t n,
		struct pollfd *part)
{
	int ready;
	nfds_t i;

	for (i = 0; i < n; i++) {
		part[i] = p[i];
		if (p[i].fd >= 0 && files_place(p[i].fd) != place)
			part[i].fd = NONE;
	}
	ready = poll_at(place, part, n, 0);
	for (i = 0; i < n && ready >= 0; i++)
		if (p[i].fd >= 0 && files_place(p[i].fd) == place)
			p[i].revents = part[i].revents;
	return ready;
}

static int look_at_all(struct pollfd *p, nfds_t n, struct pollfd *part)
{
	unsigned int place;
	int ready, sum = 0;

	for (place = 0; place < mios_omp_place.window->nr_places; place++) {
		ready = look(place, p, n, part);
		if (ready < 0)
			return -1;
		sum += ready;
	}
	return sum;
}

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000ll + t.tv_nsec / 1000000;
}

static int poll_all(struct pollfd *p, nfds_t n, int ms)
{
	int place = only_place(p, n), ready;
	int64_t end = now_ms() + ms;
	struct pollfd *part;
	nfds_t i;

	if (place >= 0)
		return poll_at(place, p, n, ms);
	part = malloc(n * sizeof(*part));
	if (!part)
		return -1;
	for (i = 0; i < n; i++)
		p[i].revents = 0;
	while (!(ready = look_at_all(p, n, part)) &&
	       (ms < 0 || now_ms() < end))
		nanosleep(&(struct timespec){ 0, LOOK_NS }, NULL);
	free(part);
	return ready;
}

/* Whatever has a word of a set. */
static int fill(struct pollfd *p, int end, const fd_set *in,
		const fd_set *out, const fd_set *other)
{
	int fd, n = 0;

	for (fd = 0; fd < end && fd < FD_SETSIZE; fd++) {
		p[n] = (struct pollfd){ .fd = fd };
		if (in && FD_ISSET(fd, in))
			p[n].events |= POLLIN;
		if (out && FD_ISSET(fd, out))
			p[n].events |= POLLOUT;
		if (other && FD_ISSET(fd, other))
			p[n].events |= POLLPRI;
		n += p[n].events != 0;
	}
	return n;
}

/* Returns how many are in @set now. */
static int keep(fd_set *set, const struct pollfd *p, int n, int asked, int seen)
{
	int i, count = 0;

	for (i = 0; set && i < n; i++) {
		if (!(p[i].events & asked))
			continue;
		if (p[i].revents & seen)
			count++;
		else
			FD_CLR(p[i].fd, set);
	}
	return count;
}

int select(int end, fd_set *in, fd_set *out, fd_set *other, struct timeval *t)
{
	int n, ms = t ? t->tv_sec * 1000 + (t->tv_usec + 999) / 1000 : -1;
	struct pollfd p[FD_SETSIZE];

	n = fill(p, end, in, out, other);
	if (only_place(p, n) == mios_omp_place.number)
		return REAL(select)(end, in, out, other, t);
	if (poll_all(p, n, ms) < 0)
		return -1;
	return keep(in, p, n, POLLIN, POLLIN | POLLHUP | POLLERR) +
	       keep(out, p, n, POLLOUT, POLLOUT | POLLERR) +
	       keep(other, p, n, POLLPRI, POLLPRI);
}

int poll(struct pollfd *p, nfds_t n, int ms)
{
	return poll_all(p, n, ms);
}
