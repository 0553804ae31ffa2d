// SPDX-License-Identifier: GPL-2.0
/*
 * Who is asked: a thread that lets in who has the key, and does what these ask.  It
 * waits for nothing but the next event, so one guest cannot hold up another, and it
 * takes no lock of the endpoint's.
 *
 * ONCE: of each endpoint there is one connection.  The older one is ended, with what
 * was still to come by it, before a newer one is let in: what its owner gave up is not
 * done behind what he has done since.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <unistd.h>

#include "verbs.h"

/* Those that have connected; a further one takes the place of who says nothing. */
#define GUESTS		1024u
/* Calls that wait for the thread: as many as the connection manager keeps. */
#define CALLS		1024
/* Requests that are waited for: a guest has one under way, and no more. */
#define AHEAD		2u

struct guest_area {
	struct wire_request request[AHEAD];
	struct wire_reply reply;
};

/**
 * struct guest - who has connected
 * @qp:		its connection
 * @from:	whose
 * @heard:	when it asked last, ms
 */
struct guest {
	struct queue_pair qp;	/* first: a completion leads to it */
	glex_ep_addr_t from;
	uint64_t heard;
};

/**
 * struct port - where an endpoint listens
 * @events, @told: of the connection manager, and of completions
 * @listener:	there
 * @nonce:	that who connects has to prove the key with
 * @end:	to be written to
 * @guest:	those who have connected
 */
struct port {
	struct far *far;
	struct rdma_event_channel *events;
	struct ibv_comp_channel *told;
	struct rdma_cm_id *listener;
	uint8_t nonce[WIRE_BYTES];
	int end;
	pthread_t thread;
	struct guest *guest[GUESTS];
};

/* --- guests */

static void guest_drop(struct guest **at)
{
	queue_pair_end(&(*at)->qp);
	free(*at);
	*at = NULL;
}

/*
 * A free place, behind ONCE; NULL: there is none.  Of who puts and gets nothing is to
 * be seen here, so he says now and then that he is there (ask.c).
 */
static struct guest **place(struct port *p, glex_ep_addr_t from)
{
	struct guest **free_one = NULL, **oldest = &p->guest[0];
	uint32_t i;

	for (i = 0; i < GUESTS; i++) {
		if (p->guest[i] && p->guest[i]->from.v == from.v)
			guest_drop(&p->guest[i]);	/* ONCE */
		if (!p->guest[i])
			free_one = &p->guest[i];
		else if (*oldest && p->guest[i]->heard < (*oldest)->heard)
			oldest = &p->guest[i];
	}
	if (free_one)
		return free_one;
	if (verbs_now_ms() - (*oldest)->heard < SILENT_MS)
		return NULL;
	guest_drop(oldest);
	return oldest;
}

static int guest_accept(struct port *p, struct guest *g, const struct wire_meeting *m,
			const struct rdma_conn_param *asked)
{
	struct guest_area *area;
	struct wire_answer answer = {
		.magic = WIRE_MAGIC, .version = WIRE_VERSION, .stage = WIRE_WELCOME,
		.key = p->far->setting.key, .rkey = p->far->table_mr->rkey,
		.table = (uintptr_t)p->far->table,
	};
	struct rdma_conn_param param = {
		.private_data = &answer, .private_data_len = sizeof(answer),
		.responder_resources = asked->responder_resources < p->far->reads ?
				       asked->responder_resources : p->far->reads,
		.initiator_depth = 1, .rnr_retry_count = 7,
	};
	uint32_t i;

	if (queue_pair_make(&g->qp, p->far, p->told, sizeof(*area)) ||
	    !wire_welcome(&answer, m))
		return -1;
	area = g->qp.area;
	for (i = 0; i < AHEAD; i++)
		if (queue_pair_receive(&g->qp, &area->request[i], sizeof(area->request[i])))
			return -1;
	return rdma_accept(g->qp.id, &param);
}

static void refuse(struct port *p, struct rdma_cm_id *id, enum wire_stage stage)
{
	struct wire_answer answer = {
		.magic = WIRE_MAGIC, .version = WIRE_VERSION, .stage = stage,
	};

	memcpy(answer.nonce, p->nonce, sizeof(answer.nonce));
	rdma_reject(id, &answer, sizeof(answer));
}

