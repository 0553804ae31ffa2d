/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The simulator's state while it runs: shared by simnet.c, the network, by
 * sim.c, which lets time pass, by simrun.c, which sets up a cluster and sums
 * up what it did, and by sim_litmus.c, which runs litmus tests.
 */
#ifndef SIMCORE_H
#define SIMCORE_H

#include "sim.h"
#include "../../runtime/causal.h"

/* How often a node's timers are looked at. */
#define TICK		50000

enum sim_event_kind { EV_CPU, EV_FRAME, EV_HANDLE, EV_TICK, EV_IDLE,
	EV_SPARE };

struct sim_event {
	u64 time, order;
	u8 kind, cpu;
	u16 node, from;
	u32 len;
	u8 *frame;
};

struct sim_node {
	struct dsm *dsm;
	struct adapt *adapt;	/* NULL: the policy is fixed */
	struct dsm_link *link;
	struct causal *causal;	/* NULL: the order is good enough without */
	u64 *memory;		/* SIM_WORDS of each page */
	struct sim_cpu *cpu;
	u64 port_free;		/* when what is queued has left */
	u64 busy;		/* until then with messages */
	bool idle_due;
};

struct sim {
	const struct sim_config *c;
	struct sim_result *r;
	struct sim_node *node;
	struct sim_event *heap;
	u64 count, room, order, now, rng, total;
	u32 running;
	bool failed;
	bool stuck;		/* messages fly, no operation ends */
	void *arg;		/* of deliver */
	void (*deliver)(struct sim *s, u32 node, struct dsm_event *ev,
			const u64 *page);
	const u64 *incoming;	/* page bytes of the message in hand */
};

/* simnet.c */
void sim_queue(struct sim *s, struct sim_event e);
struct sim_event sim_dequeue(struct sim *s);
void sim_send(struct sim *s, u32 node, const struct dsm_action *a,
	      const u8 *body, const u64 *page);
void sim_arrive(struct sim *s, struct sim_event e);
void sim_handle(struct sim *s, struct sim_event *e);
void sim_link_tick(struct sim *s, u32 node);
bool sim_quiet(const struct sim *s);
/* The node has been told of a death. */
void sim_bury(struct sim *s, u32 node, u32 dead);

/* simrun.c: when to give up, least at the earliest; a node's link. */
u64 sim_patience(const struct sim_config *c, u64 least);
void sim_link_config(const struct sim_config *c, u32 node,
		     struct dsm_link_config *l);
/* Bytes of a message's causal stamp, 0 where it needs none. */
u32 sim_stamp(const struct sim_config *c);

void sim_loop(struct sim *s);
u32 sim_reserve(const struct sim_config *c);
u32 sim_frames(const struct sim_config *c);
void sim_progress(struct sim *s, bool end);

#endif /* SIMCORE_H */
