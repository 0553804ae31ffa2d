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
	pthread_mutex_lock(&ep->mutex);
	ret = reader_wait(ep, &ep->events, timeout, &slot);
	if (!ret) {
		ep->events.probed = ep->events.head + 1;
		*event = &((struct event_slot *)slot)->event;
	}
	pthread_mutex_unlock(&ep->mutex);
	return ret == GLEX_BUSY ? GLEX_NO_EVENT : ret;
}

glex_ret_t glex_probe_next_event(glex_ep_handle_t ep, glex_event_t **event)
{
	struct event_slot *slot;

	if (!ep || !event)
		return GLEX_INVALID_PARAM;
	pthread_mutex_lock(&ep->mutex);
	slot = reader_look(&ep->events, ep->events.probed);
	if (slot) {
		ep->events.probed++;
		*event = &slot->event;
	}
	pthread_mutex_unlock(&ep->mutex);
	return slot ? GLEX_SUCCESS : GLEX_NO_EVENT;
}

glex_ret_t glex_discard_probed_event(glex_ep_handle_t ep)
{
	if (!ep)
		return GLEX_INVALID_PARAM;
	pthread_mutex_lock(&ep->mutex);
	reader_free(&ep->events, ep->events.probed);
	pthread_mutex_unlock(&ep->mutex);
	return GLEX_SUCCESS;
}
