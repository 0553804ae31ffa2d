// SPDX-License-Identifier: GPL-2.0
/*
 * Collectives, each one or two ways through a binomial tree: up to the root with
 * what is combined, down from it with what all get.  Seen from the root, member r has
 * as its parent r without its lowest bit; numbers are combined in the same order
 * always, so the same numbers give the same sum.
 */
#include <stdlib.h>
#include <string.h>

#include "coll.h"

enum call { CALL_BARRIER = 1, CALL_BCAST, CALL_REDUCE, CALL_ALLREDUCE };

/**
 * struct work - what a call is to do
 * @call, @root: which one
 * @data, @len:	what goes through the tree
 * @other:	room for that of a child, as long
 * @count, @bits, @op: what the bytes are, of a reduction
 */
struct work {
	enum call call;
	uint32_t root;
	void *data;
	uint64_t len;
	void *other;
	uint32_t count;
	enum glex_coll_reduce_data_bits bits;
	enum glex_coll_reduce_op op;
};

/* As seen from the root, and back. */
static uint32_t place(const struct glex_coll *coll, uint32_t root)
{
	return (coll->rank + coll->count - root) % coll->count;
}

static uint32_t rank_at(const struct glex_coll *coll, uint32_t root, uint32_t at)
{
	return (at + root) % coll->count;
}

static bool go_up(struct glex_coll *coll, const struct work *w)
{
	uint32_t own = place(coll, w->root), mask, other;

	for (mask = 1; mask < coll->count; mask *= 2) {
		other = rank_at(coll, w->root, own ^ mask);
		if (own & mask)
			return coll_send(coll, &other, 1, COLL_UP, w->data, w->len);
		if (own + mask >= coll->count)
			continue;
		if (!coll_receive(coll, other, COLL_UP, w->other, w->len))
			return false;
		if (w->len)
			coll_combine(w->data, w->other, w->count, w->bits, w->op);
	}
	return true;
}

static bool go_down(struct glex_coll *coll, const struct work *w)
{
	uint32_t own = place(coll, w->root), child[COLL_LINKS], nr = 0, mask = 1;

	while (mask < coll->count && !(own & mask))
		mask *= 2;
	if (own && !coll_receive(coll, rank_at(coll, w->root, own ^ mask), COLL_DOWN,
				 w->data, w->len))
		return false;
	while (mask /= 2)
		if (own + mask < coll->count)
			child[nr++] = rank_at(coll, w->root, own + mask);
	return coll_send(coll, child, nr, COLL_DOWN, w->data, w->len);
}

static glex_ret_t run(struct glex_coll *coll, const struct work *w, int32_t timeout)
{
	bool done = true;

	if (coll->broken)
		return request_refused(coll->ep, &coll->error);
	coll_begin(coll, timeout);
	coll->shape = w->call | w->bits << 3 | w->op << 4 | w->root << 16;
	if (w->call != CALL_BCAST)
		done = go_up(coll, w);
	if (done && w->call != CALL_REDUCE)
		done = go_down(coll, w);
	if (!done)
		return request_refused(coll->ep, &coll->error);
	coll_done(coll);
	return GLEX_SUCCESS;
}

static glex_ret_t run_locked(struct glex_coll *coll, const struct work *w,
			     int32_t timeout)
{
	glex_ret_t ret;

	pthread_mutex_lock(&coll->ep->mutex);
	ret = run(coll, w, timeout);
	pthread_mutex_unlock(&coll->ep->mutex);
	return ret;
}

glex_ret_t glex_coll_barrier(glex_coll_handle_t coll, int32_t timeout)
{
	const struct work w = { .call = CALL_BARRIER };

	return coll ? run_locked(coll, &w, timeout) : GLEX_INVALID_PARAM;
}

glex_ret_t glex_coll_bcast(glex_coll_handle_t coll, uint32_t root, void *data,
			   uint64_t len, int32_t timeout)
{
	const struct work w = {
		.call = CALL_BCAST, .root = root, .data = data, .len = len,
	};

	if (!coll || root >= coll->count || (len && !data))
		return GLEX_INVALID_PARAM;
	return run_locked(coll, &w, timeout);
}

/* The result is written only when it is right. */
static glex_ret_t reduce(struct glex_coll *coll, struct work *w, const void *from,
			 void *to, int32_t timeout)
{
	bool gets = coll && (w->call == CALL_ALLREDUCE || coll->rank == w->root);
	glex_ret_t ret;

	if (!coll || w->root >= coll->count || !w->count || !from || (gets && !to) ||
	    w->bits > GLEX_COLL_REDUCE_DATA_BITS_64 || w->op > GLEX_COLL_REDUCE_BXOR)
		return GLEX_INVALID_PARAM;
	w->len = w->count * sizeof(union glex_coll_data_loc);
	w->data = malloc(2 * w->len);
	if (!w->data)
		return GLEX_SYS_ERR;
	memcpy(w->data, from, w->len);
	w->other = (uint8_t *)w->data + w->len;
	ret = run_locked(coll, w, timeout);
	if (!ret && gets)
		memcpy(to, w->data, w->len);
	free(w->data);
	return ret;
}

glex_ret_t glex_coll_reduce(glex_coll_handle_t coll, uint32_t root,
			    const union glex_coll_data_loc send_buf[],
			    union glex_coll_data_loc recv_buf[], uint32_t count,
			    enum glex_coll_reduce_data_bits data_bits,
			    enum glex_coll_reduce_op op, int32_t timeout)
{
	struct work w = {
		.call = CALL_REDUCE, .root = root, .count = count,
		.bits = data_bits, .op = op,
	};

	return reduce(coll, &w, send_buf, recv_buf, timeout);
}

glex_ret_t glex_coll_allreduce(glex_coll_handle_t coll,
			       const union glex_coll_data_loc send_buf[],
			       union glex_coll_data_loc recv_buf[], uint32_t count,
			       enum glex_coll_reduce_data_bits data_bits,
			       enum glex_coll_reduce_op op, int32_t timeout)
{
	struct work w = {
		.call = CALL_ALLREDUCE, .count = count, .bits = data_bits, .op = op,
	};

	return reduce(coll, &w, send_buf, recv_buf, timeout);
}