/* Somebody connects; -1: he is not let in. */
static int comes(struct port *p, struct rdma_cm_id *id, const void *data, size_t len,
		 const struct rdma_conn_param *asked)
{
	struct wire_meeting m = {
		.secret = p->far->setting.secret, .to = p->far->setting.addr.v,
	};
	enum wire_stage stage;
	struct guest **at;

	memcpy(m.asked, p->nonce, sizeof(m.asked));
	stage = wire_hello_check(data, len, &m);
	if (stage != WIRE_PROOF) {
		refuse(p, id, stage == WIRE_HELLO ? WIRE_CHALLENGE : WIRE_NOT_ME);
		return -1;
	}
	at = place(p, (glex_ep_addr_t){ .v = m.from });
	if (!at) {
		refuse(p, id, WIRE_CROWDED);
		return -1;
	}
	*at = calloc(1, sizeof(**at));
	if (!*at) {
		refuse(p, id, WIRE_CROWDED);
		return -1;
	}
	(*at)->qp.id = id;
	(*at)->from.v = m.from;
	(*at)->heard = verbs_now_ms();
	id->context = *at;
	if (guest_accept(p, *at, &m, asked))
		guest_drop(at);	/* with its id */
	return 0;
}

static void goes(struct port *p, const struct rdma_cm_id *id)
{
	uint32_t i;

	for (i = 0; i < GUESTS; i++)
		if (p->guest[i] && p->guest[i]->qp.id == id)
			guest_drop(&p->guest[i]);
}

/* One event of the connection manager; false: there is none now. */
static bool manager_event(struct port *p)
{
	uint8_t data[UINT8_MAX];
	struct rdma_cm_event *event;
	struct rdma_conn_param asked;
	enum rdma_cm_event_type what;
	struct rdma_cm_id *id;

	if (rdma_get_cm_event(p->events, &event))
		return false;
	what = event->event;
	id = event->id;
	asked = event->param.conn;
	if (what == RDMA_CM_EVENT_CONNECT_REQUEST && asked.private_data)
		memcpy(data, asked.private_data, asked.private_data_len);
	/* Before anything is ended: that waits for it. */
	rdma_ack_cm_event(event);
	switch (what) {
	case RDMA_CM_EVENT_CONNECT_REQUEST:
		if (comes(p, id, asked.private_data ? data : NULL,
			  asked.private_data_len, &asked))
			rdma_destroy_id(id);
		break;
	case RDMA_CM_EVENT_ESTABLISHED:
		break;
	default:
		goes(p, id);
	}
	return true;
}

/* --- what they ask */

static bool serve(struct port *p, struct guest *g, const struct ibv_wc *wc)
{
	const struct far_setting *s = &p->far->setting;
	struct guest_area *area = g->qp.area;
	struct wire_request request;
	glex_event_t event;
	glex_ret_t ret = GLEX_SUCCESS;

	if (!wire_request_check((void *)(uintptr_t)wc->wr_id, wc->byte_len, &request))
		return false;
	if (request.kind == WIRE_PACKET) {
		ret = s->packet(s->context, g->from, request.data, request.len);
	} else if (request.kind == WIRE_EVENT) {
		memcpy(&event, request.data, sizeof(event));
		ret = s->event(s->context, &event);
	}
	g->heard = verbs_now_ms();
	area->reply = (struct wire_reply){
		.sequence = request.sequence, .status = ret ? WIRE_FULL : WIRE_DONE,
	};
	return !queue_pair_receive(&g->qp, (void *)(uintptr_t)wc->wr_id,
				   sizeof(request)) &&
	       !queue_pair_send(&g->qp, &area->reply, sizeof(area->reply));
}

/* All that has been done or come by now; false: he is to go. */
static bool completions(struct port *p, struct guest *g)
{
	struct ibv_wc wc;
	int nr;

	while ((nr = ibv_poll_cq(g->qp.cq, 1, &wc)) > 0) {
		if (wc.status != IBV_WC_SUCCESS)
			return false;
		if (wc.opcode == IBV_WC_RECV && !serve(p, g, &wc))
			return false;
	}
	return !nr;
}

static bool told(struct port *p)
{
	struct ibv_cq *cq;
	uint32_t i = 0;
	void *of;

	/* Of who has been dropped since it was told none is left. */
	if (ibv_get_cq_event(p->told, &cq, &of))
		return errno == EAGAIN;
	ibv_ack_cq_events(cq, 1);
	while (i < GUESTS && (void *)p->guest[i] != of)
		i++;
	if (i == GUESTS)
		return true;
	/* Asked for before the look: what comes behind it is told. */
	if (ibv_req_notify_cq(cq, 0) || !completions(p, p->guest[i]))
		guest_drop(&p->guest[i]);
	return true;
}

