// SPDX-License-Identifier: GPL-2.0
/*
 * The device is the ring that this instance is in; its number there is that of the
 * instance.  On a machine without instances everybody is instance 0.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "internal.h"

#define SYS	"/sys/kernel/mios"

static uint32_t own_instance(void)
{
	FILE *file = fopen(SYS "/self", "r");
	unsigned int self = 0;

	if (file) {
		if (fscanf(file, "%u", &self) != 1 || self >= NICS)
			self = 0;
		fclose(file);
	}
	return self;
}

/* Of one that cannot be known it is said that it is. */
bool instance_is_up(uint32_t nic_id)
{
	char path[64], state[32] = "up\n";
	FILE *file;

	snprintf(path, sizeof(path), SYS "/instance%u/state", nic_id);
	file = fopen(path, "r");
	if (file) {
		if (!fgets(state, sizeof(state), file))
			state[0] = 0;
		fclose(file);
	}
	return !strcmp(state, "up\n");
}

uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000ull + now.tv_nsec / 1000000;
}

glex_ret_t glex_num_of_device(uint32_t *num_of_devices)
{
	if (!num_of_devices)
		return GLEX_INVALID_PARAM;
	*num_of_devices = 1;
	return GLEX_SUCCESS;
}

/* Where the environment tells of other machines. */
static glex_ret_t machines_find(struct glex_device *dev)
{
	if (!getenv("GLEX_MACHINES"))
		return GLEX_SUCCESS;
	dev->machines = machines_get(dev->nic_id);
	if (!dev->machines)
		return GLEX_INVALID_PARAM;
	dev->nic_id += dev->machines->self * NICS;
	return far_load(&dev->far);
}

glex_ret_t glex_open_device(uint32_t dev_id, glex_device_handle_t *dev)
{
	struct glex_device *new;
	glex_ret_t ret;

	if (dev_id || !dev || threshold_set())
		return GLEX_INVALID_PARAM;
	new = calloc(1, sizeof(*new));
	if (!new)
		return GLEX_SYS_ERR;
	new->nic_id = own_instance();
	ret = machines_find(new);
	if (ret) {
		free(new);
		return ret;
	}
	*dev = new;
	return GLEX_SUCCESS;
}

glex_ret_t glex_close_device(glex_device_handle_t dev)
{
	if (!dev)
		return GLEX_INVALID_PARAM;
	free(dev);
	return GLEX_SUCCESS;
}

glex_ret_t glex_query_device(glex_device_handle_t dev,
			     struct glex_device_attr *dev_attr)
{
	if (!dev || !dev_attr)
		return GLEX_INVALID_PARAM;
	*dev_attr = (struct glex_device_attr){
		.nic_id = dev->nic_id,
		.max_fast_ep_num = UINT16_MAX,
		.max_ep_num = UINT16_MAX,
		.mmt_units = REGIONS,
		.max_imm_mp_data_len = MP_DATA,
		.max_mp_data_len = MP_DATA,
		.max_imm_rdma_data_len = IMM_RDMA_DATA,
		.max_rdma_data_len = UINT32_MAX,
		.def_ep_eq_capacity = EQ_DEFAULT,
		.def_ep_mpq_capacity = MPQ_DEFAULT,
		.max_ep_eq_capacity = QUEUE_MAX,
		.max_ep_mpq_capacity = QUEUE_MAX,
		.max_ep_hc_eq_capacity = QUEUE_MAX,
		.max_ep_hc_mpq_capacity = QUEUE_MAX,
	};
	return GLEX_SUCCESS;
}
