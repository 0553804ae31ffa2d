/* SPDX-License-Identifier: GPL-2.0 */
/*
 * An endpoint's way to other machines, by verbs.  Two halves that share the device and
 * the table of memory:
 *
 *	port	a thread; those who have connected ask, it puts packets and events
 *		into the endpoint's queues and says so
 *	links	the caller's threads; a connection to each endpoint that is asked
 *
 * A connection is of who has made it: both sides have one thread for it, so two
 * endpoints that send to each other at once have two, and neither waits in a cycle.
 */
#ifndef GLEX_VERBS_H
#define GLEX_VERBS_H

#include <pthread.h>
#include <rdma/rdma_cma.h>

#include "wire.h"

/* Requests are put to an adapter so many at a time, of so many bytes each. */
#define WINDOW		8u
#define CHUNK		(1u << 20)
/* What nobody has answered for so long is given up, ms. */
#define LIMIT_MS	5000
/* Who did not answer is not asked again for so long, at first and at most, ms. */
#define REST_MS		1000
#define REST_MAX_MS	16000
/* Who only puts and gets says so often that he is there; who says nothing may go, ms. */
#define ALIVE_MS	5000
#define SILENT_MS	60000
/* Reads under way that an adapter is asked for, if it can. */
#define READS		8u

/**
 * struct far_memory - memory that is registered with the adapter
 * @mr:		so
 * @flag:	enum glex_mem_flag
 * @sequence:	of its handle; @users: requests that it is used by: both under @lock
 */
struct far_memory {
	struct ibv_mr *mr;
	int32_t flag;
	uint32_t sequence;
	uint32_t users;
};

/**
 * struct queue_pair - one side of a connection
 * @id:		of the connection manager; NULL: there is none
 * @cq:		its completions, of both directions
 * @area:	@size bytes that the adapter may use
 * @mr:		that
 */
struct queue_pair {
	struct rdma_cm_id *id;
	struct ibv_cq *cq;
	void *area;
	size_t size;
	struct ibv_mr *mr;
};

struct port;
struct link;

/**
 * struct far - an endpoint's way out
 * @setting:	whose, and where it listens
 * @pd:		what all its connections and memory are of
 * @reads:	that may be under way
 * @lock:	of @memory, who writes @table, and the list of @links
 * @unused:	a region has no user any more
 * @memory:	registered, by its number
 * @table:	that, for others to read
 * @table_mr:	so
 * @port:	the one half
 * @links:	the other half; one that is there stays until the end
 */
struct far {
	struct far_setting setting;
	struct ibv_pd *pd;
	uint32_t reads;
	pthread_mutex_t lock;
	pthread_cond_t unused;
	struct far_memory *memory[FAR_REGIONS];
	struct wire_entry *table;
	struct ibv_mr *table_mr;
	struct port *port;
	struct link *links;
};

/* verbs.c */
uint64_t verbs_now_ms(void);
int verbs_failed(const char *what);
struct rdma_event_channel *verbs_channel(void);
int queue_pair_make(struct queue_pair *qp, struct far *far,
		    struct ibv_comp_channel *told, size_t size);
void queue_pair_end(struct queue_pair *qp);
int queue_pair_receive(struct queue_pair *qp, void *at, uint32_t len);
int queue_pair_send(struct queue_pair *qp, const void *data, uint32_t len);

/* port.c */
glex_ret_t port_open(struct far *far);
void port_close(struct far *far);

/* link.c */

/* What the adapter reads and writes of a link. */
struct link_area {
	struct wire_request request;
	struct wire_reply reply;
	struct wire_entry entry;
	uint8_t data[WIRE_DATA];
};

/**
 * struct link - a connection to an endpoint of another machine
 * @next:	of the same endpoint's
 * @to:		whose
 * @asking:	of all that follows, held for a request: one is under way at a time
 * @events, @told: of the connection manager, and of completions
 * @qp:		it
 * @area:	its memory
 * @sequence:	of the last request
 * @heard:	when that was answered, ms
 * @refused:	the last call was, without a word
 * @key, @rkey, @table: of the other side
 * @rests, @rest: it did not answer, and is not asked before, for so long, ms
 * @why:	then
 */
struct link {
	struct link *next;
	glex_ep_addr_t to;
	pthread_mutex_t asking;
	struct rdma_event_channel *events;
	struct ibv_comp_channel *told;
	struct queue_pair qp;
	struct link_area *area;
	uint32_t sequence;
	uint64_t heard;
	bool refused;
	uint32_t key;
	uint32_t rkey;
	uint64_t table;
	uint64_t rests;
	uint64_t rest;
	enum glex_err_req_status why;
};

/* With @asking held until link_put(); NULL: it cannot be had, @why. */
struct link *link_get(struct far *far, glex_ep_addr_t to, enum glex_err_req_status *why);
void link_put(struct link *link);
/* Connected, anew if need be; false: @why. */
bool link_connect(struct far *far, struct link *link, enum glex_err_req_status *why);
void links_drop(struct far *far);
/* It is of no use any more; GLEX_ACCESS_ERR. */
glex_ret_t link_broken(struct link *link, enum glex_err_req_status status,
		       enum glex_err_req_status *why);
/* Waits until all of @count that were posted are done, the last a reply if @reply. */
glex_ret_t link_wait(struct link *link, uint32_t count, uint32_t *reply,
		     enum glex_err_req_status *why);

/* ask.c */
glex_ret_t far_packet(struct far *far, glex_ep_addr_t to, const void *data,
		      uint32_t len, enum glex_err_req_status *why);
glex_ret_t far_move(struct far *far, const struct far_move *m,
		    enum glex_err_req_status *why);

#endif /* GLEX_VERBS_H */
