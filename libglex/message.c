// SPDX-License-Identifier: GPL-2.0
/*
 * Messages between the members of a group.  A packet is copied out of the queue,
 * then checked, then believed.
 *
 * ROOM: nobody sends packets of a call to one who has not come to the call before
 * it, so a queue always has room: one that has none has been written to.
 *
 * AGAIN: the call of who sends a long message does not return before all have
 * acknowledged it, or else he has said that the group is broken.  So who has copied
 * looks at that once more: what he has is then what was sent.
 */
#include <string.h>
#include <unistd.h>

#include "coll.h"
#include "../mios/inject/inject.h"

/* Others are looked at so often while one waits, ms; for room, us. */
#define WAIT_MS		10
#define ROOM_US		200

MIOS_INJECT_UNIT(coll_no_check);
MIOS_INJECT_UNIT(coll_no_sequence);
MIOS_INJECT_UNIT(coll_no_again);

uint64_t coll_check_of(const struct coll_packet *packet)
{
	uint64_t words[sizeof(*packet) / 8], hash = 0;
	uint32_t i;

	memcpy(words, packet, sizeof(words));
	for (i = 1; i < sizeof(words) / 8; i++)
		hash = coll_mix(hash, words[i]);
	return hash;
}

/* --- sending */

static bool put_now(struct glex_coll *coll, uint32_t to, struct coll_packet *packet)
{
	struct file *f = &coll->file[to];
	struct mp_slot *slot;
	uint64_t position;

	packet->group = coll->group;
	packet->sequence = coll->sequence;
	packet->shape = coll->shape;
	packet->from = coll->rank;
	packet->check = coll_check_of(packet);
	slot = queue_claim(&coll->ep->writer, f, &f->mps, &position);
	if (!slot)	/* ROOM */
		return coll_break(coll, to, GLEX_ERR_STATUS_DEST_MPQ_FULL);
	slot->from = coll->ep->addr.v;
	slot->len = sizeof(*packet);
	memcpy(slot->data, packet, sizeof(*packet));
	queue_publish(&coll->ep->writer, f, slot, position);
	return true;
}

static bool put_packet(struct glex_coll *coll, uint32_t to, struct coll_packet *packet)
{
	while (!coll_has_room(coll, to)) {
		if (coll_has_left(coll, to))
			return coll_break(coll, to, GLEX_ERR_STATUS_DEST_VP_STOP);
		if (!coll_look(coll, to))
			return false;
		usleep(ROOM_US);
	}
	return put_now(coll, to, packet);
}

static bool send_fast(struct glex_coll *coll, uint32_t to, enum coll_phase phase,
		      const uint8_t *data, uint64_t len)
{
	struct coll_packet packet = {
		.len = len, .phase = phase, .way = COLL_FAST,
	};
	uint32_t bytes;

	do {
		bytes = len - packet.at < COLL_DATA ? len - packet.at : COLL_DATA;
		if (bytes)
			memcpy(packet.data, data + packet.at, bytes);
		if (!put_packet(coll, to, &packet))
			return false;
		packet.at += bytes;
	} while (packet.at < len);
	return true;
}

static enum coll_phase ack_of(enum coll_phase phase)
{
	return phase == COLL_UP ? COLL_UP_ACK : COLL_DOWN_ACK;
}

/* All have got it when this returns true. */
static bool send_normal(struct glex_coll *coll, const uint32_t *to, uint32_t nr,
			enum coll_phase phase, const void *data, uint64_t len)
{
	struct coll_packet packet = {
		.len = len, .phase = phase, .way = COLL_NORMAL,
	};
	bool done = true;
	uint32_t i;

	memcpy(packet.data, &data, sizeof(data));
	for (i = 0; i < nr && done; i++)
		done = put_packet(coll, to[i], &packet);
	for (i = 0; i < nr && done; i++)
		done = coll_receive(coll, to[i], ack_of(phase), NULL, 0);
	return done;
}

bool coll_send(struct glex_coll *coll, const uint32_t *to, uint32_t nr,
	       enum coll_phase phase, const void *data, uint64_t len)
{
	uint32_t i;

	if (!nr)
		return true;
	if (len > coll->fast)
		return send_normal(coll, to, nr, phase, data, len);
	for (i = 0; i < nr; i++)
		if (!send_fast(coll, to[i], phase, data, len))
			return false;
	return true;
}

/* --- receiving */

/* The next one of anybody's, copied, as it stands there. */
static bool next_packet(struct glex_coll *coll, uint32_t from,
			struct coll_packet *packet, uint32_t *len)
{
	struct reader *r = &coll->ep->mps;
	struct mp_slot *slot;
	void *found;
	bool left;

