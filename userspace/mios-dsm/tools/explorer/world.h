/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A small cluster as one value: engines, memories, CPUs with store buffers
 * and messages under way, running a litmus test.  A state is a block of
 * memory without pointers that can be copied and hashed; the world is what
 * does not change.  Used by the explorer.
 */
#ifndef WORLD_H
#define WORLD_H

#include "../../../../mios/dsm/dsm.h"
#include "../litmus/litmus.h"

#define W_NODES		4
#define W_PAGES		4
#define W_WORDS		8	/* 8-byte words that the test touches */
#define W_MSGS		48
#define W_BODY		96
#define W_BUFFER	6
#define W_STATE		(1 << 15)
#define W_MOVES		256	/* more than one state can offer */

struct world_msg {
	struct dsm_msg msg;
	u8 src, dst, len, sorted;	/* sorted: past the switch */
	u8 body[W_BODY];
	u64 word[W_WORDS];
	u8 after[W_NODES];	/* causal: received from i before this */
	u8 know[W_NODES * W_NODES];
};

struct world_store {
	u64 addr;
	u64 value;
	u8 size, pad[7];
};

struct world_cpu {
	struct lit_thread th;
	u8 blocked, stores, lost, pad[5];
	struct world_store store[W_BUFFER];
};

struct world_state {
	struct world_cpu cpu[LIT_THREADS];
	u64 mem[W_NODES][W_WORDS];
	u8 access[W_NODES][W_PAGES];
	u8 sent[W_NODES * W_NODES];	/* causal: i sent to j */
	u8 know[W_NODES][W_NODES * W_NODES];
	u8 got[W_NODES][W_NODES];
	u8 evictions, hints, deaths, expiries;	/* left to happen */
	u8 guesses, pins, joins;
	u8 pinned[W_NODES][W_PAGES];		/* how many times */
	/* Bitmaps of nodes: dead now; ever, and their CPUs for good; back. */
	u8 dead, crashed, back;
	u8 told[W_NODES], up[W_NODES];	/* of crashed, back: who was told */
	u8 lost[W_NODES];			/* pages, as each was told */
	u16 msgs;
	/* Engines, then messages, follow. */
};

struct world {
	const struct lit_test *t;
	int nodes, pages, words;
	u8 node_of[LIT_THREADS], cpu_of[LIT_THREADS];
	u8 protocol, order;
	bool no_buffers;
	u8 mode[W_PAGES], owner[W_PAGES];
	bool shared[W_PAGES];	/* all others hold a copy at first */
	u8 evictions, hints, deaths, expiries, guesses, pins, joins;
	u8 asks;		/* pages a node may ask for at a time, or 0 */
	u8 probowners;		/* items in an answer */
	u8 run;			/* writes in a row that take a page */
	u32 knobs;
	struct { u8 page; u16 word; } at[W_WORDS];
	size_t stride;		/* of an engine */
	/* Why exploration stops: a broken invariant, or a limit of ours. */
	char broken[160];
	bool limit;
	u64 messages, steps;
	int faulting;		/* thread whose fault is under way, or -1 */
	/* Another network than ours, its clock and which wires are idle. */
	void (*send)(struct world *w, struct world_state *s, int node,
		     const struct dsm_action *a, const u8 *body);
	void *arg;
	u64 now, lease;
	u8 idle;
};

/*
 * From W_EVICT on, what the cluster itself does not set off; from W_TELL on,
 * what the caller owes the engines all the same.
 */
enum world_move_kind { W_CPU, W_DRAIN, W_DELIVER, W_SORT, W_IDLE, W_EVICT,
	W_HINT, W_EXPIRE, W_GUESS, W_DIE, W_PIN, W_JOIN, W_TELL, W_UP,
	W_UNPIN };

struct world_move {
	u8 kind, a, b, c;
};

/* This is too large for the explorer's fixed arrays. */
void world_limit(struct world *w, const char *what, int count);
/* Zero, or -1 and world.broken says why. */
int world_init(struct world *w, struct world_state *s);
size_t world_size(const struct world *w, const struct world_state *s);
int world_moves(struct world *w, struct world_state *s, struct world_move *out,
		int max);
/* False if the move turned out to be none. */
bool world_move(struct world *w, struct world_state *s, struct world_move m);
bool world_over(const struct world *w, struct world_state *s);
/* Returns the pages that nobody holds any more, as a bitmap. */
u8 world_outcome(struct world *w, struct world_state *s, struct lit_outcome *o);
void world_print(FILE *f, const struct world *w, struct world_state *s,
		 struct world_move m);
/* world.c: the last step's actions, every change of state so far */
#define W_CAUSES	(DSM_EV_AGAIN + 1 + DSM_MSGS)
extern struct dsm_actions world_actions;
extern u8 world_seen[DSM_STATES][W_CAUSES][DSM_STATES];
void world_check(struct world *w, struct world_state *s);
void world_transitions(FILE *f);
struct dsm *world_engine(const struct world *w, struct world_state *s,
			 int node);
struct world_msg *world_msgs(const struct world *w, struct world_state *s);

/* world_network.c: the network between the engines. */
void net_send(struct world *w, struct world_state *s, int src,
	      const struct dsm_action *a, const u8 *body);
bool net_ready(const struct world *w, struct world_state *s, int i);
void net_take(struct world *w, struct world_state *s, int i,
	      struct world_msg *out);
void net_sort(struct world *w, struct world_state *s, int i);
void net_bury(struct world *w, struct world_state *s, int node);
void net_forget(struct world *w, struct world_state *s, int node);

/* world_cpus.c: what a CPU does next. */
bool cpu_can(struct world *w, struct world_state *s, int thread);
void cpu_run(struct world *w, struct world_state *s, int thread);
void cpu_drain(struct world *w, struct world_state *s, int thread);
void cpu_drain_node(struct world *w, struct world_state *s, int node, int page);
void cpu_emulated(struct world *w, struct world_state *s, int thread);
/* world.c: a node is born again, with nothing. */
void world_join(struct world *w, struct world_state *s, int node);
void world_step(struct world *w, struct world_state *s, int node,
		const struct dsm_event *ev, const struct world_msg *data);

#endif /* WORLD_H */
