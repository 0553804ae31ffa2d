// SPDX-License-Identifier: GPL-2.0
/*
 * Endpoints that are sent to: their files, opened once.  That an owner is dead is
 * looked at now and then, and whenever something does not work.
 */
#include <stdlib.h>
#include <string.h>

#include "internal.h"

/*
 * Within it a death may go unnoticed, ms: at first, and of one who has been seen
 * alive time and again.  Each look takes the lock of all names from all instances.
 */
#define CHECK_MS	10
#define CHECK_MAX_MS	1000

static void peer_drop(struct glex_ep *ep, struct peer *peer)
{
	struct peer **at = &ep->peers;

	while (*at != peer)
		at = &(*at)->next;
	*at = peer->next;
	file_close(&peer->file);
	free(peer);
}

void peers_drop(struct glex_ep *ep)
{
	while (ep->peers)
		peer_drop(ep, ep->peers);
}

static struct peer *peer_open(struct glex_ep *ep, glex_ep_addr_t addr)
{
	struct peer *peer = calloc(1, sizeof(*peer));

	if (!peer)
		return NULL;
	if (addr.resv || file_open(&peer->file, addr)) {
		free(peer);
		return NULL;
	}
	peer->addr = addr;
	peer->checked = now_ms();
	peer->patience = CHECK_MS;
	peer->next = ep->peers;
	ep->peers = peer;
	return peer;
}

/* NULL: nobody has that endpoint now. */
struct peer *peer_get(struct glex_ep *ep, glex_ep_addr_t addr)
{
	struct peer *peer = ep->peers;
	uint64_t now;

	while (peer && peer->addr.v != addr.v)
		peer = peer->next;
	if (!peer)
		return peer_open(ep, addr);
	now = now_ms();
	if (!atomic_load(&peer->file.header->closed)) {
		if (now - peer->checked < peer->patience)
			return peer;
		peer->checked = now;
		peer->patience = longer(peer->patience, CHECK_MAX_MS);
		if (file_owner_lives(&peer->file))
			return peer;
	}
	/* Another one may have the number by now. */
	peer_drop(ep, peer);
	return peer_open(ep, addr);
}

/* The request could not be done: is it that he has ended? */
glex_ret_t peer_refused(struct glex_ep *ep, struct peer *peer,
			const struct glex_err_req *error)
{
	if (peer && !file_owner_lives(&peer->file))
		peer_drop(ep, peer);
	return request_refused(ep, error);
}

/* Both: GLEX_BUSY: there is no room. */
glex_ret_t mp_put(const struct writer *w, struct file *f, glex_ep_addr_t from,
		  const void *data, uint32_t len)
{
	struct mp_slot *slot;
	uint64_t position;

	slot = queue_claim(w, f, &f->mps, &position);
	if (!slot)
		return GLEX_BUSY;
	slot->from = from.v;
	slot->len = len;
	if (len)
		memcpy(slot->data, data, len);
	queue_publish(w, f, slot, position);
	return GLEX_SUCCESS;
}

glex_ret_t event_put(const struct writer *w, struct file *f, const glex_event_t *event)
{
	struct event_slot *slot;
	uint64_t position;

	slot = queue_claim(w, f, &f->events, &position);
	if (!slot)
		return GLEX_BUSY;
	slot->event.cookie_0 = event->cookie_0;
	slot->event.cookie_1 = event->cookie_1;
	queue_publish(w, f, slot, position);
	return GLEX_SUCCESS;
}
