// SPDX-License-Identifier: GPL-2.0
/*
 * Other machines, as an endpoint sees them: its requests go to the library that knows
 * the way (far.h), and what comes from there is put into its own queues by that
 * library's thread, a writer like any other.
 *
 * The endpoint's lock is not held while a request is under way: others may receive.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

static_assert(FAR_REGIONS == REGIONS, "one table each");
static_assert(sizeof(((struct mp_slot *)0)->data) <= FAR_DATA, "room for a packet");
static_assert(IMM_RDMA_DATA == MP_DATA, "and for a put");
static_assert(NICS * MACHINES == FAR_NICS, "numbers of instances");

static pthread_once_t once = PTHREAD_ONCE_INIT;
static const struct far_ops *loaded;

static void load(void)
{
	void *library = dlopen(FAR_LIBRARY, RTLD_NOW | RTLD_LOCAL);

	loaded = library ? dlsym(library, "glex_far_ops") : NULL;
	if (loaded && loaded->version == FAR_VERSION)
		return;
	fprintf(stderr, "libglex: other machines (GLEX_MACHINES) need %s: %s\n",
		FAR_LIBRARY, loaded ? "it is of another version" : dlerror());
	loaded = NULL;
}

glex_ret_t far_load(const struct far_ops **ops)
{
	pthread_once(&once, load);
	*ops = loaded;
	return loaded ? GLEX_SUCCESS : GLEX_SYS_ERR;
}

/* --- what comes, by the library's thread */

static glex_ret_t packet_comes(void *context, glex_ep_addr_t from, const void *data,
			       uint32_t len)
{
	struct glex_ep *ep = context;

	return mp_put(&ep->port, &ep->file, from, data, len);
}

static glex_ret_t event_comes(void *context, const glex_event_t *event)
{
	struct glex_ep *ep = context;

	return event_put(&ep->port, &ep->file, event);
}

static uint32_t address_of(void *context, glex_ep_addr_t to, uint16_t *port)
{
	const struct glex_ep *ep = context;

	if (to.resv || ep->machines->port + to.ep_num > UINT16_MAX)
		return 0;
	*port = ep->machines->port + to.ep_num;
	return machines_address(ep->machines, to.nic_id);
}

/* --- */

glex_ret_t far_open(struct glex_ep *ep, const struct glex_device *dev)
{
	struct far_setting setting = {
		.addr = ep->addr, .key = ep->attr.key, .address_of = address_of,
		.packet = packet_comes, .event = event_comes, .context = ep,
	};

	ep->far_ops = dev->far;
	ep->machines = dev->machines;
	setting.address = address_of(ep, ep->addr, &setting.port);
	if (!setting.address) {
		fprintf(stderr, "libglex: endpoint %u has no port: only %u listen for others\n",
			ep->addr.ep_num, UINT16_MAX - dev->machines->port + 1);
		return GLEX_INVALID_PARAM;
	}
	memcpy(setting.secret, dev->machines->key, sizeof(setting.secret));
	return dev->far->open(&ep->far, &setting);
}

void far_close(struct glex_ep *ep)
{
	uint32_t i;

	if (!ep->far)
		return;
	for (i = 0; i < REGIONS; i++)
		far_unpin(ep, far_withdraw(ep, i));
	ep->far_ops->close(ep->far);
	ep->far = NULL;
}

glex_ret_t far_send(struct glex_ep *ep, const struct glex_imm_mp_req *req,
		    enum glex_err_req_status *why)
{
	glex_ret_t ret;

	*why = GLEX_ERR_STATUS_DEST_HOST_DEAD;
	if (!ep->far)
		return GLEX_ACCESS_ERR;
	pthread_mutex_unlock(&ep->mutex);
	ret = ep->far_ops->packet(ep->far, req->rmt_ep_addr, req->data, req->len, why);
	pthread_mutex_lock(&ep->mutex);
	return ret;
}

glex_ret_t far_copy(struct glex_ep *ep, const struct far_move *m,
		    enum glex_err_req_status *why)
{
	glex_ret_t ret;

	*why = GLEX_ERR_STATUS_DEST_HOST_DEAD;
	if (!ep->far)
		return GLEX_ACCESS_ERR;
	pthread_mutex_unlock(&ep->mutex);
	ret = ep->far_ops->move(ep->far, m, why);
	pthread_mutex_lock(&ep->mutex);
	return ret;
}

struct far_memory *far_pin(struct glex_ep *ep, void *addr, uint64_t len, int32_t flag)
{
	return ep->far_ops->pin(ep->far, addr, len, flag);
}

void far_unpin(struct glex_ep *ep, struct far_memory *memory)
{
	if (memory)
		ep->far_ops->unpin(ep->far, memory);
}

void far_publish(struct glex_ep *ep, uint32_t index, uint32_t sequence,
		 struct far_memory *memory)
{
	ep->far_ops->publish(ep->far, index, sequence, memory);
}

struct far_memory *far_withdraw(struct glex_ep *ep, uint32_t index)
{
	return ep->far_ops->withdraw(ep->far, index);
}
