// SPDX-License-Identifier: GPL-2.0
/*
 * Overwrites structures of the ring area, for tests (MIOS_INJECT=1) in the
 * kernel and in user space: see garbage.h.  No lock: that is the point.
 */
#include "garbage.h"

u32 mios_garbage_random(u64 *seed)
{
	*seed = *seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return *seed >> 33;
}

/* Any value, but more often one at which something might go wrong. */
static u32 garbage_word(u64 *seed)
{
	u32 random = mios_garbage_random(seed);

	switch (mios_garbage_random(seed) % 8) {
	case 0:
		return 0;
	case 1:
		return ~0u;
	case 2:
		return 1u << random % 32;
	case 3:
		return (1u << random % 32) - 1;
	case 4:
		return random % 300;
	default:
		return random << 1 ^ mios_garbage_random(seed);
	}
}

void mios_garbage_write(void *at, u32 size, u64 *seed)
{
	u32 words = size / sizeof(u32);
	u32 *to = at;
	u32 i;

	if (mios_garbage_random(seed) % 4) {
		for (i = mios_garbage_random(seed) % 4 + 1; i; i--)
			WRITE_ONCE(to[mios_garbage_random(seed) % words],
				   garbage_word(seed));
		return;
	}
	for (i = 0; i < words; i++)
		WRITE_ONCE(to[i], garbage_word(seed));
}

/* A descriptor that is wild, but says so in a sound way. */
static void garbage_desc(struct mios_desc *desc, struct mios_desc_body *body,
			 u64 *seed)
{
	memcpy(body, &desc->body, sizeof(*body));
	mios_garbage_write(&body->instance,
			   offsetof(struct mios_desc_body, memory) -
			   offsetof(struct mios_desc_body, instance), seed);
	mios_desc_write(desc, body);
}

static struct mios_slot *slot_at(struct mios_chan *chan,
				 const struct mios_shape *shape, u32 position)
{
	return (struct mios_slot *)((u8 *)(chan + 1) + (size_t)shape->slot_size *
				    (position & (shape->nr_slots - 1)));
}

/*
 * The next message that a channel's reader looks at.  Any type but the one
 * that a child obeys: nobody could tell an order that is forged.
 */
static void garbage_message(struct mios_chan *chan,
			    const struct mios_shape *shape, u64 *seed)
{
	u64 accept = READ_ONCE(chan->accept);
	u32 head = READ_ONCE(chan->credit);
	struct mios_slot *slot;

	head += mios_garbage_random(seed) % 3;
	slot = slot_at(chan, shape, head);
	mios_garbage_write(slot->data, shape->slot_size - sizeof(*slot), seed);
	slot->incarnation = accept;
	slot->type = garbage_word(seed);
	if (slot->type == MIOS_MSG_SHUTDOWN)
		slot->type = MIOS_MSG_ECHO;
	slot->flags = MIOS_SLOT_FIRST;
	slot->total = garbage_word(seed);
	slot->length = min(slot->total,
			   (u32)(shape->slot_size - sizeof(*slot)));
	if (mios_garbage_random(seed) % 2)
		slot->total = slot->length;
	/* STAMP: as a producer does, so that it is read. */
	smp_store_release(&slot->stamp, accept >> 32 << 32 | (head + 1));
	WRITE_ONCE(chan->tail, accept >> 32 << 32 | (head + 1));
}

static void garbage_channel(void *area, const struct mios_geometry *g,
			    enum mios_garbage kind, u64 *seed)
{
	u32 class = mios_garbage_random(seed) % MIOS_CLASSES;
	u32 to = mios_garbage_random(seed) % g->nr;
	u32 from = mios_garbage_random(seed) % g->nr;
	const struct mios_shape *shape = &g->shape[class];
	struct mios_chan *chan;

	if (from == to)
		from = (to + 1) % g->nr;
	chan = mios_area_chan(area, g, to, from, class);
	if (kind == MIOS_GARBAGE_CHAN)
		mios_garbage_write(chan, sizeof(*chan), seed);
	else if (kind == MIOS_GARBAGE_SEALED_SLOT)
		garbage_message(chan, shape, seed);
	else
		mios_garbage_write(slot_at(chan, shape,
					   mios_garbage_random(seed)),
				   shape->slot_size, seed);
}

static void garbage_lines(struct mios_lines *lines, enum mios_garbage kind,
			  u64 *seed)
{
	if (kind == MIOS_GARBAGE_PENDING)
		mios_garbage_write(lines->pending, sizeof(lines->pending),
				   seed);
	else if (kind == MIOS_GARBAGE_BEAT)
		mios_garbage_write(&lines->beat, sizeof(lines->beat), seed);
	else if (kind == MIOS_GARBAGE_ANCHOR)
		mios_garbage_write(&lines->anchor, sizeof(lines->anchor),
				   seed);
	else if (kind == MIOS_GARBAGE_ACK)
		mios_garbage_write(lines->ack, sizeof(lines->ack) +
				   sizeof(lines->echo_request) +
				   sizeof(lines->echo_reply), seed);
	else
		mios_garbage_write(lines->view, sizeof(lines->view), seed);
}

u32 mios_garbage_round(void *area, const struct mios_geometry *g, u64 *seed,
		       struct mios_desc_body *body)
{
	u32 kind = mios_garbage_random(seed) % MIOS_GARBAGE_KINDS;
	u32 instance = mios_garbage_random(seed) % g->nr;
	struct mios_desc *desc = mios_area_desc(area, g, instance);

	switch (kind) {
	case MIOS_GARBAGE_HEADER:
		mios_garbage_write(area, sizeof(struct mios_area_header), seed);
		break;
	case MIOS_GARBAGE_DISTANCES:
		mios_garbage_write((u8 *)area + MIOS_AREA_PAGE, MIOS_AREA_PAGE,
				   seed);
		break;
	case MIOS_GARBAGE_CPUS:
		mios_garbage_write(mios_area_cpus(area, instance),
				   sizeof(struct mios_area_cpus), seed);
		break;
	case MIOS_GARBAGE_DESC:
		mios_garbage_write(desc, sizeof(*desc), seed);
		break;
	case MIOS_GARBAGE_SEALED_DESC:
		garbage_desc(desc, body, seed);
		break;
	case MIOS_GARBAGE_LOG:
		mios_garbage_write((u8 *)area + g->log, 16 * MIOS_AREA_PAGE,
				   seed);
		break;
	case MIOS_GARBAGE_CHAN:
	case MIOS_GARBAGE_SLOT:
	case MIOS_GARBAGE_SEALED_SLOT:
		garbage_channel(area, g, kind, seed);
		break;
	default:
		garbage_lines(mios_area_lines(area, g, instance), kind, seed);
	}
	return kind;
}
