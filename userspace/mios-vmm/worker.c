// SPDX-License-Identifier: GPL-2.0
/*
 * The threads of virtio devices.  What they touch of the guest's memory may be at
 * another node, whose CPUs may wait for a device: so the lock of a device is not
 * held meanwhile.  But a driver that has reset its device, or taken a queue away,
 * uses the memory for something else: its access ends only when no thread is
 * busy with what was there before.
 */
#include <linux/virtio_ring.h>
#include <unistd.h>

#include "../mios-dsm/runtime/mios_dsm.h"
#include "bus.h"
#include "worker.h"

static struct worker *workers[VMM_VIRTIO_MAX];

static void line(struct virtio *v, bool high)
{
	bus_line(v->pin, high);
}

/* One request of a queue that is in use; without the lock while it lasts. */
static void turn(struct worker *w, struct task *t)
{
	enum virtq_got got;
	bool good = true, interrupt = false;
	int64_t wrote;

	if (t->served != t->life) {
		t->accepted = w->virtio.accepted;
		good = virtq_begin(&t->q, &w->virtio.queue[t->queue],
				   t->accepted >> VIRTIO_RING_F_INDIRECT_DESC & 1);
	}
	t->served = t->life;
	t->told = false;
	t->busy = true;
	pthread_mutex_unlock(&w->lock);
	got = good ? virtq_next(&t->q, &t->chain) : VIRTQ_BROKEN;
	if (got == VIRTQ_CHAIN) {
		wrote = w->serve(w, t->queue, &t->chain);
		if (wrote < 0)
			got = VIRTQ_BROKEN;
		else
			virtq_done(&t->q, &t->chain, wrote);
		interrupt = wrote >= 0 && virtq_interrupts(&t->q);
	}
	pthread_mutex_lock(&w->lock);
	t->busy = false;
	t->done += got == VIRTQ_CHAIN;
	pthread_cond_broadcast(&w->quiet);
	/* What the driver has set up since knows nothing of this. */
	if (t->served != t->life)
		return;
	t->told |= got == VIRTQ_CHAIN;
	if (interrupt)
		virtio_tell(&w->virtio);
	if (got != VIRTQ_BROKEN)
		return;
	virtio_broken(&w->virtio);
	if (!w->complained)
		say("the guest's driver of %s says what makes no sense: it stands still until it "
		    "is reset", w->name);
	w->complained = true;
}

static void *work(void *arg)
{
	struct task *t = arg;
	struct worker *w = t->worker;
	bool stop = false;

	t->tid = gettid();
	while (!stop && (!w->ready || w->ready(w, t->queue))) {
		pthread_mutex_lock(&w->lock);
		while (!w->stop &&
		       !(t->told && virtio_live(&w->virtio, t->queue)))
			pthread_cond_wait(&w->wake, &w->lock);
		stop = w->stop;
		if (!stop)
			turn(w, t);
		pthread_mutex_unlock(&w->lock);
	}
	return NULL;
}

/* Nobody is busy with what was there before. */
static void quiet(struct worker *w, struct task *t)
{
	const uint64_t life = t->life;

	while (t->busy && t->served < life) {
		/* It may want pages that the caller has, if that is a CPU. */
		mios_dsm_cpu_rests();
		pthread_cond_wait(&w->quiet, &w->lock);
	}
}

/* A queue, or all: what is under way is told of nowhere, and waited for. */
static void stops(struct worker *w, uint32_t queue)
{
	const bool all = queue == VIRTIO_ALL;

	for (uint32_t i = 0; i < w->virtio.queues; i++)
		w->task[i].life += all || i == queue;
	for (uint32_t i = 0; i < w->virtio.queues; i++)
		if (all || i == queue)
			quiet(w, &w->task[i]);
}

static void write_to(struct worker *w, const struct access *a)
{
	uint32_t queue;

	switch (virtio_write(&w->virtio, a->at % VMM_PAGE, a->size, a->value,
			     &queue)) {
	case VIRTIO_LOOKS:
		w->task[queue].told = true;
		pthread_cond_broadcast(&w->wake);
		break;
	case VIRTIO_STOPS:
		stops(w, queue);
		break;
	case VIRTIO_NOTHING:
		break;
	}
}

uint64_t worker_access(const struct access *a)
{
	struct worker *w = workers[(a->at - VMM_VIRTIO) / VMM_PAGE];
	uint64_t value = 0;

	if (!w)
		return BUS_NOBODY;
	pthread_mutex_lock(&w->lock);
	if (a->write)
		write_to(w, a);
	else
		value = virtio_read(&w->virtio, a->at % VMM_PAGE, a->size);
	pthread_mutex_unlock(&w->lock);
	return value;
}

bool worker_view(uint16_t number, uint32_t queue, struct worker_view *v)
{
	struct worker *w = number < VMM_VIRTIO_MAX ? workers[number] : NULL;
	const struct task *t;

	if (!w || queue >= w->virtio.queues)
		return false;
	t = &w->task[queue];
	pthread_mutex_lock(&w->lock);
	*v = (struct worker_view){
		.name = w->name, .tid = t->tid, .done = t->done, .busy = t->busy,
		.live = virtio_live(&w->virtio, queue),
	};
	pthread_mutex_unlock(&w->lock);
	return true;
}

int worker_start(struct worker *w, uint16_t number)
{
	w->virtio.line = line;
	w->virtio.pin = VMM_VIRTIO_PIN + number;
	pthread_mutex_init(&w->lock, NULL);
	pthread_cond_init(&w->wake, NULL);
	pthread_cond_init(&w->quiet, NULL);
	for (uint32_t i = 0; i < w->virtio.queues; i++) {
		w->task[i].worker = w;
		w->task[i].queue = i;
		w->task[i].life = 1;
		if (pthread_create(&w->task[i].thread, NULL, work, &w->task[i]))
			return say("no thread for %s", w->name);
	}
	workers[number] = w;
	return 0;
}

void workers_stop(void)
{
	for (uint16_t number = 0; number < VMM_VIRTIO_MAX; number++) {
		struct worker *w = workers[number];

		if (!w)
			continue;
		pthread_mutex_lock(&w->lock);
		w->stop = true;
		pthread_cond_broadcast(&w->wake);
		pthread_mutex_unlock(&w->lock);
		if (w->end)
			w->end(w);
		for (uint32_t i = 0; i < w->virtio.queues; i++)
			pthread_join(w->task[i].thread, NULL);
	}
}
