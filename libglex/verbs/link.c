// SPDX-License-Identifier: GPL-2.0
/*
 * Connections to endpoints of other machines: made when one is first asked, and anew
 * when it has gone.  Each wait has a bound, LIMIT_MS behind the last that was done.
 *
 * NEVER TWICE: a request is not sent again by another connection.  Whether the one that
 * broke had brought it is not known, and the caller is told that it failed.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "verbs.h"

/* Looks at completions before a sleep. */
#define SPINS	200u
/* Calls until one has met an endpoint, which may change its nonce meanwhile. */
#define CALLS_MOST	4u
/* Between two calls of who was refused for want of room, us. */
#define PAUSE_US	20000
/* A port where hardly anybody listens, and it does not matter. */
#define KNOCK	1u

/* Who has ended cannot be told from a host that refuses: nobody listens there. */
#define STOPPED	GLEX_ERR_STATUS_DEST_VP_STOP
#define DEAD	GLEX_ERR_STATUS_DEST_HOST_DEAD
#define SILENT	GLEX_ERR_STATUS_CONNECTION_MAX_RETRY
#define OURS	GLEX_ERR_STATUS_SRC_VP_STOP

static void connection_end(struct link *link)
{
	queue_pair_end(&link->qp);
	if (link->told)
		ibv_destroy_comp_channel(link->told);
	if (link->events)
		rdma_destroy_event_channel(link->events);
	link->told = NULL;
	link->events = NULL;
	link->area = NULL;
}

glex_ret_t link_broken(struct link *link, enum glex_err_req_status status,
		       enum glex_err_req_status *why)
{
	connection_end(link);
	link->rest = status == DEAD || status == SILENT ?
		     (link->rest && link->rest < REST_MAX_MS ? 2 * link->rest : REST_MS) : 0;
	link->rests = verbs_now_ms() + link->rest;
	link->why = status;
	*why = status;
	return GLEX_ACCESS_ERR;
}

/* --- connecting */

/* The next event, with what came with it; -1: none in time. */
static int event_wait(struct link *link, struct rdma_conn_param *param, uint8_t *data,
		      enum rdma_cm_event_type *what)
{
	struct pollfd fd = { .fd = link->events->fd, .events = POLLIN };
	uint64_t end = verbs_now_ms() + LIMIT_MS, now;
	struct rdma_cm_event *event;

	while (rdma_get_cm_event(link->events, &event)) {
		now = verbs_now_ms();
		if (errno != EAGAIN || now >= end)
			return -1;
		poll(&fd, 1, end - now);
	}
	*what = event->event;
	*param = event->param.conn;
	if (*what != RDMA_CM_EVENT_REJECTED && *what != RDMA_CM_EVENT_ESTABLISHED)
		param->private_data = NULL;
	if (param->private_data) {
		memcpy(data, param->private_data, param->private_data_len);
		param->private_data = data;
	}
	rdma_ack_cm_event(event);
	return 0;
}

/* That event and no other one. */
static bool comes(struct link *link, enum rdma_cm_event_type wanted)
{
	enum rdma_cm_event_type what;
	struct rdma_conn_param param;
	uint8_t data[UINT8_MAX];

	return !event_wait(link, &param, data, &what) && what == wanted;
}

/*
 * KNOCK: the soft iWARP of Linux connects within the caller's system call, for two
 * minutes if nobody answers.  So it is asked first, by TCP and with a bound, whether
 * that instance answers at all: that it refuses is an answer, too.  It is not asked at
 * the endpoint's port: siw of 6.12 crashed when a listener ended to which somebody had
 * connected and said nothing.
 */
static bool answers(struct in_addr address)
{
	const struct sockaddr_in there = {
		.sin_family = AF_INET, .sin_port = htons(KNOCK), .sin_addr = address,
	};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	struct pollfd wait = { .fd = fd, .events = POLLOUT };
	uint64_t end = verbs_now_ms() + LIMIT_MS, now = end - LIMIT_MS;
	socklen_t len = sizeof(int);
	int err = 0;

	if (fd < 0)
		return false;
	if (connect(fd, (const struct sockaddr *)&there, sizeof(there)))
		err = errno;
	/* A signal ends poll(), and not this. */
	for (; err == EINPROGRESS && now < end; now = verbs_now_ms())
		if (poll(&wait, 1, end - now) == 1)
			getsockopt(fd, SOL_SOCKET, SO_ERROR, &err, &len);
	close(fd);
	return !err || err == ECONNREFUSED;
}

