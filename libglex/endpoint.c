// SPDX-License-Identifier: GPL-2.0
/* Endpoints: made, ended, asked about, named. */
#include <stdlib.h>
#include <sys/prctl.h>

#include "coll.h"

static uint32_t power_of_two(uint32_t n)
{
	uint32_t p = 1;

	while (p < n)
		p *= 2;
	return p;
}

/* Capacities as they will be; -1: not to be had. */
static int attr_check(struct glex_ep_attr *a)
{
	uint32_t mpq = a->mpq_type == GLEX_MPQ_TYPE_NORMAL ? MPQ_DEFAULT : MPQ_HIGH;
	uint32_t eq = a->eq_type == GLEX_EQ_TYPE_NORMAL ? EQ_DEFAULT : EQ_HIGH;

	if (a->mpq_capacity > QUEUE_MAX || a->eq_capacity > QUEUE_MAX ||
	    (a->num != GLEX_ANY_EP_NUM && a->num >= UINT16_MAX))
		return -1;
	a->mpq_capacity = power_of_two(a->mpq_capacity ? a->mpq_capacity : mpq);
	a->eq_capacity = power_of_two(a->eq_capacity ? a->eq_capacity : eq);
	return 0;
}

/* Its queues as they are for @ep->attr.num, and then its way to other machines. */
static glex_ret_t number_take(struct glex_ep *ep, const struct glex_device *dev)
{
	glex_ret_t ret = file_create(&ep->file, dev->nic_id, ep->attr.num, &ep->attr);
	struct header *h = ep->file.header;

	if (ret)
		return ret;
	glex_compose_ep_addr(dev->nic_id, ep->attr.num, ep->attr.type, &ep->addr);
	ep->writer = queue_writer(ep->addr, &h->intent);
	ep->port = queue_writer(ep->addr, &h->port_intent);
	ep->mps = (struct reader){ .queue = &ep->file.mps, .own = ep->addr };
	ep->events = (struct reader){ .queue = &ep->file.events, .own = ep->addr };
	ret = dev->far ? far_open(ep, dev) : GLEX_SUCCESS;
	if (ret)
		file_remove(&ep->file);
	return ret;
}

static glex_ret_t number_find(struct glex_ep *ep, const struct glex_device *dev)
{
	glex_ret_t ret = GLEX_NO_EP_RESOURCE;
	uint32_t num;

	if (ep->attr.num != GLEX_ANY_EP_NUM)
		return number_take(ep, dev);
	for (num = 0; num < UINT16_MAX && ret == GLEX_NO_EP_RESOURCE; num++) {
		ep->attr.num = num;
		ret = number_take(ep, dev);
	}
	return ret;
}

glex_ret_t glex_create_ep(glex_device_handle_t dev, struct glex_ep_attr *ep_attr,
			  glex_ep_handle_t *ep)
{
	struct glex_ep *new;
	glex_ret_t ret;

	if (!dev || !ep_attr || !ep)
		return GLEX_INVALID_PARAM;
	if (ep_attr->type > GLEX_EP_TYPE_NORMAL ||
	    ep_attr->mpq_type > GLEX_MPQ_TYPE_HIGH_CAPACITY ||
	    ep_attr->eq_type > GLEX_EQ_TYPE_HIGH_CAPACITY)
		return GLEX_NOT_IMPLEMENTED;
	new = calloc(1, sizeof(*new));
	if (!new)
		return GLEX_SYS_ERR;
	new->attr = *ep_attr;
	ret = attr_check(&new->attr) ? GLEX_INVALID_PARAM :
	      number_find(new, dev);
	if (ret) {
		free(new);
		return ret;
	}
	pthread_mutex_init(&new->mutex, NULL);
	/* Where Yama asks for it: others of the same user get and put here. */
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
	*ep = new;
	return GLEX_SUCCESS;
}

/* Nobody uses it any more: no thread is in a call with it. */
glex_ret_t glex_destroy_ep(glex_ep_handle_t ep)
{
	if (!ep)
		return GLEX_INVALID_PARAM;
	far_close(ep);
	coll_free(ep->coll);
	peers_drop(ep);
	file_remove(&ep->file);
	pthread_mutex_destroy(&ep->mutex);
	free(ep);
	return GLEX_SUCCESS;
}

glex_ret_t glex_query_ep(glex_ep_handle_t ep, struct glex_ep_attr *ep_attr)
{
	if (!ep || !ep_attr)
		return GLEX_INVALID_PARAM;
	*ep_attr = ep->attr;
	return GLEX_SUCCESS;
}

glex_ret_t glex_get_ep_addr(glex_ep_handle_t ep, glex_ep_addr_t *ep_addr)
{
	if (!ep || !ep_addr)
		return GLEX_INVALID_PARAM;
	*ep_addr = ep->addr;
	return GLEX_SUCCESS;
}

glex_ret_t glex_compose_ep_addr(uint32_t nic_id, uint32_t ep_num,
				enum glex_ep_type type, glex_ep_addr_t *ep_addr)
{
	if (!ep_addr || nic_id >= NICS * MACHINES || ep_num >= UINT16_MAX ||
	    type > GLEX_EP_TYPE_NORMAL)
		return GLEX_INVALID_PARAM;
	ep_addr->v = 0;
	ep_addr->nic_id = nic_id;
	ep_addr->ep_num = ep_num;
	return GLEX_SUCCESS;
}

glex_ret_t glex_decompose_ep_addr(glex_ep_addr_t ep_addr, enum glex_ep_type type,
				  uint32_t *nic_id, uint32_t *ep_num)
{
	if (!nic_id || !ep_num || type > GLEX_EP_TYPE_NORMAL)
		return GLEX_INVALID_PARAM;
	*nic_id = ep_addr.nic_id;
	*ep_num = ep_addr.ep_num;
	return GLEX_SUCCESS;
}
