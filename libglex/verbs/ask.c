// SPDX-License-Identifier: GPL-2.0
/*
 * What an endpoint asks of others.  Each is done when its call returns:
 *
 *	packet	a request, and its reply
 *	get	the entry of the other's table is read, and looked at; then the bytes
 *	put	the entry; the bytes; and behind them the entry once more, or the event
 *
 * PLACED: that a write has left says nothing of where it is, by iWARP.  A read that is
 * answered behind it, or a message that is, says that it is there.
 */
#include <string.h>

#include "verbs.h"

/* An entry that changes is read again so often. */
#define ENTRY_TRIES	16u

static glex_ret_t broken(struct link *link, enum glex_err_req_status *why)
{
	return link_broken(link, GLEX_ERR_STATUS_DEST_VP_STOP, why);
}

/* GLEX_BUSY: there was no room. */
static glex_ret_t request(struct link *link, enum wire_kind kind, const void *data,
			  uint32_t len, enum glex_err_req_status *why)
{
	struct link_area *area = link->area;
	struct wire_reply reply;
	uint32_t bytes = 0;

	area->request = (struct wire_request){
		.kind = kind, .sequence = ++link->sequence, .len = len,
	};
	if (len)
		memcpy(area->request.data, data, len);
	if (queue_pair_send(&link->qp, &area->request, sizeof(area->request)))
		return broken(link, why);
	if (link_wait(link, 2, &bytes, why))
		return GLEX_ACCESS_ERR;
	if (!wire_reply_check(&area->reply, bytes, link->sequence, &reply))
		return link_broken(link, GLEX_ERR_STATUS_FORMAT, why);
	link->heard = verbs_now_ms();
	/* It has been done; the next one connects anew. */
	if (queue_pair_receive(&link->qp, &area->reply, sizeof(area->reply)))
		broken(link, why);
	return reply.status == WIRE_FULL ? GLEX_BUSY : GLEX_SUCCESS;
}

glex_ret_t far_packet(struct far *far, glex_ep_addr_t to, const void *data,
		      uint32_t len, enum glex_err_req_status *why)
{
	struct link *link = link_get(far, to, why);
	glex_ret_t ret;

	if (!link)
		return GLEX_ACCESS_ERR;
	ret = request(link, WIRE_PACKET, data, len, why);
	link_put(link);
	return ret;
}

/* --- put and get */

/**
 * struct bytes - a piece of memory here and there
 * @here, @lkey, @there, @rkey: where
 * @len:	of it
 */
struct bytes {
	uint64_t here;
	uint32_t lkey;
	uint64_t there;
	uint32_t rkey;
	uint64_t len;
};

static int post(struct link *link, enum ibv_wr_opcode opcode, const struct bytes *b)
{
	struct ibv_sge sge = { .addr = b->here, .length = b->len, .lkey = b->lkey };
	struct ibv_send_wr wr = {
		.sg_list = &sge, .num_sge = 1, .opcode = opcode,
		.wr.rdma = { .remote_addr = b->there, .rkey = b->rkey },
	}, *bad;

	return ibv_post_send(link->qp.id->qp, &wr, &bad);
}

/* The other's entry, whole. */
static glex_ret_t entry_read(struct link *link, uint32_t index, struct wire_entry *entry,
			     enum glex_err_req_status *why)
{
	const struct bytes b = {
		.here = (uintptr_t)&link->area->entry, .lkey = link->qp.mr->lkey,
		.there = link->table + index * sizeof(*entry), .rkey = link->rkey,
		.len = sizeof(*entry),
	};
	uint32_t tries = ENTRY_TRIES;

	while (tries--) {
		if (post(link, IBV_WR_RDMA_READ, &b))
			return broken(link, why);
		if (link_wait(link, 1, NULL, why))
			return GLEX_ACCESS_ERR;
		*entry = link->area->entry;
		if (wire_entry_whole(entry))
			return GLEX_SUCCESS;
	}
	*why = GLEX_ERR_STATUS_MMT;
	return GLEX_ACCESS_ERR;
}

/* Puts and gets are the adapters' alone: the other side sees nobody there. */
static glex_ret_t say_alive(struct link *link, enum glex_err_req_status *why)
{
	if (verbs_now_ms() - link->heard < ALIVE_MS)
		return GLEX_SUCCESS;
	return request(link, WIRE_ALIVE, NULL, 0, why);
}

/* WINDOW pieces at a time. */
static glex_ret_t all_bytes(struct link *link, enum ibv_wr_opcode opcode, struct bytes b,
			    enum glex_err_req_status *why)
{
	uint64_t left = b.len;
	uint32_t posted;

	while (left) {
		for (posted = 0; left && posted < WINDOW; posted++) {
			b.len = left < CHUNK ? left : CHUNK;
			if (post(link, opcode, &b))
				return broken(link, why);
			b.here += b.len;
			b.there += b.len;
			left -= b.len;
		}
		if (link_wait(link, posted, NULL, why) || say_alive(link, why))
			return GLEX_ACCESS_ERR;
	}
	return GLEX_SUCCESS;
}

