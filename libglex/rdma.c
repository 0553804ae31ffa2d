// SPDX-License-Identifier: GPL-2.0
/*
 * Put and get: straight between the memory of the two processes, by
 * process_vm_writev() and process_vm_readv(), which between instances are one
 * copy, too (docs/messages.md).  A request is done when the call returns, so
 * they are in order, and its events come after its bytes.
 */
#include <errno.h>
#include <sys/uio.h>

#include "internal.h"

#define COLLECTIVE	(~(GLEX_FLAG_COLL - 1))

/**
 * struct move - bytes between here and there
 * @op:		enum glex_err_req_op
 * @to:		whose endpoint
 * @here:	own memory
 * @len:	bytes
 * @own:	own registered memory that it is in, or 0
 * @mh, @offset, @key: of the memory there
 * @flag:	enum glex_flag
 * @local, @remote: events
 */
struct move {
	enum glex_err_req_op op;
	glex_ep_addr_t to;
	uint64_t here;
	uint32_t len;
	glex_mem_handle_t own;
	glex_mem_handle_t mh;
	uint32_t offset;
	uint32_t key;
	int32_t flag;
	const glex_event_t *local;
	const glex_event_t *remote;
};

static glex_ret_t refused(struct glex_ep *ep, struct peer *peer,
			  const struct move *m, enum glex_err_req_status status)
{
	const struct glex_err_req error = {
		.op = m->op,
		.status = status,
		.rmt_nic_id = m->to.nic_id,
		.rmt_ep_num = m->to.ep_num,
		.data0 = m->len,
		.data1 = m->mh.v,
		.data2 = m->offset,
	};

	return peer_refused(ep, peer, &error);
}

int memory_copy(enum glex_err_req_op op, uint64_t here, uint64_t len, uint32_t pid,
		uint64_t there)
{
	struct iovec own = { (void *)here, len };
	struct iovec other = { (void *)there, len };
	ssize_t done;

	while (own.iov_len) {
		done = op == GLEX_ERR_OP_RDMA_GET ?
		       process_vm_readv(pid, &own, 1, &other, 1, 0) :
		       process_vm_writev(pid, &own, 1, &other, 1, 0);
		if (done <= 0)
			return -1;
		own.iov_base += done;
		own.iov_len -= done;
		other.iov_base += done;
		other.iov_len -= done;
	}
	return 0;
}

/* Where an event has no room its bytes are there all the same: an error says so. */
static glex_ret_t move_near(struct glex_ep *ep, const struct move *m)
{
	uint32_t right = m->op == GLEX_ERR_OP_RDMA_GET ? GLEX_MEM_READ :
						       GLEX_MEM_WRITE;
	struct peer *peer = peer_get(ep, m->to);
	uint64_t there;

	if (!peer)
		return refused(ep, NULL, m, GLEX_ERR_STATUS_DEST_VP_STOP);
	if (m->key != peer->file.own.key ||
	    region_find(&peer->file, m->mh, m->offset, m->len, right, &there))
		return refused(ep, peer, m, GLEX_ERR_STATUS_MMT);
	if (memory_copy(m->op, m->here, m->len, peer->file.own.pid, there))
		return refused(ep, peer, m, errno == ESRCH ?
			       GLEX_ERR_STATUS_DEST_VP_STOP :
			       GLEX_ERR_STATUS_ATT);
	if (m->flag & GLEX_FLAG_REMOTE_EVT &&
	    event_put(&ep->writer, &peer->file, m->remote))
		return refused(ep, peer, m, GLEX_ERR_STATUS_DEST_EQ_FULL);
	return GLEX_SUCCESS;
}

