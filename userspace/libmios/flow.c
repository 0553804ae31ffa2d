// SPDX-License-Identifier: GPL-2.0
/*
 * Streams of a session: a source reads a file into DATA frames as far as it
 * has credit, a sink writes DATA frames to a file and gives credit back once
 * the bytes are out.  A full pipe on one stream so never stops another, nor
 * signals.
 *
 * Of a command's input both count what the command has read (sink_count(),
 * source_look()): the rest stays with the caller.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "frames.h"

/*
 * poll(2) promises room for PIPE_BUF bytes; files that the user shares with
 * us stay in blocking mode, so never write more at once.
 */
#define SINK_CHUNK	4096
#define SOURCE_CHUNK	32768

void source_init(struct mios_source *s, int fd, int stream)
{
	s->fd = fd;
	s->stream = stream;
	s->credit = MIOS_WINDOW;
	s->peek = NULL;
}

/* The same, but leaves in the file what the peer has given no credit for. */
void source_look(struct mios_source *s, int fd, int stream)
{
	source_init(s, fd, stream);
	s->peek = peek_open(fd);
}

/* What to poll(2). */
int source_poll(const struct mios_source *s)
{
	return s->fd >= 0 && s->peek ? peek_poll(s->peek) : s->fd;
}

static ssize_t source_read(struct mios_source *s, unsigned char *to, size_t len)
{
	ssize_t n;

	if (s->peek) {
		peek_written(s->peek);
		return peek_read(s->peek, to, len);
	}
	n = read(s->fd, to, len);
	return n < 0 ? -errno : n;
}

/* Read once; the caller has polled.  Ends the stream on EOF and on error. */
int source_pump(struct mios_source *s, struct mios_link *l)
{
	unsigned char chunk[SOURCE_CHUNK];
	size_t want = s->credit < sizeof(chunk) ? s->credit : sizeof(chunk);
	ssize_t n;

	if (!want || s->fd < 0)
		return 0;
	n = source_read(s, chunk, want);
	if (n == -EAGAIN || n == -EINTR)
		return 0;
	if (n <= 0) {		/* EIO: the last user of a pty has gone */
		s->fd = -1;
		return link_send(l, MIOS_FRAME_EOF, s->stream, NULL, 0);
	}
	s->credit -= n;
	return link_send(l, MIOS_FRAME_DATA, s->stream, chunk, n);
}

int source_credit(struct mios_source *s, const void *data, size_t len)
{
	uint32_t more;

	if (len != sizeof(more))
		return -EPROTO;
	memcpy(&more, data, sizeof(more));
	if (more > MIOS_WINDOW - s->credit)
		return -EPROTO;
	s->credit += more;
	if (s->peek)
		peek_taken(s->peek, more);
	return 0;
}

bool source_ready(const struct mios_source *s)
{
	return s->fd >= 0 && s->credit;
}

/*
 * Would reading from this terminal stop us?  One that does not control us has
 * no foreground that we could be out of.
 */
bool in_background(int fd)
{
	pid_t foreground = tcgetpgrp(fd);

	return foreground >= 0 && foreground != getpgrp();
}

/* A job in the background must not be stopped for input it may not want. */
bool source_may_read(const struct mios_source *s)
{
	return source_ready(s) && (!isatty(s->fd) || !in_background(s->fd));
}

void sink_init(struct mios_sink *s, int fd, int stream)
{
	memset(s, 0, sizeof(*s));
	s->fd = fd;
	s->stream = stream;
	s->room = MIOS_WINDOW;
}

/*
 * Give credit for what has been read.  The pipe must have one page: then it
 * has room when all that was in it has been read, and poll(2) tells so.
 */
void sink_count(struct mios_sink *s)
{
	s->counts = true;
}

int sink_data(struct mios_sink *s, const void *data, size_t len)
{
	if (len > s->room)
		return -EPROTO;
	if (s->eof)
		return 0;	/* was under way when we closed */
	s->room -= len;
	if (s->fd < 0)
		return 0;
	return buffer_add(&s->buf, data, len);
}

static int sink_pay(struct mios_sink *s, struct mios_link *l)
{
	uint32_t owed = s->owed;

	if (!owed || (s->eof && !s->counts))
		return 0;
	s->room += owed;
	s->owed = 0;
	return link_send(l, MIOS_FRAME_CREDIT, s->stream, &owed, sizeof(owed));
}

/* What has been written counts as owed once it has been read. */
static void sink_look(struct mios_sink *s)
{
	int left = 0;

	if (s->counts && ioctl(s->fd, FIONREAD, &left))
		left = 0;
	if ((uint32_t)left < s->unread) {
		s->owed += s->unread - left;
		s->unread = left;
	}
}

/*
 * There is room, and yet it has not all been read: who reads has gone, or has
 * made the pipe larger, and nothing tells any more when he reads.
 */
static bool sink_abandoned(struct mios_sink *s)
{
	struct pollfd p = { .fd = s->fd };

	if (!s->unread)
		return false;
	if (poll(&p, 1, 0) > 0 && p.revents & POLLERR)
		return true;
	if (fcntl(s->fd, F_GETPIPE_SZ) > SINK_CHUNK)
		s->counts = false;
	return false;
}

/* Write once; the caller has polled.  A reader that has gone ends the file. */
int sink_pump(struct mios_sink *s, struct mios_link *l)
{
	size_t len = s->buf.len < SINK_CHUNK ? s->buf.len : SINK_CHUNK;
	ssize_t n;

	if (s->fd >= 0)
		sink_look(s);
	if (s->fd >= 0 && sink_abandoned(s)) {
		sink_close(s, l);
		return -EPIPE;
	}
	if (s->fd >= 0 && len) {
		n = write(s->fd, s->buf.data + s->buf.start, len);
		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return 0;
		if (n < 0) {
			n = -errno;
			sink_close(s, l);
			return n;
		}
		buffer_drop(&s->buf, n);
		s->unread += n;
		sink_look(s);
	}
	if (s->owed < MIOS_WINDOW / 8 && s->buf.len)
		return 0;
	return sink_pay(s, l);
}

bool sink_open(const struct mios_sink *s)
{
	return s->fd >= 0;
}

bool sink_ready(const struct mios_sink *s)
{
	return s->fd >= 0 && (s->buf.len || s->unread);
}

/* All that came is out, and nothing more will come. */
bool sink_done(const struct mios_sink *s)
{
	return s->eof && !s->buf.len && !s->unread;
}

/* At the end: what has been read by now. */
int sink_settle(struct mios_sink *s, struct mios_link *l)
{
	if (s->fd >= 0)
		sink_look(s);
	return s->counts ? sink_pay(s, l) : 0;
}

/* From now on drop what comes, and tell the sender that nobody reads it. */
void sink_close(struct mios_sink *s, struct mios_link *l)
{
	sink_settle(s, l);
	s->fd = -1;
	buffer_free(&s->buf);
	if (!s->eof)
		link_send(l, MIOS_FRAME_EOF, s->stream, NULL, 0);
	s->eof = true;
}
