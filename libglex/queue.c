// SPDX-License-Identifier: GPL-2.0
/*
 * Queues of an endpoint: many write, its owner reads.  Positions count up for ever;
 * position p lies in slot p mod capacity.  A slot's stamp says for which position,
 * and how far it is with it:
 *
 *	FREE p -> CLAIMED p, by an endpoint -> FULL p -> FREE p + capacity
 *	       (compare and exchange)	    (release)  (release, by the owner)
 *
 * STAMP: who reads FULL (acquire) reads what was written before; who reads FREE
 * (acquire) writes after the owner has read.  The tail is only where a search for a
 * free slot begins.
 *
 * A writer may die between CLAIMED and FULL.  He says before his claim, in his own
 * file, where it will be (intent), and takes that back when he has published.  So
 * the owner passes over a claim, where it stays, of an endpoint whose owner is dead
 * (flock()), or has another intent and so is another one: nobody writes there.
 *
 * BELL: who has published looks, behind a full barrier, whether the owner waits;
 * the owner says that he waits, and behind a full barrier looks once more.  Not
 * both see what was before.
 */
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "internal.h"

#define FREE		0ull
#define CLAIMED		1ull
#define FULL		2ull
#define STATE(stamp)	((stamp) >> 22 & 3)
#define POSITION(stamp)	((stamp) >> 24)
#define STAMP(position, state, from)	\
	((position) << 24 | (state) << 22 | (from))

/* A claim that stays so long is looked into, ms; a sleep is no longer either. */
#define STUCK_MS	50
/* Looks before the owner sleeps. */
#define SPINS		2000

static uint32_t short_of(glex_ep_addr_t addr)
{
	return addr.nic_id % NICS << 16 | addr.ep_num;
}

struct writer queue_writer(glex_ep_addr_t from, _Atomic uint64_t *intent)
{
	return (struct writer){ .from = short_of(from), .intent = intent };
}

static _Atomic uint64_t *slot_at(const struct queue *q, uint64_t position)
{
	return (_Atomic uint64_t *)(q->slots +
				    (position & (q->capacity - 1)) * q->size);
}

void queue_empty(struct queue *q)
{
	uint64_t i;

	for (i = 0; i < q->capacity; i++)
		atomic_store(slot_at(q, i), STAMP(i, FREE, 0));
}

/* Of whom that file is. */
static uint32_t owner_of(const struct file *f)
{
	return f->own.nic_id % NICS << 16 | f->own.ep_num;
}

/* One try at position @p; -1: it is not free, and none behind it. */
static int claim(const struct writer *w, struct file *f, struct queue *q, uint64_t p)
{
	_Atomic uint64_t *slot = slot_at(q, p);
	uint64_t stamp = atomic_load_explicit(slot, memory_order_acquire);

	if (POSITION(stamp) < p)
		return -1;
	if (STATE(stamp) != FREE || POSITION(stamp) != p)
		return 0;
	atomic_store(w->intent, STAMP(p, q->which, owner_of(f)));
	return atomic_compare_exchange_strong(slot, &stamp, STAMP(p, CLAIMED, w->from));
}

/*
 * By one thread at a time for each writer; queue_publish() follows.  NULL: it is full,
 * or was written to by somebody who does not know how.
 */
void *queue_claim(const struct writer *w, struct file *f, struct queue *q,
		  uint64_t *position)
{
	uint64_t p = atomic_load(q->tail), tries = 2 * q->capacity, seen;
	int done;

	while (tries--) {
		done = claim(w, f, q, p);
		if (done > 0) {
			*position = p;
			return slot_at(q, p);
		}
		if (done < 0)
			break;
		seen = p;
		atomic_compare_exchange_strong(q->tail, &seen, p + 1);
		p++;
	}
	atomic_store(w->intent, 0);
	return NULL;
}

static void futex(_Atomic uint32_t *word, int op, uint32_t value,
		  const struct timespec *timeout)
{
	syscall(SYS_futex, word, op, value, timeout, NULL, 0);
}

void queue_publish(const struct writer *w, struct file *f, void *slot,
		   uint64_t position)
{
	atomic_store_explicit((_Atomic uint64_t *)slot,
			      STAMP(position, FULL, w->from),
			      memory_order_release);
	atomic_store_explicit(w->intent, 0, memory_order_release);
	atomic_thread_fence(memory_order_seq_cst); /* BELL */
	if (!atomic_load_explicit(&f->header->waiting, memory_order_relaxed))
		return;
	atomic_fetch_add(&f->header->bell, 1);
	futex(&f->header->bell, FUTEX_WAKE, INT_MAX, NULL);
}

/* --- the owner */

/* Of somebody who lives, and is at it? */
static bool is_at_it(const struct reader *r, uint64_t position, uint64_t stamp)
{
	uint64_t intent = STAMP(position, r->queue->which, short_of(r->own));
	glex_ep_addr_t from = {
		.ep_num = stamp & 0xffff,
		.nic_id = r->own.nic_id / NICS * NICS + (stamp >> 16 & (NICS - 1)),
	};
	struct file f;
	bool is;

	if (file_open(&f, from))
		return false;
	is = atomic_load(&f.header->intent) == intent ||
	     atomic_load(&f.header->port_intent) == intent;
	file_close(&f);
	return is;
}

