/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A channel: bounded queue of messages from one producer to one consumer in
 * another instance.  Portable: the same file is compiled into the module and
 * into selftests/unit/channel.  Both ends are private structures of their
 * side; the caller serialises the calls on one end (link: a spin lock each).
 */
#ifndef _MIOS_CHANNEL_CHANNEL_H
#define _MIOS_CHANNEL_CHANNEL_H

#include "os.h"

#include <mios/layout.h>

/**
 * struct mios_shape - size of a class of channels, the same on both sides
 * @slot_size:	bytes of a slot, header included
 * @nr_slots:	a power of two
 * @max_total:	bytes of the longest message; must fit in @nr_slots
 */
struct mios_shape {
	u32 slot_size;
	u32 nr_slots;
	u32 max_total;
};

/**
 * struct mios_producer - the sending end
 * @chan:	shared memory, in the consumer's block
 * @shape:	size of the channel
 * @own:	incarnation of this instance
 * @peer:	incarnation of the consumer, 0: closed
 * @hello:	number of this opening
 * @session:	session in use, if @synced
 * @synced:	the consumer has accepted @own in @session
 * @broken:	the consumer's line made no sense in @session
 * @tail:	position of the next slot
 * @rung:	value of ->armed that has been answered by a doorbell
 * @total:	bytes of the message being written
 * @messages, @full, @resyncs, @garbage: counters
 */
struct mios_producer {
	struct mios_chan *chan;
	struct mios_shape shape;
	u32 own;
	u32 peer;
	u32 hello;
	u32 session;
	bool synced;
	bool broken;
	u32 tail;
	u32 rung;
	u32 total;
	u64 messages;
	u64 full;
	u64 resyncs;
	u64 garbage;
};

/**
 * struct mios_consumer - the receiving end
 * @chan:	shared memory, in the own block
 * @shape:	size of the channel
 * @peer:	incarnation of the producer, 0: closed
 * @own:	incarnation of this instance
 * @heard:	the producer's opening that the session is for
 * @session:	number of the present session, 0: none yet
 * @head:	position of the next slot to read
 * @credit:	position up to which slots have been given back
 * @armings:	how often the doorbell has been armed
 * @wish:	value of ->want that has been answered
 * @messages, @garbage, @stale: counters
 */
struct mios_consumer {
	struct mios_chan *chan;
	struct mios_shape shape;
	u32 peer;
	u32 own;
	u32 heard;
	u32 session;
	u32 head;
	u32 credit;
	u32 armings;
	u32 wish;
	u64 messages;
	u64 garbage;
	u64 stale;
};

/**
 * struct mios_message - a message at the head of a channel, checked
 * @type:	enum mios_msg_type
 * @total:	bytes
 * @slots:	slots that it takes
 */
struct mios_message {
	u32 type;
	u32 total;
	u32 slots;
};

void mios_producer_init(struct mios_producer *p, struct mios_chan *chan,
			const struct mios_shape *shape);

/**
 * mios_producer_open() - begin to send to one incarnation
 * @p: closed or open
 * @own: incarnation of this side
 * @peer: incarnation of the other side
 *
 * Asks for a new session: the consumer has to be told to look
 * (mios_consumer_called()).
 */
void mios_producer_open(struct mios_producer *p, u32 own, u32 peer);
void mios_producer_close(struct mios_producer *p);

/**
 * mios_producer_ready() - has the other side accepted this one?
 * @p: open
 *
 * 0 if so; -ENOTCONN: closed, or not yet; -ESHUTDOWN: its words make no
 * sense, and nothing is sent before it begins a new session.
 */
int mios_producer_ready(struct mios_producer *p);

/**
 * mios_producer_begin() - reserve room for a message
 * @p: open
 * @total: bytes of it
 *
 * 0, then mios_producer_room() and mios_producer_end(); -EAGAIN: no room now;
 * -EMSGSIZE: never; or as mios_producer_ready().
 */
int mios_producer_begin(struct mios_producer *p, u32 total);

