// SPDX-License-Identifier: GPL-2.0
/*
 * The protocol of a channel (docs/channels.md): slots published by a stamp,
 * given back by a credit, sessions that make everything older invisible.
 * Called by mios/core/link/message.c and mios/net/ in the kernel, by
 * selftests/unit/channel in user space; the caller holds the end's lock.
 *
 * Ordering, by name:
 *   STAMP   producer: slot, then release of ->stamp;
 *	     consumer: acquire of ->stamp, then slot.
 *   CREDIT  consumer: reads of slots, then release of ->credit;
 *	     producer: acquire of ->credit, then writes of slots.
 *   ARMED   producer: ->stamp, smp_mb(), read of ->armed;
 *	     consumer: ->armed, smp_mb(), read of ->stamp.  One of the two sees
 *	     the other, so a message is either found or announced.
 *   WANT    producer: ->want, smp_mb(), read of ->credit;
 *	     consumer: ->credit, smp_mb(), read of ->want.  The same.
 *   ACCEPT  consumer: ->consumer, then release of ->accept;
 *	     producer: acquire of ->accept, then ->consumer.
 *   HEARD   consumer: ->accept, then release of ->heard;
 *	     producer: acquire of ->heard, then ->accept.  So whoever sees its
 *	     opening answered sees the session that answers it, and does not
 *	     enter the one before, whose slots have been read.
 */
#include "../../inject/inject.h"
#include "channel.h"

MIOS_INJECT_TIMES(stale_incarnation, "publish slots of the last boot");
MIOS_INJECT_TIMES(garbage_slot, "publish a slot with a wild header");
MIOS_INJECT_TIMES(reuse_session,
		  "begin a session whose number lies around in slots");
MIOS_INJECT_TIMES(no_slot_check, "believe the header of a slot");
MIOS_INJECT_TIMES(accept_old_slot, "believe any incarnation of a slot");

#define inject_in(name, type)	\
	(is_probe(type) && mios_inject(name))

static u64 pair(u32 upper, u32 lower)
{
	return (u64)upper << 32 | lower;
}

static u32 slot_data(const struct mios_shape *shape)
{
	return shape->slot_size - sizeof(struct mios_slot);
}

static u32 slots_for(const struct mios_shape *shape, u32 total)
{
	return total ? DIV_ROUND_UP(total, slot_data(shape)) : 1;
}

static struct mios_slot *slot_at(struct mios_chan *chan,
				 const struct mios_shape *shape, u32 position)
{
	u8 *slots = (u8 *)(chan + 1);

	return (struct mios_slot *)(slots + (size_t)shape->slot_size *
				    (position & (shape->nr_slots - 1)));
}

/* Bytes of a message of @total bytes that lie in its slot number @i. */
static u32 part_length(const struct mios_shape *shape, u32 total, u32 i)
{
	u32 before = i * slot_data(shape);

	return min(total - before, slot_data(shape));
}

/* Where byte @offset of the message starting at @position lies. */
static u8 *part_at(struct mios_chan *chan, const struct mios_shape *shape,
		   u32 position, u32 total, u32 offset, u32 *length)
{
	u32 i = offset / slot_data(shape);
	u32 inside = offset % slot_data(shape);

	*length = part_length(shape, total, i) - inside;
	return slot_at(chan, shape, position + i)->data + inside;
}

/* --- producer */

void mios_producer_init(struct mios_producer *p, struct mios_chan *chan,
			const struct mios_shape *shape)
{
	memset(p, 0, sizeof(*p));
	p->chan = chan;
	p->shape = *shape;
}

void mios_producer_open(struct mios_producer *p, u32 own, u32 peer)
{
	p->own = own;
	p->peer = peer;
	p->synced = false;
	p->broken = false;
	memset(p->chan->pad_producer, 0, sizeof(p->chan->pad_producer));
	p->hello = READ_ONCE(p->chan->hello) + 1;
	WRITE_ONCE(p->chan->hello, p->hello);
}

