// SPDX-License-Identifier: GPL-2.0
/*
 * Queues of a page: elements of a pool in a chain of indices, as the engine's
 * memory may be copied.  An element begins with the index of the next one, a
 * u16; the rest of a free one is zeros.  Called by request.c and update.c,
 * under the engine's lock.
 */
#include "engine.h"

static_assert(!offsetof(struct dsm_request, next), "as next_of() has it");
static_assert(!offsetof(struct dsm_flight, next), "as next_of() has it");

static u16 *next_of(const struct dsm_pool *pool, u16 i)
{
	return (u16 *)(pool->at + (size_t)i * pool->size);
}

void pool_init(const struct dsm_pool *pool, u16 count)
{
	*pool->free = DSM_NIL;
	while (count-- > 0) {
		*next_of(pool, count) = *pool->free;
		*pool->free = count;
	}
}

u16 queue_add(struct dsm_queue *q, const struct dsm_pool *pool)
{
	u16 i = *pool->free;

	if (i == DSM_NIL)
		return DSM_NIL;
	*pool->free = *next_of(pool, i);
	*next_of(pool, i) = DSM_NIL;
	if (q->first == DSM_NIL)
		q->first = i;
	else
		*next_of(pool, q->last) = i;
	q->last = i;
	return i;
}

void queue_drop(struct dsm_queue *q, const struct dsm_pool *pool)
{
	u16 i = q->first;
	u16 *next = next_of(pool, i);

	q->first = *next;
	if (q->first == DSM_NIL)
		q->last = DSM_NIL;
	memset(next, 0, pool->size);
	*next = *pool->free;
	*pool->free = i;
}

void queue_clear(struct dsm_queue *q, const struct dsm_pool *pool)
{
	while (q->first != DSM_NIL)
		queue_drop(q, pool);
}