static void *run(void *arg)
{
	struct port *p = arg;
	struct pollfd fds[] = {
		{ .fd = p->end, .events = POLLIN },
		{ .fd = p->events->fd, .events = POLLIN },
		{ .fd = p->told->fd, .events = POLLIN },
	};

	for (;;) {
		if (poll(fds, 3, -1) < 0)
			continue;
		if (fds[0].revents)
			return NULL;
		errno = EAGAIN;
		/* Who goes has gone before what he asked is done. */
		while (fds[1].revents && manager_event(p))
			errno = EAGAIN;
		if (errno == EAGAIN && (!fds[2].revents || told(p)))
			continue;
		verbs_failed("no other machine reaches this endpoint any more");
		fds[1].fd = -1;
		fds[2].fd = -1;
	}
}

/* --- begin and end */

/* GLEX_NO_EP_RESOURCE: somebody listens there. */
static glex_ret_t listen_at(struct port *p, const struct far_setting *s)
{
	struct sockaddr_in at = {
		.sin_family = AF_INET, .sin_port = htons(s->port),
		.sin_addr.s_addr = htonl(s->address),
	};

	p->events = verbs_channel();
	if (!p->events) {
		verbs_failed("verbs, for other machines (modprobe rdma_ucm)");
		return GLEX_SYS_ERR;
	}
	if (rdma_create_id(p->events, &p->listener, NULL, RDMA_PS_TCP)) {
		verbs_failed("verbs, for other machines");
		return GLEX_SYS_ERR;
	}
	if (rdma_bind_addr(p->listener, (struct sockaddr *)&at)) {
		if (errno == EADDRINUSE)
			return GLEX_NO_EP_RESOURCE;
	} else if (!p->listener->verbs) {
		errno = ENODEV;
	} else if (!rdma_listen(p->listener, CALLS)) {
		return GLEX_SUCCESS;
	} else if (errno == EADDRINUSE) {
		return GLEX_NO_EP_RESOURCE;
	}
	verbs_failed("no verbs device has this instance's address in GLEX_MACHINES (rdma link)");
	return GLEX_SYS_ERR;
}

static int device_open(struct port *p)
{
	struct far *far = p->far;
	struct ibv_device_attr attr;

	far->pd = ibv_alloc_pd(p->listener->verbs);
	if (!far->pd || ibv_query_device(p->listener->verbs, &attr))
		return verbs_failed("a verbs device");
	far->reads = attr.max_qp_rd_atom < (int)READS ? attr.max_qp_rd_atom : READS;
	p->told = ibv_create_comp_channel(p->listener->verbs);
	far->table_mr = ibv_reg_mr(far->pd, far->table,
				   FAR_REGIONS * sizeof(*far->table),
				   IBV_ACCESS_REMOTE_READ);
	p->end = eventfd(0, EFD_CLOEXEC);
	if (!p->told || fcntl(p->told->fd, F_SETFL, O_NONBLOCK) || !far->table_mr ||
	    p->end < 0 ||
	    getrandom(p->nonce, sizeof(p->nonce), 0) != sizeof(p->nonce))
		return verbs_failed("a verbs device");
	return 0;
}

/* The program's signals are not for this thread. */
static int thread_begin(struct port *p)
{
	sigset_t all, old;
	int err;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	err = pthread_create(&p->thread, NULL, run, p);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	errno = err;
	return err ? verbs_failed("a thread") : 0;
}

static void port_free(struct port *p)
{
	uint32_t i;

	for (i = 0; i < GUESTS; i++)
		if (p->guest[i])
			guest_drop(&p->guest[i]);
	if (p->listener)
		rdma_destroy_id(p->listener);
	if (p->told)
		ibv_destroy_comp_channel(p->told);
	if (p->events)
		rdma_destroy_event_channel(p->events);
	if (p->end >= 0)
		close(p->end);
	free(p);
}

glex_ret_t port_open(struct far *far)
{
	struct port *p = calloc(1, sizeof(*p));
	glex_ret_t ret;

	if (!p)
		return GLEX_SYS_ERR;
	p->far = far;
	p->end = -1;
	ret = listen_at(p, &far->setting);
	if (!ret && (device_open(p) || thread_begin(p)))
		ret = GLEX_SYS_ERR;
	if (ret)
		port_free(p);
	else
		far->port = p;
	return ret;
}

void port_close(struct far *far)
{
	const uint64_t one = 1;

	if (write(far->port->end, &one, sizeof(one)) != sizeof(one))
		return;
	pthread_join(far->port->thread, NULL);
	port_free(far->port);
}