static bool is_found(struct link *link, struct far *far)
{
	const struct far_setting *s = &far->setting;
	struct sockaddr_in own = {
		.sin_family = AF_INET, .sin_addr.s_addr = htonl(s->address),
	};
	struct sockaddr_in there = { .sin_family = AF_INET };
	uint16_t port = 0;

	there.sin_addr.s_addr = htonl(s->address_of(s->context, link->to, &port));
	there.sin_port = htons(port);
	link->why = DEAD;
	if (!answers(there.sin_addr))
		return false;
	link->why = OURS;
	link->events = verbs_channel();
	if (!link->events || rdma_create_id(link->events, &link->qp.id, NULL, RDMA_PS_TCP))
		return false;
	link->why = DEAD;
	return !rdma_resolve_addr(link->qp.id, (struct sockaddr *)&own,
				  (struct sockaddr *)&there, LIMIT_MS) &&
	       comes(link, RDMA_CM_EVENT_ADDR_RESOLVED) &&
	       !rdma_resolve_route(link->qp.id, LIMIT_MS) &&
	       comes(link, RDMA_CM_EVENT_ROUTE_RESOLVED);
}

/* siw connects within the call, which a signal would end. */
static int connect_id(struct rdma_cm_id *id, struct rdma_conn_param *param)
{
	sigset_t all, old;
	int ret, err;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	ret = rdma_connect(id, param);
	err = errno;
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	errno = err;
	return ret;
}

/* What an answer means for the caller of who got it. */
static enum glex_err_req_status meant(enum wire_stage said, enum rdma_cm_event_type what)
{
	if (said == WIRE_CROWDED)
		return GLEX_ERR_STATUS_DEST_MPQ_FULL;
	if (said)
		return GLEX_ERR_STATUS_CONNECTION_NACK;
	return what == RDMA_CM_EVENT_REJECTED ? STOPPED : GLEX_ERR_STATUS_FORMAT;
}

/* One call at the door; what was answered, 0: why is in link->why. */
static enum wire_stage call(struct link *link, struct far *far, struct wire_meeting *m,
			    enum wire_stage stage)
{
	struct wire_hello hello = {
		.magic = WIRE_MAGIC, .version = WIRE_VERSION, .stage = stage,
		.from = m->from, .to = m->to,
	};
	struct rdma_conn_param param = {
		.private_data = &hello, .private_data_len = sizeof(hello),
		.responder_resources = 1, .initiator_depth = far->reads,
		.retry_count = 7, .rnr_retry_count = 7,
	};
	enum rdma_cm_event_type what;
	struct wire_answer answer;
	enum wire_stage said;
	uint8_t data[UINT8_MAX];

	link->refused = false;
	if (!is_found(link, far))
		return 0;
	link->why = OURS;
	link->told = ibv_create_comp_channel(link->qp.id->verbs);
	memcpy(hello.nonce, m->asker, sizeof(hello.nonce));
	if (!link->told ||
	    queue_pair_make(&link->qp, far, link->told, sizeof(*link->area)) ||
	    !wire_prove(&hello, m))
		return 0;
	if (connect_id(link->qp.id, &param)) {
		/* Nobody listens there. */
		link->why = errno == ECONNREFUSED ? STOPPED : DEAD;
		return 0;
	}
	link->why = SILENT;
	if (event_wait(link, &param, data, &what))
		return 0;
	link->why = DEAD;
	if (what != RDMA_CM_EVENT_REJECTED && what != RDMA_CM_EVENT_ESTABLISHED)
		return 0;
	said = wire_answer_check(param.private_data, param.private_data_len, m, &answer);
	link->why = meant(said, what);
	link->refused = !said && what == RDMA_CM_EVENT_REJECTED;
	if (said == WIRE_CHALLENGE)
		return said;
	if (said != WIRE_WELCOME || what != RDMA_CM_EVENT_ESTABLISHED)
		return 0;
	link->key = answer.key;
	link->rkey = answer.rkey;
	link->table = answer.table;
	return said;
}

/*
 * Its nonce is asked for, and proven; again if it has another one by then, as another
 * life of the endpoint has: whose nonce is still that one has another key.
 */
static bool meet(struct link *link, struct far *far, struct wire_meeting *m)
{
	uint8_t proven[WIRE_BYTES] = { 0 };
	enum wire_stage stage = WIRE_HELLO, said;
	uint32_t calls = CALLS_MOST;

	while (calls--) {
		link->why = OURS;
		if (getrandom(m->asker, sizeof(m->asker), 0) != sizeof(m->asker))
			return false;
		said = call(link, far, m, stage);
		if (said == WIRE_WELCOME)
			return true;
		connection_end(link);
		if (said != WIRE_CHALLENGE || !memcmp(proven, m->asked, sizeof(proven)))
			return false;
		memcpy(proven, m->asked, sizeof(proven));
		stage = WIRE_PROOF;
	}
	return false;
}

/*
 * A refusal without a word is that of a connection manager that has no room for more
 * calls, too: only one that is repeated is believed.
 */
static bool connect_to(struct link *link, struct far *far)
{
	struct wire_meeting m = {
		.secret = far->setting.secret, .from = far->setting.addr.v,
		.to = link->to.v,
	};
	uint64_t end = verbs_now_ms() + LIMIT_MS;

	link->refused = false;
	while (!meet(link, far, &m)) {
		if (!link->refused || verbs_now_ms() >= end)
			return false;
		usleep(PAUSE_US);
	}
	link->area = link->qp.area;
	link->heard = verbs_now_ms();
	link->why = OURS;
	return !queue_pair_receive(&link->qp, &link->area->reply,
				   sizeof(link->area->reply));
}