void mios_producer_close(struct mios_producer *p)
{
	p->peer = 0;
	p->synced = false;
}

/* Enter the session that the consumer's line names, if it is for us. */
static int producer_sync(struct mios_producer *p, u32 session)
{
	u32 heard = smp_load_acquire(&p->chan->heard); /* HEARD */
	u64 accept = smp_load_acquire(&p->chan->accept); /* ACCEPT */

	if (heard != p->hello || accept != pair(session, p->own) ||
	    READ_ONCE(p->chan->consumer) != p->peer)
		return -ENOTCONN;
	if (p->synced)
		p->resyncs++;
	p->session = session;
	p->synced = true;
	p->broken = false;
	p->tail = 0;
	p->rung = 0;
	return 0;
}

/* How many slots are free, or -errno. */
static int producer_free(struct mios_producer *p)
{
	u64 credit;
	u32 used;
	int err;

	if (!p->peer)
		return -ENOTCONN;
	credit = smp_load_acquire(&p->chan->credit); /* CREDIT */
	if (!p->synced || credit >> 32 != p->session) {
		err = producer_sync(p, credit >> 32);
		if (err)
			return err;
	}
	if (p->broken)
		return -ESHUTDOWN;
	used = p->tail - (u32)credit;
	if (used > p->shape.nr_slots) {
		p->broken = true;
		p->garbage++;
		return -ESHUTDOWN;
	}
	return p->shape.nr_slots - used;
}

int mios_producer_ready(struct mios_producer *p)
{
	int room = producer_free(p);

	return room < 0 ? room : 0;
}

int mios_producer_begin(struct mios_producer *p, u32 total)
{
	int room;

	if (total > p->shape.max_total)
		return -EMSGSIZE;
	room = producer_free(p);
	if (room < 0)
		return room;
	if ((u32)room < slots_for(&p->shape, total)) {
		p->full++;
		return -EAGAIN;
	}
	p->total = total;
	return 0;
}

void *mios_producer_room(struct mios_producer *p, u32 offset, u32 *length)
{
	return part_at(p->chan, &p->shape, p->tail, p->total, offset, length);
}

static void producer_header(struct mios_producer *p, u32 type, u32 i)
{
	struct mios_slot *slot = slot_at(p->chan, &p->shape, p->tail + i);

	slot->incarnation = p->own;
	slot->type = type;
	slot->flags = i ? 0 : MIOS_SLOT_FIRST;
	slot->length = part_length(&p->shape, p->total, i);
	slot->total = p->total;
	slot->reserved = 0;
	if (inject_in(stale_incarnation, type))
		slot->incarnation = p->own - 1;
	if (inject_in(garbage_slot, type))
		slot->total = 0x7fffffff;
}

static void producer_stamp(struct mios_producer *p, u32 position)
{
	struct mios_slot *slot = slot_at(p->chan, &p->shape, position);

	/* STAMP */
	smp_store_release(&slot->stamp, pair(p->session, position + 1));
}

bool mios_producer_end(struct mios_producer *p, u32 type)
{
	u32 slots = slots_for(&p->shape, p->total);
	u32 armed;
	u32 i;

	for (i = 0; i < slots; i++)
		producer_header(p, type, i);
	/* The first slot last: whoever sees it may read all of them. */
	for (i = slots; i--;)
		producer_stamp(p, p->tail + i);
	p->tail += slots;
	p->messages++;
	WRITE_ONCE(p->chan->tail, pair(p->session, p->tail));
	smp_mb(); /* ARMED */
	armed = READ_ONCE(p->chan->armed);
	if (!armed || armed == p->rung)
		return false;
	p->rung = armed;
	return true;
}

int mios_producer_write(struct mios_producer *p, u32 type, const void *data,
			u32 length)
{
	u32 offset = 0;
	u32 part;
	void *to;
	int err;

	err = mios_producer_begin(p, length);
	if (err)
		return err;
	while (offset < length) {
		to = mios_producer_room(p, offset, &part);
		memcpy(to, (const u8 *)data + offset, part);
		offset += part;
	}
	return mios_producer_end(p, type);
}

