/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A virtio device at work: its registers, and a thread for each of its queues.
 */
#ifndef WORKER_H
#define WORKER_H

#include <pthread.h>
#include <stdatomic.h>

#include "route.h"
#include "virtio.h"

struct worker {
	const char *name;
	struct virtio virtio;
	/*
	 * One request, on the queue's own thread, without a lock: how many bytes
	 * the guest has got; -1: it makes no sense.
	 */
	int64_t (*serve)(struct worker *w, uint32_t queue,
			 const struct virtq_chain *c);
	/*
	 * If not NULL: waits until something has come that a queue is for; false:
	 * the device ends.  And what ends such waits.
	 */
	bool (*ready)(struct worker *w, uint32_t queue);
	void (*end)(struct worker *w);
	/* From here on worker.c's. */
	pthread_mutex_t lock;
	pthread_cond_t wake, quiet;
	bool stop, complained;
	struct task {
		struct worker *worker;
		pthread_t thread;
		uint32_t queue;
		bool told;	/* there is more, or may be */
		uint64_t life;	/* of the queue, as the driver sets it up */
		bool busy;	/* with what the queue was in that life: */
		uint64_t served, done;
		uint64_t accepted;	/* features, then */
		atomic_int tid;
		/* The thread's own. */
		struct virtq q;
		struct virtq_chain chain;
	} task[VIRTIO_QUEUES];
};

/* What the thread of a queue does, for who asks. */
struct worker_view {
	const char *name;
	int tid;
	bool live, busy;
	uint64_t done;		/* requests */
};

/* The device of that number begins; virtio.pin is set.  0, or -1 after a line. */
int worker_start(struct worker *w, uint16_t number);
/* A CPU's access to one of the devices, by the address. */
uint64_t worker_access(const struct access *a);
/* False: there is no such device, or queue. */
bool worker_view(uint16_t number, uint32_t queue, struct worker_view *v);
/* All devices: no thread touches the guest's memory any more. */
void workers_stop(void);

#endif /* WORKER_H */