/* Has its other side ended it by now? */
static bool has_gone(struct link *link)
{
	struct rdma_cm_event *event;

	if (rdma_get_cm_event(link->events, &event))
		return false;
	rdma_ack_cm_event(event);
	return true;
}

bool link_connect(struct far *far, struct link *link, enum glex_err_req_status *why)
{
	if (link->area && has_gone(link))
		connection_end(link);
	if (link->area)
		return true;
	*why = link->why;
	if (verbs_now_ms() < link->rests)
		return false;
	if (connect_to(link, far)) {
		link->rest = 0;
		return true;
	}
	link_broken(link, link->why, why);
	return false;
}

/* That of an address, a new one if need be; NULL: there can be none. */
static struct link *link_find(struct far *far, glex_ep_addr_t to)
{
	const struct far_setting *s = &far->setting;
	struct link *link;
	uint16_t port;

	for (link = far->links; link; link = link->next)
		if (link->to.v == to.v)
			return link;
	link = s->address_of(s->context, to, &port) ? calloc(1, sizeof(*link)) : NULL;
	if (!link)
		return NULL;
	link->to = to;
	pthread_mutex_init(&link->asking, NULL);
	link->next = far->links;
	far->links = link;
	return link;
}

struct link *link_get(struct far *far, glex_ep_addr_t to, enum glex_err_req_status *why)
{
	struct link *link;

	*why = DEAD;	/* the file has no such machine */
	pthread_mutex_lock(&far->lock);
	link = link_find(far, to);
	pthread_mutex_unlock(&far->lock);
	if (!link)
		return NULL;
	pthread_mutex_lock(&link->asking);
	if (link_connect(far, link, why))
		return link;
	link_put(link);
	return NULL;
}

void link_put(struct link *link)
{
	pthread_mutex_unlock(&link->asking);
}

void links_drop(struct far *far)
{
	struct link *link;

	while ((link = far->links)) {
		far->links = link->next;
		connection_end(link);
		pthread_mutex_destroy(&link->asking);
		free(link);
	}
}

/* --- waiting */

/* Of the first that went wrong: those behind it are only flushed. */
static enum glex_err_req_status status_of(enum ibv_wc_status status)
{
	switch (status) {
	case IBV_WC_REM_ACCESS_ERR:
	case IBV_WC_REM_INV_REQ_ERR:
		return GLEX_ERR_STATUS_MMT;
	case IBV_WC_LOC_PROT_ERR:
	case IBV_WC_LOC_QP_OP_ERR:
	case IBV_WC_LOC_LEN_ERR:
		return GLEX_ERR_STATUS_ATT;
	case IBV_WC_RETRY_EXC_ERR:
	case IBV_WC_RNR_RETRY_EXC_ERR:
		return DEAD;
	default:
		return STOPPED;
	}
}

/* Until something may be done, or @end; false: in vain. */
static bool sleep_until(struct link *link, uint64_t end, bool *gone)
{
	struct pollfd fd[] = {
		{ .fd = link->told->fd, .events = POLLIN },
		{ .fd = link->events->fd, .events = POLLIN },
	};
	uint64_t now = verbs_now_ms();
	struct ibv_cq *cq;
	void *of;

	if (now >= end)
		return false;
	poll(fd, 2, end - now);
	if (fd[0].revents && !ibv_get_cq_event(link->told, &cq, &of))
		ibv_ack_cq_events(cq, 1);
	else if (fd[1].revents)
		*gone = true;
	return true;
}

glex_ret_t link_wait(struct link *link, uint32_t count, uint32_t *reply,
		     enum glex_err_req_status *why)
{
	uint64_t end = verbs_now_ms() + LIMIT_MS;
	bool gone = false, armed = false;
	uint32_t spins = SPINS;
	struct ibv_wc wc;
	int nr;

	while (count) {
		nr = ibv_poll_cq(link->qp.cq, 1, &wc);
		if (nr < 0 || (nr && wc.status != IBV_WC_SUCCESS))
			return link_broken(link, nr < 0 ? STOPPED : status_of(wc.status), why);
		if (nr) {
			if (wc.opcode == IBV_WC_RECV) {
				if (!reply)
					return link_broken(link, GLEX_ERR_STATUS_FORMAT, why);
				*reply = wc.byte_len;
			}
			count--;
			end = verbs_now_ms() + LIMIT_MS;
			continue;
		}
		if (spins) {
			spins--;
			continue;
		}
		/* What came before it went has been looked at. */
		if (gone)
			return link_broken(link, STOPPED, why);
		/* Asked for, then looked once more: nothing comes unheard. */
		if (!armed) {
			armed = !ibv_req_notify_cq(link->qp.cq, 0);
			continue;
		}
		armed = false;
		if (!sleep_until(link, end, &gone))
			return link_broken(link, SILENT, why);
	}
	return GLEX_SUCCESS;
}
