/* SPDX-License-Identifier: GPL-2.0 */
/*
 * libmios-dsm: memory that several processes share although no hardware keeps
 * it coherent.  See libmios-dsm(3).  A program is started on every node by
 * mios-dsm run; what mios_dsm_malloc() gives has the same address on each, and
 * loads, stores and atomic instructions mean what they mean on x86.
 *
 * Calls that may fail return 0 or -errno.  -EHOSTDOWN: a node has died.
 */
#ifndef MIOS_DSM_H
#define MIOS_DSM_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MIOS_DSM_STRIPED	(-1)	/* pages begin at all nodes in turn */
#define MIOS_DSM_LOCKS		64
#define MIOS_DSM_ROOTS		512

/* First of all, once.  Without mios-dsm run the program is the only node. */
int mios_dsm_start(void);
/* Waits for all nodes; no shared memory is touched any more. */
int mios_dsm_finish(void);

int mios_dsm_node(void);		/* this one, from 0 */
int mios_dsm_nodes(void);
/* How often this node has died before: 0 if it has been here from the start. */
int mios_dsm_life(void);

/* Zeros that begin at a node, or striped; NULL: no more.  Never given back. */
void *mios_dsm_malloc(size_t size, int home);
/* MIOS_DSM_ROOTS pointers that all nodes share, zero at first. */
void **mios_dsm_root(void);

/* One thread of each node. */
int mios_dsm_barrier(void);
int mios_dsm_sum(double *value);	/* of all nodes, in order of nodes */
/* In the order of asking, whichever node or thread asks. */
int mios_dsm_lock(unsigned int lock);
int mios_dsm_unlock(unsigned int lock);

/* For virtual machines, with wi alone: */

#define MIOS_DSM_QUANTUM_MAX	1000000000	/* ns */
#define MIOS_DSM_TALK_MAX	256		/* bytes of a message */

/*
 * The calling thread runs a guest's CPU: a page for which it has waited stays
 * until it has had the CPU for quantum ns.  -EAGAIN: this node has too many.
 */
int mios_dsm_cpu(uint64_t quantum);
/* It waits for an interrupt, say: its pages may go before that time is over. */
void mios_dsm_cpu_rests(void);
/*
 * A message of another node's, on a thread that must neither wait nor touch
 * shared memory nor call this library; without data: that node has died.
 */
typedef void mios_dsm_heard(int node, const void *data, size_t len, void *arg);
int mios_dsm_listen(mios_dsm_heard *heard, void *arg);
/* In the order of sending; returns before it has arrived. */
int mios_dsm_send(int node, const void *data, size_t len);

/* Where a thread of this node stands, by the kernel's number: */
struct mios_dsm_stand {
	const void *at;		/* the page that it waits for */
	int write;		/* to write it */
	uint64_t ns;		/* since then */
};
/* -ENOENT: it waits for none. */
int mios_dsm_stands(int tid, struct mios_dsm_stand *stand);

/* What this node has counted so far. */
struct mios_dsm_counts {
	uint64_t reads, writes;		/* pages that threads have waited for */
	uint64_t stall, longest;	/* ns of that */
	uint64_t messages, bytes;	/* sent */
};
int mios_dsm_count(struct mios_dsm_counts *counts);

#ifdef __cplusplus
}
#endif

#endif /* MIOS_DSM_H */