/* What was put is there; and is it still that region? */
static glex_ret_t is_placed(struct link *link, const struct far_move *m,
			    enum glex_err_req_status *why)
{
	struct wire_entry entry;

	if (m->event)	/* PLACED: it is behind the bytes */
		return request(link, WIRE_EVENT, (const void *)m->event,
			       sizeof(*m->event), why);
	if (entry_read(link, m->mh.mmt_index, &entry, why))
		return GLEX_ACCESS_ERR;
	*why = GLEX_ERR_STATUS_MMT;
	return wire_entry_allows(&entry, m) ? GLEX_SUCCESS : GLEX_ACCESS_ERR;
}

/*
 * Its local bytes: registered, and then used by this until it is done; or few, and
 * copied to where the adapter may read.  The caller has found them before he waited:
 * so whether they are still those is asked here.
 */
static bool find_here(struct far *far, struct link *link, const struct far_move *m,
		      struct bytes *b, struct far_memory **used)
{
	struct far_memory *memory;

	b->here = m->here;
	*used = NULL;
	if (!m->own.v) {
		if (m->len > FAR_DATA)
			return false;
		if (m->len)
			memcpy(link->area->data, (const void *)(uintptr_t)m->here, m->len);
		b->here = (uintptr_t)link->area->data;
		b->lkey = link->qp.mr->lkey;
		return true;
	}
	pthread_mutex_lock(&far->lock);
	memory = far->memory[m->own.mmt_index % FAR_REGIONS];
	if (memory && memory->sequence == m->own.att_index) {
		memory->users++;
		*used = memory;
		b->lkey = memory->mr->lkey;
	}
	pthread_mutex_unlock(&far->lock);
	return *used;
}

static void let_go(struct far *far, struct far_memory *used)
{
	if (!used)
		return;
	pthread_mutex_lock(&far->lock);
	if (!--used->users)
		pthread_cond_broadcast(&far->unused);
	pthread_mutex_unlock(&far->lock);
}

/* Does the other's table allow it?  GLEX_ACCESS_ERR: @why. */
static glex_ret_t is_allowed(struct link *link, const struct far_move *m,
			     struct wire_entry *entry, enum glex_err_req_status *why)
{
	bool named = m->mh.mmt_index < FAR_REGIONS && m->key == link->key;

	if (named && entry_read(link, m->mh.mmt_index, entry, why))
		return GLEX_ACCESS_ERR;
	*why = GLEX_ERR_STATUS_MMT;
	return named && wire_entry_allows(entry, m) ? GLEX_SUCCESS : GLEX_ACCESS_ERR;
}

/*
 * The connection broke: is it that the memory is not there any more?  By soft iWARP
 * that looks as an end does.
 */
static void look_again(struct far *far, struct link *link, const struct far_move *m,
		       enum glex_err_req_status *why)
{
	enum glex_err_req_status now;
	struct wire_entry entry;

	if (*why == GLEX_ERR_STATUS_DEST_VP_STOP && link_connect(far, link, &now) &&
	    is_allowed(link, m, &entry, &now) && now == GLEX_ERR_STATUS_MMT)
		*why = now;
}

static glex_ret_t move_bytes(struct far *far, struct link *link, const struct far_move *m,
			     enum glex_err_req_status *why)
{
	struct bytes b = { .len = m->len };
	struct far_memory *used;
	struct wire_entry entry;
	glex_ret_t ret;

	if (say_alive(link, why) || is_allowed(link, m, &entry, why))
		return GLEX_ACCESS_ERR;
	*why = GLEX_ERR_STATUS_ATT;
	if (!find_here(far, link, m, &b, &used))
		return GLEX_ACCESS_ERR;
	b.there = entry.address + m->offset;
	b.rkey = entry.rkey;
	if (m->type == GLEX_RDMA_TYPE_GET)
		ret = all_bytes(link, IBV_WR_RDMA_READ, b, why);
	else
		ret = all_bytes(link, IBV_WR_RDMA_WRITE, b, why);
	let_go(far, used);
	/* The event of a get comes behind it, of a put of nothing alone. */
	if (!ret && (m->event || m->type == GLEX_RDMA_TYPE_PUT))
		ret = is_placed(link, m, why);
	if (ret == GLEX_ACCESS_ERR)
		look_again(far, link, m, why);
	return ret;
}

glex_ret_t far_move(struct far *far, const struct far_move *m,
		    enum glex_err_req_status *why)
{
	struct link *link = link_get(far, m->to, why);
	glex_ret_t ret;

	if (!link)
		return GLEX_ACCESS_ERR;
	ret = move_bytes(far, link, m, why);
	link_put(link);
	if (ret != GLEX_BUSY)
		return ret;
	*why = GLEX_ERR_STATUS_DEST_EQ_FULL;
	return GLEX_ACCESS_ERR;
}
