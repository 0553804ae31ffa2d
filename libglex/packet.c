// SPDX-License-Identifier: GPL-2.0
/*
 * Mini-packets: put into the receiver's queue, in order from each sender.  What is
 * probed stays in its place until it is discarded.
 */
#include <string.h>

#include "internal.h"

#define COLLECTIVE	(~(GLEX_FLAG_COLL - 1))

static glex_ret_t refused(struct glex_ep *ep, struct peer *peer,
			  const struct glex_imm_mp_req *req,
			  enum glex_err_req_status status)
{
	const struct glex_err_req error = {
		.op = GLEX_ERR_OP_IMM_MP,
		.status = status,
		.rmt_nic_id = req->rmt_ep_addr.nic_id,
		.rmt_ep_num = req->rmt_ep_addr.ep_num,
		.data0 = req->len,
	};

	return peer_refused(ep, peer, &error);
}

static glex_ret_t send_one(struct glex_ep *ep, const void *request)
{
	const struct glex_imm_mp_req *req = request;
	enum glex_err_req_status why;
	struct peer *peer;
	glex_ret_t ret;

	if (req->flag & COLLECTIVE)
		return GLEX_NOT_IMPLEMENTED;
	if (req->len > MP_DATA || (req->len && !req->data))
		return GLEX_INVALID_PARAM;
	if (!is_near(ep, req->rmt_ep_addr)) {
		ret = far_send(ep, req, &why);
		return ret == GLEX_ACCESS_ERR ? refused(ep, NULL, req, why) : ret;
	}
	peer = peer_get(ep, req->rmt_ep_addr);
	if (!peer)
		return refused(ep, NULL, req, GLEX_ERR_STATUS_DEST_VP_STOP);
	ret = mp_put(&ep->writer, &peer->file, ep->addr, req->data, req->len);
	if (ret && !file_owner_lives(&peer->file))
		return refused(ep, peer, req, GLEX_ERR_STATUS_DEST_VP_STOP);
	return ret;
}

glex_ret_t glex_send_imm_mp(glex_ep_handle_t ep, struct glex_imm_mp_req *mp_req,
			    struct glex_imm_mp_req **bad_mp_req)
{
	void *bad;
	glex_ret_t ret;

	ret = requests_do(ep, mp_req, offsetof(struct glex_imm_mp_req, next),
			  send_one, &bad);
	if (ret && bad_mp_req)
		*bad_mp_req = bad;
	return ret;
}

static void said(struct mp_slot *slot, glex_ep_addr_t *from, void **data,
		 uint32_t *len)
{
	uint32_t length = slot->len;

	from->v = slot->from;
	*data = slot->data;
	*len = length < MP_DATA ? length : MP_DATA;
}

/* Those of an endpoint that is in a group are the group's. */
static bool may_read(glex_ep_handle_t ep)
{
	return ep && !ep->coll;
}

glex_ret_t glex_probe_first_mp(glex_ep_handle_t ep, int32_t timeout,
			       glex_ep_addr_t *src_ep_addr, void **data,
			       uint32_t *len)
{
	glex_ret_t ret;
	void *slot;

	if (!may_read(ep) || !src_ep_addr || !data || !len)
		return GLEX_INVALID_PARAM;
	ret = reader_probe(ep, &ep->mps, timeout, &slot);
	if (!ret)
		said(slot, src_ep_addr, data, len);
	return ret == GLEX_BUSY ? GLEX_NO_MP : ret;
}

glex_ret_t glex_probe_next_mp(glex_ep_handle_t ep, glex_ep_addr_t *src_ep_addr,
			      void **data, uint32_t *len)
{
	void *slot;

	if (!may_read(ep) || !src_ep_addr || !data || !len)
		return GLEX_INVALID_PARAM;
	slot = reader_probe_next(ep, &ep->mps);
	if (slot)
		said(slot, src_ep_addr, data, len);
	return slot ? GLEX_SUCCESS : GLEX_NO_MP;
}

glex_ret_t glex_discard_probed_mp(glex_ep_handle_t ep)
{
	return may_read(ep) ? reader_discard(ep, &ep->mps) : GLEX_INVALID_PARAM;
}

/* @data has room for max_imm_mp_data_len bytes. */
glex_ret_t glex_receive_mp(glex_ep_handle_t ep, int32_t timeout,
			   glex_ep_addr_t *src_ep_addr, void *data, uint32_t *len)
{
	glex_ret_t ret;
	void *slot, *there;

	if (!may_read(ep) || !src_ep_addr || !data || !len)
		return GLEX_INVALID_PARAM;
	pthread_mutex_lock(&ep->mutex);
	ret = reader_wait(ep, &ep->mps, timeout, &slot);
	if (!ret) {
		said(slot, src_ep_addr, &there, len);
		memcpy(data, there, *len);
		reader_free(&ep->mps, ep->mps.head + 1);
	}
	pthread_mutex_unlock(&ep->mutex);
	return ret == GLEX_BUSY ? GLEX_NO_MP : ret;
}
