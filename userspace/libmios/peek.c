// SPDX-License-Identifier: GPL-2.0
/*
 * Standard input of a command elsewhere.  What it does not read belongs to
 * whoever reads next: the loop, say, whose body called us.  So a pipe and a
 * file are only looked at here, and what is seen goes ahead to the command's
 * instance; it leaves the pipe, or the file's position passes it, when credit
 * tells that the command has read it there.
 *
 *	the caller's pipe  |1 2 3 4 5 6 7 . .     tee(2): nothing is taken
 *	ahead               -------               sent, no credit for it yet
 *
 * What was read from a terminal, a socket or a device cannot be given back:
 * there it is taken when it is sent.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "frames.h"

struct mios_peek {
	int fd;			/* stays when the source has ended */
	bool pipe;		/* else a file */
	bool look;		/* there may be something new */
	uint32_t ahead;		/* bytes sent that are still in @fd */
	int copy[2];		/* a pipe, to look into */
	int written;		/* an epoll file: ready when more has been */
};

/* Reads so many bytes from a pipe that has them, into @to or nowhere. */
static ssize_t pull(int fd, unsigned char *to, size_t len)
{
	static unsigned char nowhere[65536];
	size_t done = 0, part;
	ssize_t n;

	while (done < len) {
		part = len - done;
		if (!to && part > sizeof(nowhere))
			part = sizeof(nowhere);
		n = read(fd, to ? to + done : nowhere, part);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return -EIO;
		done += n;
	}
	return done;
}

static size_t bytes_in(int pipe)
{
	int n = 0;

	return ioctl(pipe, FIONREAD, &n) || n < 0 ? 0 : n;
}

/* Its end: nobody writes any more.  Asked before, so that no byte is missed. */
static bool hung_up(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, 0) > 0 && p.revents & (POLLHUP | POLLERR);
}

/* As read(2): -EAGAIN where there is nothing new. */
static ssize_t look_into_pipe(struct mios_peek *p, unsigned char *to, size_t len)
{
	bool last = hung_up(p->fd);
	ssize_t seen = tee(p->fd, p->copy[1], MIOS_WINDOW, SPLICE_F_NONBLOCK);
	ssize_t n = 0;

	if (seen < 0 && errno != EAGAIN)
		return -errno;
	if (seen > (ssize_t)p->ahead) {
		n = seen - p->ahead < (ssize_t)len ? seen - p->ahead :
			(ssize_t)len;
		if (pull(p->copy[0], NULL, p->ahead) < 0 ||
		    pull(p->copy[0], to, n) < 0)
			return -EIO;
		seen -= p->ahead + n;
	}
	if (seen > 0 && pull(p->copy[0], NULL, seen) < 0)
		return -EIO;
	if (n)
		return n;
	p->look = false;
	return last && bytes_in(p->fd) <= p->ahead ? 0 : -EAGAIN;
}

static ssize_t look_into_file(struct mios_peek *p, unsigned char *to, size_t len)
{
	off_t at = lseek(p->fd, 0, SEEK_CUR);
	ssize_t n = at < 0 ? -1 : pread(p->fd, to, len, at + p->ahead);

	return n < 0 ? -errno : n;
}

/* As read(2), but for the error, which is returned. */
ssize_t peek_read(struct mios_peek *p, unsigned char *to, size_t len)
{
	ssize_t n = p->pipe ? look_into_pipe(p, to, len) :
			      look_into_file(p, to, len);

	if (n > 0)
		p->ahead += n;
	return n;
}

/*
 * The command has read so many.  Somebody else may have read them here, as he
 * may at home: do not wait for them.
 */
void peek_taken(struct mios_peek *p, uint32_t len)
{
	ssize_t n;

	p->ahead -= len;
	p->look = true;
	if (!p->pipe) {
		lseek(p->fd, len, SEEK_CUR);
		return;
	}
	while (len) {
		n = splice(p->fd, NULL, p->copy[1], NULL, len,
			   SPLICE_F_NONBLOCK);
		if (n <= 0 || pull(p->copy[0], NULL, n) < 0)
			return;
		len -= n;
	}
}

/* What to poll(2) for reading: the file itself is ready while it holds any. */
int peek_poll(const struct mios_peek *p)
{
	return p->look || !p->pipe ? p->fd : p->written;
}

void peek_written(struct mios_peek *p)
{
	struct epoll_event e;

	if (!p->look && p->pipe)
		epoll_wait(p->written, &e, 1, 0);
	p->look = true;
}

/* As roomy as the pipe itself, if it may be, so that all of it is seen. */
static int watch_pipe(struct mios_peek *p)
{
	struct epoll_event e = { .events = EPOLLIN | EPOLLET };

	if (pipe2(p->copy, O_CLOEXEC | O_NONBLOCK))
		return -errno;
	fcntl(p->copy[1], F_SETPIPE_SZ, fcntl(p->fd, F_GETPIPE_SZ));
	p->written = epoll_create1(EPOLL_CLOEXEC);
	if (p->written >= 0 && !epoll_ctl(p->written, EPOLL_CTL_ADD, p->fd, &e))
		return 0;
	close(p->copy[0]);
	close(p->copy[1]);
	close(p->written);
	return -EIO;
}

/* NULL: this is a file of another kind, and to be read as it is. */
struct mios_peek *peek_open(int fd)
{
	struct mios_peek *p;
	struct stat st;

	if (fstat(fd, &st) || !(S_ISFIFO(st.st_mode) || S_ISREG(st.st_mode)))
		return NULL;
	p = calloc(1, sizeof(*p));
	if (!p)
		return NULL;
	p->fd = fd;
	p->pipe = S_ISFIFO(st.st_mode);
	p->look = true;
	if (p->pipe && watch_pipe(p)) {
		free(p);
		return NULL;
	}
	return p;
}
