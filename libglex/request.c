// SPDX-License-Identifier: GPL-2.0
/* What all kinds of requests have: they come as lists, and some cannot be done. */
#include <string.h>

#include "internal.h"

/*
 * Each of a list in turn, until one fails; that is @bad then.  @next: where in a
 * request the pointer to the next one is.
 */
glex_ret_t requests_do(struct glex_ep *ep, void *first, size_t next,
		       request_do *one, void **bad)
{
	glex_ret_t ret = GLEX_SUCCESS;
	void *req = first;

	*bad = first;
	if (!ep || !first)
		return GLEX_INVALID_PARAM;
	pthread_mutex_lock(&ep->mutex);
	while (req) {
		*bad = req;
		ret = one(ep, req);
		if (ret)
			break;
		memcpy(&req, (const uint8_t *)req + next, sizeof(req));
	}
	pthread_mutex_unlock(&ep->mutex);
	return ret;
}

/*
 * What could not be done is kept for glex_poll_error_req(), the first ones.  Who has
 * ended may have done so with his instance.
 */
glex_ret_t request_refused(struct glex_ep *ep, const struct glex_err_req *error)
{
	struct glex_err_req *kept = &ep->error[ep->errors];

	if (ep->errors == ERRORS)
		return GLEX_ACCESS_ERR;
	*kept = *error;
	if (kept->status == GLEX_ERR_STATUS_DEST_VP_STOP &&
	    kept->rmt_nic_id / NICS == ep->addr.nic_id / NICS &&
	    !instance_is_up(kept->rmt_nic_id % NICS))
		kept->status = GLEX_ERR_STATUS_DEST_HOST_DEAD;
	ep->errors++;
	return GLEX_ACCESS_ERR;
}
