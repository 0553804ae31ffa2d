/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The simulator: a cluster of engines on a modelled network, driven by
 * synthetic programs.  Everything is an integer and every choice comes from
 * the seed, so one seed gives one result on every machine.  Times are in
 * nanoseconds.
 */
#ifndef SIM_H
#define SIM_H

#include <stdio.h>

#include "../../../../mios/dsm/adapt.h"
#include "../../../../mios/dsm/dsm.h"
#include "../../../../mios/dsm/dsm_link.h"

/* Words of a page that are modelled; the wire is charged for all of it. */
#define SIM_WORDS	64
#define SIM_PAGE_BYTES	(SIM_WORDS * 8)


enum sim_policy { POL_IVY, POL_GIANTVM, POL_WU, POL_WUPLUS, POL_WUSEQ,
	POL_AUTO, POLICIES };
enum sim_topology { TOPO_SWITCH, TOPO_TREE, TOPO_RING, TOPOLOGIES };
enum sim_pattern { PAT_MIGRATORY, PAT_PRODUCER, PAT_READ_MOSTLY, PAT_LOCK,
	PAT_FALSE_SHARING, PAT_COMPILE, PAT_PINGPONG, PAT_ONE_WRITE,
	PATTERNS };
enum sim_op_kind { SIM_READ, SIM_WRITE, SIM_XCHG, SIM_ADD, SIM_END };

struct sim_config {
	u32 nodes, cpus, pages;
	int policy, topology, pattern;
	u64 ops;		/* of each CPU; pingpong: of all together */
	u64 seed;
	u64 latency;		/* one way, of the smallest frame */
	u64 jitter;		/* at most, on top */
	u64 mbits;		/* per second, of each node's port */
	u64 loss, twice, reorder;	/* frames in a million */
	u64 trap;		/* a trapped write */
	u64 fault;		/* entering and leaving the kernel */
	u64 think;		/* between two operations */
	u64 handle;		/* a message, at its receiver */
	u64 run;		/* writes in a row that take a page */
	u64 lease;
	u64 window;		/* slots of the merge buffer */
	bool hints;
	bool progress;
	bool no_lease;		/* with knobs: the rule broken */
	bool no_causal;		/* the same: causal order is a lie */
	u32 chunk;		/* pages in a row with one manager; 0: 1 */
	bool seed_shared;	/* all nodes hold a copy at first */
	u32 sharers;		/* of page 0 at first, if not 0 */
	u32 knobs;		/* of adaptation, see knobs.h */
};

struct sim_op {
	u8 kind;
	u16 word;
	u32 page;
	u64 value;
	u64 think;
};

struct sim_cpu {
	u64 rng, ops, count, since;
	u64 got;		/* what the last operation read */
	u64 a, b;		/* the pattern's own */
	u32 state;
	bool blocked, ended, ready;
	bool inside;		/* its own fault is being taken */
	struct sim_op op;
};

struct sim_result {
	u64 time;		/* when the last CPU ended */
	u64 stalls, stall_time, data_stalls, longest;
	u64 frames, wire_bytes;	/* with link headers */
	u64 acks, again;
	u64 held;		/* messages that waited for causal order */
	u64 messages, message_bytes, pages_sent;
	u64 misses, two_hops, owned, owned_two_hops, retried, refused, expired, emulated;
	u64 window_stalls, announced;
	u64 sent[DSM_MSGS], bytes[DSM_MSGS];
	u64 events;		/* engine steps */
	u64 memory;		/* hash of what is in memory at the end */
	u64 wrong;		/* results that no memory model allows */
	u64 fairness;		/* Jain's index, in thousandths */
	u64 least, most;	/* operations of the CPUs */
	struct adapt_sum adapt;	/* pages as each node sees them, if it does */
};

/* sim.c: 0; after a line on stderr 2, or 1 if the programs got stuck. */
int sim_run(const struct sim_config *c, struct sim_result *r);
bool sim_good(const struct sim_config *c);
/* What order this network keeps, with stamps if the policy needs them. */
enum dsm_order sim_order(const struct sim_config *c);
extern const char *const sim_policy_name[];
extern const char *const sim_topology_name[];
extern const char *const sim_pattern_name[];

/* pattern.c */
void pattern_next(const struct sim_config *c, u32 who, struct sim_cpu *cpu);
u64 pattern_wrong(const struct sim_config *c, const struct sim_cpu *cpus,
		  u64 (*read)(void *arg, u32 page, u16 word), void *arg);

#endif /* SIM_H */
