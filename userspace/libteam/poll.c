// SPDX-License-Identifier: GPL-2.0
/*
 * Waiting for descriptors, some of which other processes of the team have.  If one
 * has all, it waits; else we look at each in turn, and sleep in between.
 */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <time.h>

#include "files.h"

#define LOOK_NS		1000000
#define FOREVER		(-1)
#define MSEC		1000
#define USEC		1000000
#define NSEC		1000000000
#define NONE		(-1)		/* what poll() leaves out */

static int poll_at(unsigned int place, struct pollfd *p, nfds_t n, int ms)
{
	if (place == mios_omp_place.number)
		return REAL(poll)(p, n, ms);
	return ask(place, (struct asked){ .number = SYS_poll,
			   .args = { (long)p, n, ms },
			   .pieces = { { 0, GIVE | TAKE, n * sizeof(*p) } } });
}

/* Who has them all; -1: several.  Where there are none, the kernel says so here. */
static __attribute__((noinline)) int only_place(struct pollfd *p, nfds_t n)
{
	int place = -1;
	nfds_t i;

	for (i = 0; p && i < n; i++) {
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

/*
 * A signal is an error only while we sleep, or it might be that of a look.
 */
static int look_and_sleep(struct pollfd *p, nfds_t n, int ms,
			  struct pollfd *part, const sigset_t *mask)
{
	const struct timespec bit = { 0, LOOK_NS };
	int64_t end = now_ms() + ms;
	sigset_t all, before;
	int ready, err;

	sigfillset(&all);
	sigdelset(&all, SIGBUS);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	while (!(ready = look_at_all(p, n, part)) &&
	       (ms < 0 || now_ms() < end)) {
		ready = REAL(ppoll)(NULL, 0, &bit, mask ? mask : &before);
		if (ready)
			break;
	}
	err = errno;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	errno = err;
	return ready;
}

/* With @mask, if any, instead of the thread's own. */
static int poll_all(struct pollfd *p, nfds_t n, int ms, const sigset_t *mask)
{
	int place = only_place(p, n), ready;
	struct pollfd *part;
	nfds_t i;

	if (place >= 0 && !mask)
		return poll_at(place, p, n, ms);
	part = mios_omp_alloc(n * sizeof(*part));
	if (!part)
		return -1;
	for (i = 0; i < n; i++)
		p[i].revents = 0;
	ready = look_and_sleep(p, n, ms, part, mask);
	mios_omp_free(part);
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

static bool is_wrong(const struct pollfd *p, int n)
{
	int i;

	for (i = 0; i < n; i++)
		if (p[i].revents & POLLNVAL)
			return true;
	return false;
}

static int select_all(int end, fd_set *in, fd_set *out, fd_set *other, int ms,
		      const sigset_t *mask)
{
	struct pollfd p[FD_SETSIZE];
	int n = fill(p, end, in, out, other);

	if (poll_all(p, n, ms, mask) < 0)
		return -1;
	if (is_wrong(p, n)) {
		errno = EBADF;
		return -1;
	}
	return keep(in, p, n, POLLIN, POLLIN | POLLHUP | POLLERR) +
	       keep(out, p, n, POLLOUT, POLLOUT | POLLERR) +
	       keep(other, p, n, POLLPRI, POLLPRI);
}

/* We have all in them. */
static bool are_here(int end, const fd_set *in, const fd_set *out,
		     const fd_set *other)
{
	struct pollfd p[FD_SETSIZE];

	return only_place(p, fill(p, end, in, out, other)) ==
	       mios_omp_place.number;
}

/* False, and errno: it is no time.  More than poll() may be told is for ever. */
static bool read_time(int64_t sec, int64_t nsec, int *ms)
{
	if (sec < 0 || nsec < 0 || nsec >= NSEC) {
		errno = EINVAL;
		return false;
	}
	*ms = sec >= INT_MAX / MSEC ? FOREVER :
	      sec * MSEC + (nsec + NSEC / MSEC - 1) / (NSEC / MSEC);
	return true;
}

int select(int end, fd_set *in, fd_set *out, fd_set *other, struct timeval *t)
{
	int ms = FOREVER;

	if (are_here(end, in, out, other))
		return REAL(select)(end, in, out, other, t);
	if (t && !read_time(t->tv_sec + t->tv_usec / USEC,
			    t->tv_usec % USEC * (NSEC / USEC), &ms))
		return -1;
	return select_all(end, in, out, other, ms, NULL);
}

int pselect(int end, fd_set *in, fd_set *out, fd_set *other,
	    const struct timespec *t, const sigset_t *mask)
{
	int ms = FOREVER;

	if (are_here(end, in, out, other))
		return REAL(pselect)(end, in, out, other, t, mask);
	if (t && !read_time(t->tv_sec, t->tv_nsec, &ms))
		return -1;
	return select_all(end, in, out, other, ms, mask);
}

int poll(struct pollfd *p, nfds_t n, int ms)
{
	if (only_place(p, n) == mios_omp_place.number)
		return REAL(poll)(p, n, ms);
	return poll_all(p, n, ms, NULL);
}

int ppoll(struct pollfd *p, nfds_t n, const struct timespec *t,
	  const sigset_t *mask)
{
	int ms = FOREVER;

	if (only_place(p, n) == mios_omp_place.number)
		return REAL(ppoll)(p, n, t, mask);
	if (t && !read_time(t->tv_sec, t->tv_nsec, &ms))
		return -1;
	return poll_all(p, n, ms, mask);
}

/* As programs that are compiled with _FORTIFY_SOURCE call it. */
int __poll_chk(struct pollfd *p, nfds_t n, int ms, size_t size)
{
	if (n > size / sizeof(*p))
		__builtin_trap();
	return poll(p, n, ms);
}
