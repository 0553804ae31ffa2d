// SPDX-License-Identifier: GPL-2.0
/*
 * What the nodes of a virtual machine need besides memory: threads that run its
 * CPUs, and messages between nodes.  These go over the engine's link, so they
 * come once, in order, and from who they say; what is kept of a node that has
 * died goes with its frames.  Called by programs.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "mios_dsm.h"
#include "start.h"

#define ROOM_PAUSE	100000	/* ns, while the link has no room */
/* A lease is over at the latest after so many quanta. */
#define QUANTA		50

/* It keeps its place until it ends. */
static __thread struct thread *own;

int mios_dsm_cpu(uint64_t quantum)
{
	struct node *n = &node_self;
	int cpu;

	if (!quantum || quantum > MIOS_DSM_QUANTUM_MAX)
		return -EINVAL;
	if (n->causal || n->window.own)
		return -EPROTONOSUPPORT;
	pthread_mutex_lock(&n->lock);
	cpu = threads_find(&n->threads, gettid(), n->dsm);
	if (cpu >= 0) {
		own = &n->threads.thread[cpu];
		thread_mark(own, quantum);
		dsm_lease(n->dsm, quantum * QUANTA);
	}
	pthread_mutex_unlock(&n->lock);
	return cpu < 0 ? -EAGAIN : 0;
}

void mios_dsm_cpu_rests(void)
{
	if (own)
		atomic_store(&own->rests, true);
}

int mios_dsm_stands(int tid, struct mios_dsm_stand *stand)
{
	struct node *n = &node_self;
	int err = -ENOENT;

	pthread_mutex_lock(&n->lock);
	for (int i = 0; i < THREADS_MAX; i++) {
		struct thread *t = &n->threads.thread[i];

		if (!tid || t->tid != tid || !t->stopped)
			continue;
		*stand = (struct mios_dsm_stand){
			.at = n->window.base + (u64)t->page * DSM_PAGE_SIZE,
			.write = t->write, .ns = node_clock() - t->stopped_at,
		};
		err = 0;
	}
	pthread_mutex_unlock(&n->lock);
	return err;
}

int mios_dsm_count(struct mios_dsm_counts *counts)
{
	struct node *n = &node_self;
	const struct node_stats *s = n->stats;

	pthread_mutex_lock(&n->lock);
	*counts = (struct mios_dsm_counts){
		.reads = s->reads, .writes = s->writes, .stall = s->stall,
		.longest = s->longest, .messages = s->messages,
		.bytes = s->bytes,
	};
	pthread_mutex_unlock(&n->lock);
	return 0;
}

int mios_dsm_listen(mios_dsm_heard *heard, void *arg)
{
	struct node *n = &node_self;
	u16 node;

	if (n->causal || n->window.own)
		return -EPROTONOSUPPORT;
	pthread_mutex_lock(&n->lock);
	n->heard = heard;
	n->heard_arg = arg;
	/* Whoever died before would never be told of. */
	set_for_each(node, &n->told)
		heard(node, NULL, 0, arg);
	pthread_mutex_unlock(&n->lock);
	return 0;
}

/* Bounded: who takes nothing for long is found dead by the transport. */
static bool await_room(struct node *n, u16 to)
{
	const struct timespec pause = { .tv_nsec = ROOM_PAUSE };

	while (!set_has(&n->gone, to) && !node_has_room(n)) {
		pthread_mutex_unlock(&n->lock);
		nanosleep(&pause, NULL);
		pthread_mutex_lock(&n->lock);
	}
	n->now = node_clock();
	return !set_has(&n->gone, to);
}

int mios_dsm_send(int to, const void *data, size_t len)
{
	struct node *n = &node_self;
	struct dsm_msg m = { .type = NODE_TALK, .src = n->self };
	const u64 one = 1;
	int err = -EHOSTDOWN;

	if (to < 0 || to >= n->nodes || to == n->self || !len ||
	    len > MIOS_DSM_TALK_MAX)
		return -EINVAL;
	if (n->causal)
		return -EPROTONOSUPPORT;
	pthread_mutex_lock(&n->lock);
	if (await_room(n, to)) {
		node_send(n, to, &m, data, len, NULL);
		n->active = n->now;
		err = 0;
	}
	/* What was sent may have to be sent again. */
	if (n->asleep && write(n->event, &one, sizeof(one)) < 0)
		node_give_up("the service cannot be woken", -errno);
	pthread_mutex_unlock(&n->lock);
	return err;
}

/* On the service thread, which has the lock; a message from a peer. */
void talk_take(struct node *n, const struct causal_held *b, u32 body)
{
	u32 head = sizeof(struct dsm_frame) + sizeof(struct dsm_msg);

	if (b->placed || !n->heard || !body || body > MIOS_DSM_TALK_MAX ||
	    b->len != head + body) {
		n->transport.refused++;
		return;
	}
	n->heard(b->from, b->frame + head, body, n->heard_arg);
}