	for (;;) {
		/* What he has sent he has sent before he left. */
		left = coll_has_left(coll, from);
		if (!reader_wait(coll->ep, r, WAIT_MS, &found))
			break;
		if (!reader_is_sound(r))
			return coll_break(coll, coll->rank, GLEX_ERR_STATUS_FORMAT);
		if (left)
			return coll_break(coll, from, GLEX_ERR_STATUS_DEST_VP_STOP);
		if (!coll_look(coll, from))
			return false;
	}
	slot = found;
	*len = slot->len;
	memcpy(packet, slot->data, sizeof(*packet));
	reader_free(r, r->head + 1);
	return true;
}

static bool is_asked(const struct glex_coll *coll, const struct coll_packet *packet,
		     uint32_t from, enum coll_phase phase)
{
	return packet->from == from && packet->phase == phase &&
	       (packet->sequence == coll->sequence || inject_coll_no_sequence);
}

/* Of this call, or of the next one, which others may have begun. */
static bool is_right(const struct glex_coll *coll, const struct coll_packet *packet)
{
	uint32_t ahead = (packet->sequence - coll->sequence) & SEQUENCE_MASK;

	return packet->from < coll->count && packet->phase >= COLL_UP &&
	       packet->phase <= COLL_DOWN_ACK &&
	       (ahead < COLL_WINDOW || inject_coll_no_sequence);
}

static bool take_early(struct glex_coll *coll, uint32_t from, enum coll_phase phase,
		       struct coll_packet *packet)
{
	struct coll_packet *early = coll->early;
	uint32_t i;

	for (i = 0; i < coll->earlies; i++) {
		if (!is_asked(coll, &early[i], from, phase))
			continue;
		*packet = early[i];
		coll->earlies--;
		memmove(&early[i], &early[i + 1],
			(coll->earlies - i) * sizeof(*early));
		return true;
	}
	return false;
}

static bool take(struct glex_coll *coll, uint32_t from, enum coll_phase phase,
		 struct coll_packet *packet)
{
	uint32_t len;

	if (take_early(coll, from, phase, packet))
		return true;
	for (;;) {
		if (!next_packet(coll, from, packet, &len))
			return false;
		if (len != sizeof(*packet) ||
		    (packet->check != coll_check_of(packet) && !inject_coll_no_check))
			break;
		/* One of an earlier group may come late. */
		if (packet->group != coll->group) {
			if (!coll_look(coll, from))
				return false;
			continue;
		}
		if (!is_right(coll, packet))
			break;
		if (is_asked(coll, packet, from, phase))
			return true;
		if (coll->earlies == coll->ep->file.own.mpq_capacity)
			break;
		coll->early[coll->earlies++] = *packet;
	}
	return coll_break(coll, coll->rank, GLEX_ERR_STATUS_FORMAT);
}

static bool get(struct glex_coll *coll, uint32_t from, enum coll_phase phase,
		const struct coll_packet *packet, void *data, uint64_t len)
{
	struct coll_packet ack = { .phase = ack_of(phase), .way = COLL_FAST };
	struct file *f = &coll->file[from];
	uint64_t there;

	memcpy(&there, packet->data, sizeof(there));
	if (memory_copy(GLEX_ERR_OP_RDMA_GET, (uint64_t)data, len, f->own.pid, there))
		return coll_break(coll, from, GLEX_ERR_STATUS_ATT);
	atomic_thread_fence(memory_order_seq_cst); /* AGAIN */
	if (!coll_has_room(coll, from) && !inject_coll_no_again)
		return coll_break(coll, from, GLEX_ERR_STATUS_CONNECTION_NACK);
	return put_now(coll, from, &ack);
}

bool coll_receive(struct glex_coll *coll, uint32_t from, enum coll_phase phase,
		  void *data, uint64_t len)
{
	struct coll_packet packet;
	uint64_t at = 0;
	uint32_t bytes;

	do {
		if (!take(coll, from, phase, &packet))
			return false;
		if (packet.shape != coll->shape || packet.len != len ||
		    packet.at != at || (packet.way == COLL_NORMAL && at))
			return coll_break(coll, from, GLEX_ERR_STATUS_FORMAT);
		if (packet.way == COLL_NORMAL)
			return get(coll, from, phase, &packet, data, len);
		bytes = len - at < COLL_DATA ? len - at : COLL_DATA;
		if (bytes)
			memcpy((uint8_t *)data + at, packet.data, bytes);
		at += bytes;
	} while (at < len);
	return true;
}
