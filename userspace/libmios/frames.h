/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A link: frames over a non-blocking stream socket.  The flows on it move
 * bytes between frames and ordinary files under credit.
 */
#ifndef LIBMIOS_FRAMES_H
#define LIBMIOS_FRAMES_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "proto.h"

struct mios_buffer {
	unsigned char *data;
	size_t start, len, size;
};

struct mios_link {
	int fd;
	size_t max;		/* longest frame that is accepted */
	bool ended;		/* the peer has hung up */
	struct mios_buffer in, out;
};

/* frames.c APIs: */
int buffer_add(struct mios_buffer *b, const void *data, size_t len);
void buffer_drop(struct mios_buffer *b, size_t len);
void buffer_free(struct mios_buffer *b);
int link_init(struct mios_link *l, int fd, size_t max);
void link_close(struct mios_link *l);
int link_send(struct mios_link *l, int type, int stream, const void *data,
	      size_t len);
int link_flush(struct mios_link *l);
void link_push(struct mios_link *l);
int link_fill(struct mios_link *l);
int link_next(struct mios_link *l, struct mios_frame *f, const void **data);
short link_events(const struct mios_link *l);
void link_end(struct mios_link *l, int ms);

/* From a file into a link: reads only what the peer has given credit for. */
struct mios_source {
	int fd;			/* -1: ended */
	int stream;
	uint32_t credit;
	struct mios_peek *peek;	/* only looks at it, or NULL: takes it */
};

/* From a link into a file: holds at most a window. */
struct mios_sink {
	int fd;			/* -1: closed, bytes are dropped */
	int stream;
	bool eof;		/* nothing more will come */
	uint32_t room;		/* credit that the peer has left */
	uint32_t owed;		/* credit to give back */
	bool counts;		/* gives it for what has been read from @fd */
	uint32_t unread;	/* written to @fd, and still in there */
	struct mios_buffer buf;
};

/* flow.c APIs: */
void source_init(struct mios_source *s, int fd, int stream);
void source_look(struct mios_source *s, int fd, int stream);
int source_poll(const struct mios_source *s);
int source_pump(struct mios_source *s, struct mios_link *l);
int source_credit(struct mios_source *s, const void *data, size_t len);
bool source_ready(const struct mios_source *s);
bool in_background(int fd);
bool source_may_read(const struct mios_source *s);
void sink_init(struct mios_sink *s, int fd, int stream);
void sink_count(struct mios_sink *s);
int sink_data(struct mios_sink *s, const void *data, size_t len);
int sink_pump(struct mios_sink *s, struct mios_link *l);
bool sink_open(const struct mios_sink *s);
bool sink_ready(const struct mios_sink *s);
bool sink_done(const struct mios_sink *s);
int sink_settle(struct mios_sink *s, struct mios_link *l);
void sink_close(struct mios_sink *s, struct mios_link *l);

/* peek.c APIs: */
struct mios_peek *peek_open(int fd);
ssize_t peek_read(struct mios_peek *p, unsigned char *to, size_t len);
void peek_taken(struct mios_peek *p, uint32_t len);
int peek_poll(const struct mios_peek *p);
void peek_written(struct mios_peek *p);

#endif /* LIBMIOS_FRAMES_H */
