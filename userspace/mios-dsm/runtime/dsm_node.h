/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One node of a running program: engine, link, transport, window and the
 * thread that serves them.  Started and ended by start.c; all but what is
 * marked so belongs to who has the lock: the service thread, but while it waits
 * for something to happen, and a thread whose store is emulated (stores.c).
 */
#ifndef DSM_NODE_H
#define DSM_NODE_H

#include <pthread.h>
#include <stdatomic.h>

#include "stats.h"
#include "causal.h"
#include "threads.h"
#include "transport.h"
#include "dsm_window.h"
#include "mios_dsm.h"

#define NODE_NODES	TRANSPORT_NODES
#define NODE_FRAMES	512	/* of the link's pool, for each node, */
#define NODE_FRAMES_MAX	0xfffe	/* as many as a link can number */

/* A message of a peer's, of which some frames have come; arrive.c. */
struct arrival {
	struct causal_held *held;	/* NULL: none */
	u32 have, all;			/* bytes */
};

struct node {
	u16 nodes, self;
	u8 protocol;
	bool adapts;			/* --protocol auto: wu-seq, with advice */
	u16 pieces;			/* frames of the longest message */
	struct dsm *dsm;
	struct adapt *adapt;		/* or NULL */
	struct dsm_link *link;
	struct window window;
	struct transport transport;
	struct threads threads;
	struct node_stats *stats;
	struct page_stats *page_stats;	/* NULL without mios-dsm run */
	struct {
		u64 next;		/* when it begins, ns */
		u32 page;		/* how far it has got */
		u64 state[DSM_STATES], mode[DSM_MODES];
	} census;
	struct dsm_set gone;		/* peers: dead, or finished and away, */
	struct dsm_set told;		/* as the engine has been told of these */
	struct dsm_set bye;		/* have said that they need nothing more */
	struct causal *causal;			/* NULL: wi needs none */
	/* Without it: what waits for the engine, in order. */
	struct causal_held *backlog, **backlog_end;
	struct arrival arrival[NODE_NODES];
	const void *incoming;		/* page bytes of the message in hand */
	bool more;			/* the engine has more to do */
	bool contended;			/* somebody wants what a thread holds */
	u64 now, ticked, active;	/* ns */
	u32 hand;			/* resident.c: where it looks next, */
	u32 stay, staying;		/* must stay: so many, as far as counted */
	u32 vain;			/* rounds since a page was given back */
	u64 round;			/* when the next one may begin, */
	u64 rest;			/* until when it has given up */
	bool counting;			/* stats.c is not done */
	bool said_bye;
	bool asleep;			/* the service, until it is woken */
	u16 asked;			/* threads in THREAD_ASKED */
	u64 late;			/* when those without a place are woken, or 0 */
	mios_dsm_heard *heard;		/* or NULL; guest.c */
	void *heard_arg;
	pthread_mutex_t lock;
	pthread_t service;
	/* Read by every thread of the program. */
	atomic_uint dead;		/* nodes that died */
	/* Set by start.c: the program is done; event wakes the service. */
	atomic_bool leaving;
	int event;
};

/* Frames that the longest message takes, */
static inline u16 node_pieces(u32 frame_max)
{
	u32 piece = frame_max - sizeof(struct dsm_frame);

	return (DSM_FRAME_MAX + piece - 1) / piece;
}

/* and those of the link's pool. */
static inline u16 node_frames(u16 nodes, u16 pieces)
{
	u32 frames = NODE_FRAMES * nodes * pieces;

	return frames < NODE_FRAMES_MAX ? frames : NODE_FRAMES_MAX;
}

/*
 * 0, or -errno after a line on stderr; transport and stats are set.  resident:
 * pages of the window that shall have memory here at a time, 0: all; own: threads
 * serve their own faults.
 */
int node_start(struct node *n, u32 pages, u32 resident, bool own);
/* Serves peers until none needs us. */
void node_finish(struct node *n);

/* "I need nothing more", beside the engine's messages. */
#define NODE_BYE	0xff
/* What programs tell each other; guest.c. */
#define NODE_TALK	0xfe

/* actions.c */
void node_give_up(const char *what, int err);
void node_transmit(struct node *n, const struct dsm_link_out *out);
void node_send(struct node *n, u16 to, const struct dsm_msg *m,
	       const void *body, u16 len, const void *page);
void node_resume(struct node *n, u16 cpu);
void node_lose(struct node *n, u32 page, pid_t tid);
void node_step(struct node *n, struct dsm_event *ev);

/* arrive.c */
struct causal_held *arrive(struct node *n, u16 from, const void *frame, u32 len);
void arrive_forget(struct node *n, u16 from);

/* guest.c */
void talk_take(struct node *n, const struct causal_held *b, u32 body);

/* peers.c */
bool node_has_room(const struct node *n);
void peers_take(struct node *n, struct dsm_link_out *out);
void peers_deliver(struct node *n);
void peers_gone(struct node *n, u16 peer);
void peers_begin(struct node *n);
bool peers_receive(struct node *n);
bool peers_idle(const struct node *n);

/* resident.c */
void evict_some(struct node *n);
bool evict_wanted(const struct node *n);
bool evict_first(const struct node *n);

/* stats.c */
void stats_begin(struct node *n);
bool stats_look(const struct node *n, const struct thread *t);
void stats_stall(struct node *n, const struct thread *t, enum stats_cause why);
bool stats_census(struct node *n);
void stats_end(struct node *n);

/* stores.c */
int stores_start(struct node *n);
bool store_ask(struct node *n, u16 cpu);
void stores_overdue(struct node *n);

/* own.c */
int own_start(void);

/* service.c */
u64 node_clock(void);
void node_fault(struct node *n, u16 cpu, u8 touch);
void *node_serve(void *node);
void threads_release(struct node *n);

#endif /* DSM_NODE_H */