/* The first one is a claim: has it been for a while, and stays so? */
static bool is_dead_claim(struct reader *r, uint64_t stamp)
{
	if (r->stuck_at != r->head || !r->stuck_since) {
		r->stuck_at = r->head;
		r->stuck_since = now_ms();
		return false;
	}
	if (now_ms() - r->stuck_since < STUCK_MS)
		return false;
	r->stuck_since = 0;
	return !is_at_it(r, r->head, stamp) &&
	       atomic_load(slot_at(r->queue, r->head)) == stamp;
}

/* What has come to that position, or NULL. */
void *reader_look(struct reader *r, uint64_t position)
{
	_Atomic uint64_t *slot = slot_at(r->queue, position);
	uint64_t stamp = atomic_load_explicit(slot, memory_order_acquire);

	if (POSITION(stamp) != position)
		return NULL;
	if (STATE(stamp) == FULL)
		return slot;
	if (STATE(stamp) == CLAIMED && position == r->head &&
	    is_dead_claim(r, stamp))
		reader_free(r, r->head + 1);
	return NULL;
}

/*
 * Is the first place as the rules above leave it?  A tail behind it says that it
 * has been claimed.
 */
bool reader_is_sound(const struct reader *r)
{
	uint64_t tail = atomic_load(r->queue->tail);
	uint64_t stamp = atomic_load(slot_at(r->queue, r->head));

	return POSITION(stamp) == r->head && STATE(stamp) <= FULL &&
	       (STATE(stamp) != FREE || tail <= r->head);
}

/* Slots before that position are free again. */
void reader_free(struct reader *r, uint64_t up_to)
{
	for (; r->head < up_to; r->head++)
		atomic_store_explicit(slot_at(r->queue, r->head),
				      STAMP(r->head + r->queue->capacity, FREE, 0),
				      memory_order_release);
	if (r->probed < up_to)
		r->probed = up_to;
}

/* 0: there may be something; GLEX_INTR. */
static glex_ret_t sleep_once(struct glex_ep *ep, struct reader *r, uint64_t ms)
{
	struct header *h = ep->file.header;
	struct timespec time = { .tv_nsec = (ms < STUCK_MS ? ms : STUCK_MS) * 1000000 };
	uint32_t bell = atomic_load(&h->bell);

	errno = 0;
	atomic_fetch_add(&h->waiting, 1);
	atomic_thread_fence(memory_order_seq_cst); /* BELL */
	if (!reader_look(r, r->head)) {
		pthread_mutex_unlock(&ep->mutex);
		futex(&h->bell, FUTEX_WAIT, bell, &time);
		pthread_mutex_lock(&ep->mutex);
	}
	atomic_fetch_sub(&h->waiting, 1);
	return errno == EINTR ? GLEX_INTR : GLEX_SUCCESS;
}

/*
 * The first one that is not discarded; under the endpoint's mutex, which is let go
 * meanwhile.  GLEX_BUSY: none within so many milliseconds.
 */
glex_ret_t reader_wait(struct glex_ep *ep, struct reader *r, int32_t timeout,
		       void **slot)
{
	uint64_t end = now_ms() + (timeout < 0 ? UINT32_MAX : (uint32_t)timeout);
	uint32_t spins = SPINS;
	uint64_t now;

	while (!(*slot = reader_look(r, r->head))) {
		if (timeout && spins) {
			spins--;
			continue;
		}
		now = now_ms();
		if (!timeout || (timeout > 0 && now >= end))
			return GLEX_BUSY;
		if (sleep_once(ep, r, timeout < 0 ? STUCK_MS : end - now) == GLEX_INTR)
			return GLEX_INTR;
	}
	return GLEX_SUCCESS;
}

/* --- probing: what has been shown stays until it is discarded */

glex_ret_t reader_probe(struct glex_ep *ep, struct reader *r, int32_t timeout,
			void **slot)
{
	glex_ret_t ret;

	pthread_mutex_lock(&ep->mutex);
	ret = reader_wait(ep, r, timeout, slot);
	if (!ret)
		r->probed = r->head + 1;
	pthread_mutex_unlock(&ep->mutex);
	return ret;
}

/* NULL: nothing has come behind what was shown. */
void *reader_probe_next(struct glex_ep *ep, struct reader *r)
{
	void *slot;

	pthread_mutex_lock(&ep->mutex);
	slot = reader_look(r, r->probed);
	if (slot)
		r->probed++;
	pthread_mutex_unlock(&ep->mutex);
	return slot;
}

glex_ret_t reader_discard(struct glex_ep *ep, struct reader *r)
{
	pthread_mutex_lock(&ep->mutex);
	reader_free(r, r->probed);
	pthread_mutex_unlock(&ep->mutex);
	return GLEX_SUCCESS;
}
