// SPDX-License-Identifier: GPL-2.0
/*
 * Takes chains of descriptors out of a queue, and gives them back.  No call of
 * KVM or of the system; the guest's memory is memory_at()'s.
 */
#include <linux/virtio_ring.h>
#include <string.h>

#include "memory.h"
#include "virtq.h"

static bool there(uint64_t at, uint64_t len)
{
	return at <= memory_end() && len <= memory_end() - at;
}

/* Page by page: the next one may be at another node. */
static bool copy(uint64_t at, void *own, uint64_t len, bool to_guest)
{
	uint8_t *bytes = own;

	while (len) {
		uint64_t room = VMM_PAGE - at % VMM_PAGE;
		uint64_t now = len < room ? len : room;
		void *guest = memory_at(at, now);

		if (!guest)
			return false;
		if (to_guest)
			memcpy(guest, bytes, now);
		else
			memcpy(bytes, guest, now);
		at += now;
		bytes += now;
		len -= now;
	}
	return true;
}

/* A word of a ring, which is aligned and so within a page. */
static uint16_t *word(uint64_t at)
{
	return memory_at(at, sizeof(uint16_t));
}

bool virtq_begin(struct virtq *q, const struct virtq_place *place,
		 bool indirect)
{
	const uint64_t num = place->num;

	*q = (struct virtq){ .place = *place, .indirect = indirect };
	return num && num <= VIRTQ_MAX && !(num & (num - 1)) &&
		!(place->desc % VRING_DESC_ALIGN_SIZE) &&
		!(place->avail % VRING_AVAIL_ALIGN_SIZE) &&
		!(place->used % VRING_USED_ALIGN_SIZE) &&
		there(place->desc, num * sizeof(struct vring_desc)) &&
		there(place->avail, sizeof(struct vring_avail) +
		      num * sizeof(uint16_t)) &&
		there(place->used, sizeof(struct vring_used) +
		      num * sizeof(struct vring_used_elem));
}

/* One part more; false: it is none that a driver may ask for. */
static bool part(struct virtq_chain *c, const struct vring_desc *d)
{
	bool write = d->flags & VRING_DESC_F_WRITE;

	/* What is to be read comes first. */
	if (!there(d->addr, d->len) || (!write && c->count != c->reads))
		return false;
	c->part[c->count++] = (struct virtq_part){ d->addr, d->len };
	c->reads += !write;
	if (write)
		c->out += d->len;
	else
		c->in += d->len;
	return c->in <= UINT32_MAX && c->out <= UINT32_MAX;
}

/* From one descriptor on, in a table that is the queue's or one of the chain's own. */
static bool walk(const struct virtq *q, struct virtq_chain *c, uint64_t table,
		 uint32_t entries, uint32_t i, bool nested)
{
	struct vring_desc d;

	do {
		/* A chain that is longer than its queue goes round. */
		if (i >= entries || c->count >= q->place.num ||
		    !copy(table + i * sizeof(d), &d, sizeof(d), false))
			return false;
		if (d.flags & VRING_DESC_F_INDIRECT)
			return q->indirect && !nested &&
				!(d.flags & VRING_DESC_F_NEXT) &&
				!(d.len % sizeof(d)) &&
				walk(q, c, d.addr, d.len / sizeof(d), 0, true);
		if (!part(c, &d))
			return false;
		i = d.next;
	} while (d.flags & VRING_DESC_F_NEXT);
	return true;
}

enum virtq_got virtq_next(struct virtq *q, struct virtq_chain *c)
{
	const struct virtq_place *p = &q->place;
	uint64_t ring = p->avail + sizeof(struct vring_avail);
	uint16_t *told = word(p->avail + 2), *head;
	uint16_t ahead;

	/* Nothing of a chain is read before the word that tells of it. */
	ahead = __atomic_load_n(told, __ATOMIC_ACQUIRE) - q->next;
	if (!ahead)
		return VIRTQ_NONE;
	if (ahead > p->num)
		return VIRTQ_BROKEN;
	head = word(ring + q->next % p->num * sizeof(*head));
	*c = (struct virtq_chain){
		.head = __atomic_load_n(head, __ATOMIC_RELAXED),
	};
	if (!walk(q, c, p->desc, p->num, c->head, false))
		return VIRTQ_BROKEN;
	q->next++;
	return VIRTQ_CHAIN;
}

void virtq_done(struct virtq *q, const struct virtq_chain *c, uint32_t wrote)
{
	struct vring_used_elem done = { .id = c->head, .len = wrote };
	uint64_t at = q->place.used + sizeof(struct vring_used) +
		q->done % q->place.num * sizeof(done);

	copy(at, &done, sizeof(done), true);
	/* Whoever reads the word finds all that was written before it. */
	__atomic_store_n(word(q->place.used + 2), ++q->done, __ATOMIC_RELEASE);
}

bool virtq_interrupts(const struct virtq *q)
{
	/* The driver looks at what is done after it has asked for interrupts. */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	return !(__atomic_load_n(word(q->place.avail), __ATOMIC_RELAXED) &
		 VRING_AVAIL_F_NO_INTERRUPT);
}

/* Bytes from off on of some parts. */
static bool span(const struct virtq_part *p, uint32_t count, uint64_t off,
		 void *own, uint64_t len, bool to_guest)
{
	uint8_t *bytes = own;

	for (; count && len; count--, p++) {
		uint64_t now = off < p->len ? p->len - off : 0;

		if (now > len)
			now = len;
		if (!copy(p->at + off, bytes, now, to_guest))
			return false;
		off = off < p->len ? 0 : off - p->len;
		bytes += now;
		len -= now;
	}
	return !len;
}

bool virtq_read(const struct virtq_chain *c, uint64_t off, void *to,
		uint64_t len)
{
	return span(c->part, c->reads, off, to, len, false);
}

bool virtq_write(const struct virtq_chain *c, uint64_t off, const void *from,
		 uint64_t len)
{
	return span(c->part + c->reads, c->count - c->reads, off, (void *)from,
		    len, true);
}