bool mios_producer_wish(struct mios_producer *p, u32 total)
{
	int room;

	WRITE_ONCE(p->chan->want, READ_ONCE(p->chan->want) + 1);
	smp_mb(); /* WANT */
	room = producer_free(p);
	return room < 0 || (u32)room >= slots_for(&p->shape, total);
}

/* --- consumer */

void mios_consumer_init(struct mios_consumer *c, struct mios_chan *chan,
			const struct mios_shape *shape)
{
	memset(c, 0, sizeof(*c));
	c->chan = chan;
	c->shape = *shape;
}

/* Which of the 64 numbers from @first on slots carry; 0 is nobody's number. */
static u64 sessions_carried(const struct mios_consumer *c, u32 first)
{
	u64 carried = 0;
	u32 i, d;

	for (i = 0; i < c->shape.nr_slots; i++) {
		d = (READ_ONCE(slot_at(c->chan, &c->shape, i)->stamp) >> 32) -
		    first;
		if (d < 64)
			carried |= 1ULL << d;
	}
	if (-first < 64)
		carried |= 1ULL << -first;
	return carried;
}

/*
 * A session number that no slot carries: the one after @last, unless memory
 * has been overwritten.  Then a slot may carry any number, and would be taken
 * for a message, or for garbage, when its turn comes.  Bounded: one of
 * nr_slots + 2 numbers is free.
 */
static u32 session_after(const struct mios_consumer *c, u32 last)
{
	u32 first = last + 1;
	u64 carried;
	u32 i;

	if (mios_inject(reuse_session))
		return first;
	for (i = 0; i <= c->shape.nr_slots / 64 + 1; i++, first += 64) {
		carried = sessions_carried(c, first);
		if (~carried)
			return first + __ffs64(~carried);
	}
	return first;	/* somebody is writing now, and will be found out */
}

/* The memory itself remembers the last session, which outlives both sides. */
static void consumer_session(struct mios_consumer *c)
{
	if (!c->session)
		c->session = READ_ONCE(c->chan->credit) >> 32;
	c->session = session_after(c, c->session);
	c->head = 0;
	c->credit = 0;
	WRITE_ONCE(c->chan->armed, 0);
	WRITE_ONCE(c->chan->consumer, c->own);
	/* CREDIT */
	smp_store_release(&c->chan->credit, pair(c->session, 0));
	/* ACCEPT */
	smp_store_release(&c->chan->accept, pair(c->session, c->peer));
	/* HEARD */
	smp_store_release(&c->chan->heard, c->heard);
}

void mios_consumer_open(struct mios_consumer *c, u32 own, u32 peer)
{
	c->own = own;
	c->peer = peer;
	c->wish = READ_ONCE(c->chan->want) - 1;
	c->heard = READ_ONCE(c->chan->hello);
	memset(c->chan->pad_consumer, 0, sizeof(c->chan->pad_consumer));
	consumer_session(c);
}

bool mios_consumer_called(const struct mios_consumer *c)
{
	return c->peer && READ_ONCE(c->chan->hello) != c->heard;
}

void mios_consumer_close(struct mios_consumer *c)
{
	c->peer = 0;
	consumer_session(c);
}

void mios_consumer_resync(struct mios_consumer *c)
{
	c->garbage++;
	consumer_session(c);
}

/* Has the slot at @position been published?  -EBADMSG: it cannot be. */
static int consumer_published(const struct mios_consumer *c, u32 position)
{
	struct mios_slot *slot = slot_at(c->chan, &c->shape, position);
	u64 stamp = smp_load_acquire(&slot->stamp); /* STAMP */

	if (stamp == pair(c->session, position + 1))
		return 1;
	if (stamp >> 32 != c->session)
		return 0;	/* left over from an earlier session */
	if ((u32)stamp == position + 1 - c->shape.nr_slots)
		return 0;	/* from the last time round */
	return -EBADMSG;
}

