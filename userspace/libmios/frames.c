// SPDX-License-Identifier: GPL-2.0
/*
 * Frames over a non-blocking stream socket, for miosd's sessions and their
 * clients.  What arrives is checked here for length and type only; credit
 * bounds the output queue (see proto.h).
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "frames.h"
#include "libmios.h"

int buffer_add(struct mios_buffer *b, const void *data, size_t len)
{
	unsigned char *grown;
	size_t size;

	if (b->start && b->start + b->len + len > b->size) {
		memmove(b->data, b->data + b->start, b->len);
		b->start = 0;
	}
	if (b->len + len > b->size) {
		size = b->size ? b->size : 4096;
		while (size < b->len + len)
			size *= 2;
		grown = realloc(b->data, size);
		if (!grown)
			return -ENOMEM;
		b->data = grown;
		b->size = size;
	}
	if (len)
		memcpy(b->data + b->start + b->len, data, len);
	b->len += len;
	return 0;
}

void buffer_drop(struct mios_buffer *b, size_t len)
{
	b->start += len;
	b->len -= len;
	if (!b->len)
		b->start = 0;
}

void buffer_free(struct mios_buffer *b)
{
	free(b->data);
	memset(b, 0, sizeof(*b));
}

int link_init(struct mios_link *l, int fd, size_t max)
{
	int flags = fcntl(fd, F_GETFL);

	memset(l, 0, sizeof(*l));
	l->fd = fd;
	l->max = max;
	if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0)
		return -errno;
	return 0;
}

void link_close(struct mios_link *l)
{
	if (l->fd >= 0)
		close(l->fd);
	l->fd = -1;
	buffer_free(&l->in);
	buffer_free(&l->out);
}

int link_send(struct mios_link *l, int type, int stream, const void *data,
	      size_t len)
{
	struct mios_frame f = { .len = len, .type = type, .stream = stream };
	int err;

	err = buffer_add(&l->out, &f, sizeof(f));
	if (!err)
		err = buffer_add(&l->out, data, len);
	return err;
}

int link_flush(struct mios_link *l)
{
	ssize_t n;

	while (l->out.len) {
		n = send(l->fd, l->out.data + l->out.start, l->out.len,
			 MSG_NOSIGNAL);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno == EAGAIN ? 0 : -errno;
		buffer_drop(&l->out, n);
	}
	return 0;
}

/* A peer that has gone is found by reading: it may have said why. */
void link_push(struct mios_link *l)
{
	if (link_flush(l))
		buffer_drop(&l->out, l->out.len);
}

int link_fill(struct mios_link *l)
{
	unsigned char chunk[65536];
	ssize_t n;

	n = recv(l->fd, chunk, sizeof(chunk), 0);
	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -errno;
	if (!n)
		l->ended = true;
	return buffer_add(&l->in, chunk, n);
}

/* 1: a frame, valid until the next call; 0: not all there yet. */
int link_next(struct mios_link *l, struct mios_frame *f, const void **data)
{
	if (l->in.len < sizeof(*f))
		return 0;
	memcpy(f, l->in.data + l->in.start, sizeof(*f));
	if (f->len > l->max || f->stream > 2 || f->zero)
		return -EPROTO;
	if (l->in.len < sizeof(*f) + f->len)
		return 0;
	*data = l->in.data + l->in.start + sizeof(*f);
	buffer_drop(&l->in, sizeof(*f) + f->len);
	return 1;
}

short link_events(const struct mios_link *l)
{
	return (l->ended ? 0 : POLLIN) | (l->out.len ? POLLOUT : 0);
}

/*
 * After the last frame: sends what is left, closes our half, and drops what
 * comes until the peer has closed, too.  A close with unread bytes resets the
 * connection, and the last frame could be lost with it.
 */
void link_end(struct mios_link *l, int ms)
{
	int64_t left, deadline = mios_now_ms() + ms;
	struct pollfd p = { .fd = l->fd };
	bool open = true;

	while (!l->ended && (left = deadline - mios_now_ms()) > 0) {
		link_push(l);
		if (open && !l->out.len) {
			shutdown(l->fd, SHUT_WR);
			open = false;
		}
		p.events = link_events(l);
		if (poll(&p, 1, left) > 0 && link_fill(l))
			break;
		buffer_drop(&l->in, l->in.len);
	}
}
