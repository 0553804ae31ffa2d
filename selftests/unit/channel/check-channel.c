// SPDX-License-Identifier: GPL-2.0
/*
 * The channels of an area, those of every pair and class, heads and slots:
 * docs/channels.md has the rules.  See check.h.
 */
#include <stdio.h>

#include "check.h"

static const char * const class_names[] = { "control", "console", "net" };

/* One channel, and the words of its head, read once. */
struct look {
	const struct area_copy *c;
	struct findings *f;
	struct mios_chan *chan;
	const struct mios_shape *shape;
	u32 class;
	u32 from;
	u32 to;
	u32 session;
	u32 credit;
	u32 tail;
	char name[32];
};

static struct mios_slot *slot_at(const struct look *l, u32 position)
{
	u8 *slots = (u8 *)(l->chan + 1);

	return (struct mios_slot *)(slots + (size_t)l->shape->slot_size *
				    (position & (l->shape->nr_slots - 1)));
}

/* Closed by the one who lives: nothing that the dead said is heard. */
static void closed_check(const struct look *l)
{
	if ((u32)l->chan->accept)
		say(l->f, "%s: open, but %u is gone (incarnation %u)", l->name,
		    l->from, (u32)l->chan->accept);
	if (l->chan->credit != (u64)l->session << 32)
		say(l->f, "%s: closed, but slots are given back (%#llx)",
		    l->name, l->chan->credit);
}

static void head_check(const struct look *l)
{
	const struct mios_chan *chan = l->chan;
	u32 from = incarnation_of(l->c, l->from);
	u32 to = incarnation_of(l->c, l->to);

	if ((u32)chan->accept != from)
		say(l->f, "%s: open to incarnation %u, expected %u", l->name,
		    (u32)chan->accept, from);
	if (chan->consumer != to)
		say(l->f, "%s: read by incarnation %u, expected %u", l->name,
		    chan->consumer, to);
	if (chan->heard != chan->hello)
		say(l->f, "%s: a new session is asked for (%u, %u)", l->name,
		    chan->hello, chan->heard);
	if (chan->credit >> 32 != l->session)
		say(l->f, "%s: slots of another session are given back",
		    l->name);
	if (is_dirty(chan->pad_consumer, sizeof(chan->pad_consumer)) ||
	    is_dirty(chan->pad_producer, sizeof(chan->pad_producer)))
		say(l->f, "%s: something stands between its words", l->name);
}

/*
 * No slot of the session is from the future.  One whose stamp is not for its
 * place is left over from garbage; the reader will notice when it gets there.
 */
static void stamps_check(const struct look *l)
{
	u32 mask = l->shape->nr_slots - 1;
	u32 i, position;
	u64 stamp;

	for (i = 0; i <= mask; i++) {
		stamp = slot_at(l, i)->stamp;
		if (stamp >> 32 != l->session)
			continue;
		position = (u32)stamp - 1;
		/* The writer may have been at work since its tail was read. */
		if ((position & mask) == i &&
		    (s32)(position - l->tail) >= (s32)mask)
			say(l->f, "%s: slot %u is ahead of the writer (%u)",
			    l->name, i, position);
	}
}

static u32 slots_for(const struct mios_shape *shape, u32 total)
{
	u32 data = shape->slot_size - sizeof(struct mios_slot);

	return total ? DIV_ROUND_UP(total, data) : 1;
}

static bool slot_ok(const struct look *l, u32 position, u32 first)
{
	const struct mios_slot *slot = slot_at(l, position);
	const struct mios_slot *head = slot_at(l, first);
	u32 data = l->shape->slot_size - sizeof(*slot);
	u32 rest = head->total - (position - first) * data;

	return slot->stamp == ((u64)l->session << 32 | (position + 1)) &&
	       slot->incarnation == incarnation_of(l->c, l->from) &&
	       slot->type == head->type &&
	       slot->type / MIOS_TYPES_PER_CLASS == l->class &&
	       slot->flags == (position == first ? MIOS_SLOT_FIRST : 0) &&
	       slot->total == head->total && !slot->reserved &&
	       slot->length == min(rest, data);
}

/* What has been written and not given back: whole messages, one by one. */
static void messages_check(const struct look *l)
{
	u32 at = l->credit;
	u32 i, slots;

	while (at != l->tail) {
		if (slot_at(l, at)->total > l->shape->max_total) {
			say(l->f, "%s: too long a message (%u)", l->name,
			    slot_at(l, at)->total);
			return;
		}
		slots = slots_for(l->shape, slot_at(l, at)->total);
		for (i = 0; i < slots; i++)
			if (!slot_ok(l, at + i, at)) {
				say(l->f, "%s: a slot is not what it must be (%u)",
				    l->name, at + i);
				return;
			}
		at += slots;
		if (at - l->credit > l->tail - l->credit) {
			say(l->f, "%s: a message ends behind the last (%u)",
			    l->name, at);
			return;
		}
	}
}

static void open_check(struct look *l)
{
	u64 tail = l->chan->tail;

	head_check(l);
	l->credit = l->chan->credit;
	l->tail = tail;
	/* Nothing has been sent in this session. */
	if (tail >> 32 != l->session)
		l->tail = 0;
	if (l->tail - l->credit > l->shape->nr_slots) {
		say(l->f, "%s: more is written than there is room (%u, %u)",
		    l->name, l->tail, l->credit);
		return;
	}
	if (!l->c->littered)
		stamps_check(l);
	messages_check(l);
}

static void channel_check(struct look *l)
{
	l->chan = mios_area_chan(l->c->area, &l->c->g, l->to, l->from, l->class);
	l->shape = &l->c->g.shape[l->class];
	l->session = l->chan->accept >> 32;
	snprintf(l->name, sizeof(l->name), "%s channel %u to %u",
		 class_names[l->class], l->from, l->to);
	/* What the dead have left is nobody's until they are born again. */
	if (!is_live(l->c, l->to))
		return;
	if (is_live(l->c, l->from))
		open_check(l);
	else
		closed_check(l);
}

void channels_check(const struct area_copy *c, struct findings *f)
{
	struct look l = { .c = c, .f = f };

	for (l.to = 0; l.to < c->g.nr; l.to++)
		for (l.from = 0; l.from < c->g.nr; l.from++)
			for (l.class = 0; l.class < MIOS_CLASSES &&
			     l.from != l.to; l.class++)
				channel_check(&l);
}
