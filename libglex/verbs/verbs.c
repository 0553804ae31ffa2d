// SPDX-License-Identifier: GPL-2.0
/* The device, memory, and what both halves do with a connection. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "verbs.h"

uint64_t verbs_now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000ull + now.tv_nsec / 1000000;
}

/* One line; -1. */
int verbs_failed(const char *what)
{
	fprintf(stderr, "libglex: %s: %s\n", what, strerror(errno));
	return -1;
}

/* One whose events are asked for without waiting. */
struct rdma_event_channel *verbs_channel(void)
{
	struct rdma_event_channel *events = rdma_create_event_channel();

	if (events && fcntl(events->fd, F_SETFL, O_NONBLOCK)) {
		rdma_destroy_event_channel(events);
		return NULL;
	}
	return events;
}

/* --- a connection's queue pair */

int queue_pair_make(struct queue_pair *qp, struct far *far,
		    struct ibv_comp_channel *told, size_t size)
{
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_RC, .sq_sig_all = 1,
		.cap = {
			.max_send_wr = 2 * WINDOW, .max_recv_wr = WINDOW,
			.max_send_sge = 1, .max_recv_sge = 1,
		},
	};

	/* One device may have several contexts: memory is of that of the port. */
	if (qp->id->verbs != far->pd->context) {
		errno = ENODEV;
		return -1;
	}
	qp->size = size;
	qp->area = calloc(1, size);
	qp->cq = ibv_create_cq(qp->id->verbs, 4 * WINDOW, qp, told, 0);
	qp->mr = qp->area ? ibv_reg_mr(far->pd, qp->area, size, IBV_ACCESS_LOCAL_WRITE) :
			    NULL;
	if (!qp->cq || !qp->mr || ibv_req_notify_cq(qp->cq, 0))
		return -1;
	attr.send_cq = qp->cq;
	attr.recv_cq = qp->cq;
	return rdma_create_qp(qp->id, far->pd, &attr);
}

/*
 * What comes to this side is placed no more when this returns.  What has left it may
 * still be placed at the other: soft iWARP leaves it to TCP, which goes on sending.
 */
void queue_pair_end(struct queue_pair *qp)
{
	if (!qp->id)
		return;
	if (qp->id->qp) {
		rdma_disconnect(qp->id);
		rdma_destroy_qp(qp->id);
	}
	if (qp->cq)
		ibv_destroy_cq(qp->cq);
	if (qp->mr)
		ibv_dereg_mr(qp->mr);
	rdma_destroy_id(qp->id);
	free(qp->area);
	*qp = (struct queue_pair){ 0 };
}

int queue_pair_receive(struct queue_pair *qp, void *at, uint32_t len)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)at, .length = len, .lkey = qp->mr->lkey,
	};
	struct ibv_recv_wr wr = { .wr_id = (uintptr_t)at, .sg_list = &sge, .num_sge = 1 }, *bad;

	return ibv_post_recv(qp->id->qp, &wr, &bad) ? -1 : 0;
}

int queue_pair_send(struct queue_pair *qp, const void *data, uint32_t len)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)data, .length = len, .lkey = qp->mr->lkey,
	};
	struct ibv_send_wr wr = {
		.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND,
	}, *bad;

	return ibv_post_send(qp->id->qp, &wr, &bad) ? -1 : 0;
}

/* --- memory */

static struct far_memory *far_pin(struct far *far, void *addr, uint64_t len, int32_t flag)
{
	struct far_memory *memory = calloc(1, sizeof(*memory));
	int access = 0;

	if (!memory)
		return NULL;
	if (flag & GLEX_MEM_READ)
		access |= IBV_ACCESS_REMOTE_READ;
	if (flag & GLEX_MEM_WRITE)
		access |= IBV_ACCESS_REMOTE_WRITE;
	memory->flag = flag;
	/* What is got comes there; of what may only be read nothing is got into. */
	memory->mr = ibv_reg_mr(far->pd, addr, len, access | IBV_ACCESS_LOCAL_WRITE);
	if (!memory->mr && !(flag & GLEX_MEM_WRITE))
		memory->mr = ibv_reg_mr(far->pd, addr, len, access);
	if (memory->mr)
		return memory;
	fprintf(stderr, "libglex: %lu bytes cannot be pinned for other machines: %s%s\n",
		len, strerror(errno), errno == ENOMEM ? " (ulimit -l)" : "");
	free(memory);
	return NULL;
}

static void far_unpin(struct far *far, struct far_memory *memory)
{
	pthread_mutex_lock(&far->lock);
	while (memory->users)
		pthread_cond_wait(&far->unused, &far->lock);
	pthread_mutex_unlock(&far->lock);
	ibv_dereg_mr(memory->mr);
	free(memory);
}

/*
 * Others may read an entry while it changes: its check is wrong then, and they read it
 * again.
 */
static void entry_set(struct wire_entry *e, struct wire_entry new)
{
	new.check = wire_entry_sum(&new);
	*(volatile uint32_t *)&e->check = ~new.check;
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	new.check = ~new.check;
	*e = new;
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	*(volatile uint32_t *)&e->check = ~new.check;
}

static void far_publish(struct far *far, uint32_t index, uint32_t sequence,
			struct far_memory *memory)
{
	pthread_mutex_lock(&far->lock);
	far->memory[index] = memory;
	memory->sequence = sequence;
	entry_set(&far->table[index], (struct wire_entry){
		.sequence = sequence, .flags = memory->flag, .rkey = memory->mr->rkey,
		.address = (uintptr_t)memory->mr->addr, .length = memory->mr->length,
	});
	pthread_mutex_unlock(&far->lock);
}

static struct far_memory *far_withdraw(struct far *far, uint32_t index)
{
	struct far_memory *memory;

	pthread_mutex_lock(&far->lock);
	memory = far->memory[index];
	far->memory[index] = NULL;
	entry_set(&far->table[index], (struct wire_entry){ 0 });
	pthread_mutex_unlock(&far->lock);
	return memory;
}

/* --- begin and end */

static void far_close(struct far *far)
{
	links_drop(far);
	if (far->port)
		port_close(far);
	if (far->table_mr)
		ibv_dereg_mr(far->table_mr);
	if (far->pd)
		ibv_dealloc_pd(far->pd);
	pthread_mutex_destroy(&far->lock);
	pthread_cond_destroy(&far->unused);
	free(far->table);
	free(far);
}

static glex_ret_t far_open(struct far **to, const struct far_setting *setting)
{
	struct far *far = calloc(1, sizeof(*far));
	glex_ret_t ret;
	uint32_t i;

	if (!far)
		return GLEX_SYS_ERR;
	far->setting = *setting;
	pthread_mutex_init(&far->lock, NULL);
	pthread_cond_init(&far->unused, NULL);
	far->table = aligned_alloc(4096, FAR_REGIONS * sizeof(*far->table));
	for (i = 0; far->table && i < FAR_REGIONS; i++)
		entry_set(&far->table[i], (struct wire_entry){ 0 });
	ret = far->table ? port_open(far) : GLEX_SYS_ERR;
	if (ret)
		far_close(far);
	else
		*to = far;
	return ret;
}

const struct far_ops glex_far_ops = {
	.version = FAR_VERSION,
	.open = far_open,
	.close = far_close,
	.pin = far_pin,
	.unpin = far_unpin,
	.publish = far_publish,
	.withdraw = far_withdraw,
	.packet = far_packet,
	.move = far_move,
};
