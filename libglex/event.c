// SPDX-License-Identifier: GPL-2.0
/* Events: what requests that are done leave, here or there. */
#include "internal.h"

glex_ret_t glex_probe_first_event(glex_ep_handle_t ep, int32_t timeout,
				  glex_event_t **event)
{
	glex_ret_t ret;
	void *slot;

	if (!ep || !event)
		return GLEX_INVALID_PARAM;
	ret = reader_probe(ep, &ep->events, timeout, &slot);
	if (!ret)
		*event = &((struct event_slot *)slot)->event;
	return ret == GLEX_BUSY ? GLEX_NO_EVENT : ret;
}

glex_ret_t glex_probe_next_event(glex_ep_handle_t ep, glex_event_t **event)
{
	struct event_slot *slot;

	if (!ep || !event)
		return GLEX_INVALID_PARAM;
	slot = reader_probe_next(ep, &ep->events);
	if (slot)
		*event = &slot->event;
	return slot ? GLEX_SUCCESS : GLEX_NO_EVENT;
}

glex_ret_t glex_discard_probed_event(glex_ep_handle_t ep)
{
	return ep ? reader_discard(ep, &ep->events) : GLEX_INVALID_PARAM;
}