static glex_ret_t move_far(struct glex_ep *ep, const struct move *m)
{
	const struct far_move far = {
		.type = m->op == GLEX_ERR_OP_RDMA_GET ? GLEX_RDMA_TYPE_GET :
							GLEX_RDMA_TYPE_PUT,
		.to = m->to, .here = m->here, .len = m->len, .own = m->own,
		.mh = m->mh, .offset = m->offset, .key = m->key,
		.event = m->flag & GLEX_FLAG_REMOTE_EVT ? m->remote : NULL,
	};
	enum glex_err_req_status why;
	glex_ret_t ret = far_copy(ep, &far, &why);

	return ret == GLEX_ACCESS_ERR ? refused(ep, NULL, m, why) : ret;
}

static glex_ret_t move(struct glex_ep *ep, const struct move *m)
{
	glex_ret_t ret = is_near(ep, m->to) ? move_near(ep, m) : move_far(ep, m);

	if (ret)
		return ret;
	if (m->flag & GLEX_FLAG_LOCAL_EVT && event_put(&ep->writer, &ep->file, m->local))
		return refused(ep, NULL, m, GLEX_ERR_STATUS_DEST_EQ_FULL);
	return GLEX_SUCCESS;
}

static glex_ret_t imm_one(struct glex_ep *ep, const void *request)
{
	const struct glex_imm_rdma_req *r = request;
	const struct move m = {
		.op = GLEX_ERR_OP_IMM_RDMA_PUT, .to = r->rmt_ep_addr,
		.here = (uint64_t)r->data, .len = r->len, .mh = r->rmt_mh,
		.offset = r->rmt_offset, .key = r->rmt_key, .flag = r->flag,
		.remote = &r->rmt_evt,
	};

	if (r->flag & (COLLECTIVE | GLEX_FLAG_LOCAL_EVT))
		return GLEX_NOT_IMPLEMENTED;
	if (r->len > IMM_RDMA_DATA || (r->len && !r->data) ||
	    (r->flag & GLEX_FLAG_REMOTE_EVT && !r->rmt_evt.cookie_1))
		return GLEX_INVALID_PARAM;
	return move(ep, &m);
}

static glex_ret_t rdma_one(struct glex_ep *ep, const void *request)
{
	const struct glex_rdma_req *r = request;
	struct move m = {
		.op = r->type == GLEX_RDMA_TYPE_GET ? GLEX_ERR_OP_RDMA_GET :
						      GLEX_ERR_OP_RDMA_PUT,
		.to = r->rmt_ep_addr, .len = r->len,
		.own = r->local_mh, .mh = r->rmt_mh,
		.offset = r->rmt_offset, .key = r->rmt_key, .flag = r->flag,
		.local = &r->local_evt, .remote = &r->rmt_evt,
	};

	if (r->flag & COLLECTIVE || r->coll_set_num)
		return GLEX_NOT_IMPLEMENTED;
	if (r->type > GLEX_RDMA_TYPE_GET ||
	    (r->flag & GLEX_FLAG_REMOTE_EVT && !r->rmt_evt.cookie_1) ||
	    (r->flag & GLEX_FLAG_LOCAL_EVT && !r->local_evt.cookie_1) ||
	    region_find(&ep->file, r->local_mh, r->local_offset, r->len, 0, &m.here))
		return GLEX_INVALID_PARAM;
	return move(ep, &m);
}

glex_ret_t glex_imm_rdma(glex_ep_handle_t ep, struct glex_imm_rdma_req *rdma_req,
			 struct glex_imm_rdma_req **bad_rdma_req)
{
	void *bad;
	glex_ret_t ret;

	ret = requests_do(ep, rdma_req, offsetof(struct glex_imm_rdma_req, next),
			  imm_one, &bad);
	if (ret && bad_rdma_req)
		*bad_rdma_req = bad;
	return ret;
}

glex_ret_t glex_rdma(glex_ep_handle_t ep, struct glex_rdma_req *rdma_req,
		     struct glex_rdma_req **bad_rdma_req)
{
	void *bad;
	glex_ret_t ret;

	ret = requests_do(ep, rdma_req, offsetof(struct glex_rdma_req, next),
			  rdma_one, &bad);
	if (ret && bad_rdma_req)
		*bad_rdma_req = bad;
	return ret;
}
