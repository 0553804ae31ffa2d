// SPDX-License-Identifier: GPL-2.0
/* What went wrong: requests that could not be done, and words for it. */
#include <string.h>

#include "internal.h"

/* @num_er: room in the list; out: how many have been told, and forgotten. */
glex_ret_t glex_poll_error_req(glex_ep_handle_t ep, uint32_t *num_er,
			       struct glex_err_req *err_req_list)
{
	uint32_t nr;

	if (!ep || !num_er || !err_req_list)
		return GLEX_INVALID_PARAM;
	pthread_mutex_lock(&ep->mutex);
	nr = *num_er < ep->errors ? *num_er : ep->errors;
	memcpy(err_req_list, ep->error, nr * sizeof(*err_req_list));
	ep->errors -= nr;
	memmove(ep->error, ep->error + nr, ep->errors * sizeof(*err_req_list));
	pthread_mutex_unlock(&ep->mutex);
	*num_er = nr;
	return GLEX_SUCCESS;
}

static const char *word(const char * const *words, unsigned int nr, unsigned int i)
{
	return i < nr && words[i] ? words[i] : "unknown";
}

#define WORD(words, i)	word(words, sizeof(words) / sizeof((words)[0]), i)

const char *glex_error_str(glex_ret_t ret)
{
	static const char * const words[] = {
		[GLEX_SUCCESS] = "success",
		[GLEX_SYS_ERR] = "a system call failed (errno)",
		[GLEX_INVALID_PARAM] = "invalid argument",
		[GLEX_NO_EP_RESOURCE] = "no endpoint: the number is taken",
		[GLEX_NO_MEM_RESOURCE] = "no memory, or too many regions",
		[GLEX_BUSY] = "no room there: try again",
		[GLEX_NO_MP] = "no mini-packet",
		[GLEX_NO_EVENT] = "no event",
		[GLEX_INTR] = "interrupted by a signal",
		[GLEX_ACCESS_ERR] = "not possible there (glex_poll_error_req)",
		[GLEX_NOT_IMPLEMENTED] = "not implemented",
	};

	return WORD(words, ret);
}

const char *glex_error_req_status_str(enum glex_err_req_status status)
{
	static const char * const words[] = {
		[GLEX_ERR_STATUS_FORMAT] = "what came makes no sense",
		[GLEX_ERR_STATUS_DEST_HOST_DEAD] = "the instance there is not up",
		[GLEX_ERR_STATUS_ATT] = "the memory there is not mapped, or may not be used",
		[GLEX_ERR_STATUS_MMT] = "no such region there, its bounds, or the key",
		[GLEX_ERR_STATUS_DEST_VP_STOP] = "no such endpoint there, or its process has ended",
		[GLEX_ERR_STATUS_SRC_VP_STOP] = "what is needed here cannot be had",
		[GLEX_ERR_STATUS_DEST_MPQ_FULL] = "too many have connected there",
		[GLEX_ERR_STATUS_DEST_EQ_FULL] = "no room for the event",
		[GLEX_ERR_STATUS_CONNECTION_MAX_RETRY] =
			"no answer in time: whether it was done is not known",
		[GLEX_ERR_STATUS_CONNECTION_NACK] =
			"it refuses, or has given up (a machine: another key, version or list)",
	};

	return WORD(words, status);
}

const char *glex_error_req_opcode_str(enum glex_err_req_op opcode)
{
	static const char * const words[] = {
		[GLEX_ERR_OP_IMM_MP] = "mini-packet",
		[GLEX_ERR_OP_MP] = "long mini-packet",
		[GLEX_ERR_OP_IMM_RDMA_PUT] = "immediate put",
		[GLEX_ERR_OP_RDMA_PUT] = "put",
		[GLEX_ERR_OP_RDMA_GET] = "get",
	};

	return WORD(words, opcode);
}