/* Copy the slot's header and compare with what it must be. */
static bool consumer_header_ok(struct mios_consumer *c, u32 i,
			       const struct mios_message *m)
{
	struct mios_slot *slot = slot_at(c->chan, &c->shape, c->head + i);

	return READ_ONCE(slot->type) == m->type &&
	       READ_ONCE(slot->flags) == (i ? 0 : MIOS_SLOT_FIRST) &&
	       READ_ONCE(slot->length) == part_length(&c->shape, m->total, i) &&
	       READ_ONCE(slot->total) == m->total;
}

/* Read the message at the head into @m; 1 or -EBADMSG. */
static int consumer_message(struct mios_consumer *c, struct mios_message *m)
{
	struct mios_slot *slot = slot_at(c->chan, &c->shape, c->head);
	u32 i;

	m->type = READ_ONCE(slot->type);
	m->total = READ_ONCE(slot->total);
	m->slots = 1;
	if (inject_in(no_slot_check, m->type))
		return 1;
	if (m->total > c->shape.max_total)
		return -EBADMSG;
	m->slots = slots_for(&c->shape, m->total);
	for (i = 0; i < m->slots; i++) {
		if (i && consumer_published(c, c->head + i) != 1)
			return -EBADMSG;
		if (!consumer_header_ok(c, i, m))
			return -EBADMSG;
	}
	return 1;
}

int mios_consumer_peek(struct mios_consumer *c, struct mios_message *m)
{
	u32 skipped;
	int ret;

	/* Bounded: there are never more messages than slots. */
	for (skipped = 0; c->peer && skipped < c->shape.nr_slots; skipped++) {
		ret = consumer_published(c, c->head);
		if (ret != 1)
			return ret;
		ret = consumer_message(c, m);
		if (ret != 1)
			return ret;
		if (READ_ONCE(slot_at(c->chan, &c->shape,
				      c->head)->incarnation) == c->peer ||
		    inject_in(accept_old_slot, m->type))
			return 1;
		c->stale++;
		c->head += m->slots;
	}
	return 0;
}

const void *mios_consumer_room(const struct mios_consumer *c,
			       const struct mios_message *m, u32 offset,
			       u32 *length)
{
	return part_at(c->chan, &c->shape, c->head, m->total, offset, length);
}

void mios_consumer_copy(const struct mios_consumer *c,
			const struct mios_message *m, void *to, u32 size)
{
	u32 end = min(m->total, size);
	u32 offset = 0;
	const void *from;
	u32 part;

	while (offset < end) {
		from = mios_consumer_room(c, m, offset, &part);
		part = min(part, end - offset);
		memcpy((u8 *)to + offset, from, part);
		offset += part;
	}
}

bool mios_consumer_flush(struct mios_consumer *c)
{
	u32 want;

	if (c->head != c->credit) {
		c->credit = c->head;
		/* CREDIT */
		smp_store_release(&c->chan->credit, pair(c->session, c->head));
	}
	smp_mb(); /* WANT */
	want = READ_ONCE(c->chan->want);
	if (want == c->wish)
		return false;
	c->wish = want;
	return true;
}

bool mios_consumer_pop(struct mios_consumer *c, const struct mios_message *m)
{
	c->head += m->slots;
	c->messages++;
	if (c->head - c->credit < c->shape.nr_slots / 4)
		return false;
	return mios_consumer_flush(c);
}

bool mios_consumer_more(const struct mios_consumer *c)
{
	return c->peer && consumer_published(c, c->head) != 0;
}

bool mios_consumer_arm(struct mios_consumer *c)
{
	if (!++c->armings)
		c->armings = 1;
	WRITE_ONCE(c->chan->armed, c->armings);
	smp_mb(); /* ARMED */
	return mios_consumer_more(c);
}

void mios_consumer_disarm(struct mios_consumer *c)
{
	WRITE_ONCE(c->chan->armed, 0);
}

bool mios_consumer_behind(const struct mios_consumer *c)
{
	u64 tail = READ_ONCE(c->chan->tail);

	return c->peer && tail >> 32 == c->session && (u32)tail != c->head;
}