/**
 * mios_producer_room() - where a part of the message goes
 * @p: between begin and end
 * @offset: first byte, below the total
 * @length: out, how many bytes lie together
 */
void *mios_producer_room(struct mios_producer *p, u32 offset, u32 *length);

/**
 * mios_producer_end() - publish the message
 * @p: all bytes are in place
 * @type: of the message
 *
 * Returns true when the doorbell is to be rung.
 */
bool mios_producer_end(struct mios_producer *p, u32 type);

/**
 * mios_producer_write() - begin, copy and end
 * @p: open
 * @type: of the message
 * @data: payload
 * @length: bytes of it
 *
 * 0, 1 (ring the doorbell) or the errors of mios_producer_begin().
 */
int mios_producer_write(struct mios_producer *p, u32 type, const void *data,
			u32 length);

/**
 * mios_producer_wish() - ask for a doorbell when there is room
 * @p: open, and mios_producer_begin() has just said -EAGAIN
 * @total: bytes that are wanted
 *
 * Returns true if there is room already: try again instead of waiting.
 */
bool mios_producer_wish(struct mios_producer *p, u32 total);

void mios_consumer_init(struct mios_consumer *c, struct mios_chan *chan,
			const struct mios_shape *shape);

/**
 * mios_consumer_open() - accept one incarnation of the producer
 * @c: closed or open
 * @own: incarnation of this side
 * @peer: incarnation of the producer
 *
 * Begins a new session: whatever lies in the slots is never looked at.
 */
void mios_consumer_open(struct mios_consumer *c, u32 own, u32 peer);
void mios_consumer_close(struct mios_consumer *c);

/* Has the producer opened again, so that mios_consumer_open() is due? */
bool mios_consumer_called(const struct mios_consumer *c);

/**
 * mios_consumer_resync() - throw away what is there and begin a new session
 * @c: open
 */
void mios_consumer_resync(struct mios_consumer *c);

/**
 * mios_consumer_peek() - look at the head
 * @c: open or closed
 * @m: out
 *
 * 1: @m is a message, checked; 0: none; -EBADMSG: garbage, call
 * mios_consumer_resync().  Skips messages of another incarnation.
 */
int mios_consumer_peek(struct mios_consumer *c, struct mios_message *m);

/**
 * mios_consumer_room() - where a part of the message at the head lies
 * @c: mios_consumer_peek() has returned 1
 * @m: its answer
 * @offset: first byte, below @m->total
 * @length: out, how many bytes lie together
 *
 * Copy from there before using it: the producer may write at any time.
 */
const void *mios_consumer_room(const struct mios_consumer *c,
			       const struct mios_message *m, u32 offset,
			       u32 *length);

/**
 * mios_consumer_copy() - copy the first bytes of the message at the head
 * @c: mios_consumer_peek() has returned 1
 * @m: its answer
 * @to: private memory
 * @size: bytes there; at most that many are copied
 */
void mios_consumer_copy(const struct mios_consumer *c,
			const struct mios_message *m, void *to, u32 size);

/**
 * mios_consumer_pop() - done with the message at the head
 * @c: mios_consumer_peek() has returned 1
 * @m: its answer
 *
 * Returns true when the producer wants a doorbell.  Slots are given back in
 * portions: call mios_consumer_flush() when there is nothing more to read.
 */
bool mios_consumer_pop(struct mios_consumer *c, const struct mios_message *m);

/* Give all slots back; true when the producer wants a doorbell. */
bool mios_consumer_flush(struct mios_consumer *c);

/* Is there something at the head, be it garbage? */
bool mios_consumer_more(const struct mios_consumer *c);

/**
 * mios_consumer_arm() - ask for a doorbell at the next message
 * @c: open
 *
 * Returns true if something is there already: go on reading instead.
 */
bool mios_consumer_arm(struct mios_consumer *c);
void mios_consumer_disarm(struct mios_consumer *c);

/* Does the producer say that it has published more than has been read? */
bool mios_consumer_behind(const struct mios_consumer *c);

#endif /* _MIOS_CHANNEL_CHANNEL_H */
