// SPDX-License-Identifier: GPL-2.0
/*
 * What one does at a time, or one alone: critical, atomic, single, and the
 * locks of the API.  A lock is a word of the program's shared memory.
 */
#include "gomp.h"

/* Of threads of this process that are in no team. */
static _Atomic uint32_t own_critical, own_atomic;

static _Atomic uint32_t *critical = &own_critical, *atomic = &own_atomic;

/* Before there are regions; NULL: there is no team any more. */
void once_start(struct team *team)
{
	critical = team ? &team->critical : &own_critical;
	atomic = team ? &team->atomic : &own_atomic;
}

void GOMP_critical_start(void)
{
	word_lock(critical);
}

void GOMP_critical_end(void)
{
	word_unlock(critical);
}

/* The compiler has put the word into the program's data. */
void GOMP_critical_name_start(void **word)
{
	word_lock((_Atomic uint32_t *)word);
}

void GOMP_critical_name_end(void **word)
{
	word_unlock((_Atomic uint32_t *)word);
}

void GOMP_atomic_start(void)
{
	word_lock(atomic);
}

void GOMP_atomic_end(void)
{
	word_unlock(atomic);
}

bool GOMP_single_start(void)
{
	struct context *c = context();
	bool first = share_enter(c);

	if (first)
		share_made(c);
	share_leave(c);
	return first;
}

/* copyprivate: the one gives its data, then the others may read it. */
void *GOMP_single_copy_start(void)
{
	struct context *c = context();
	void *data;

	if (share_enter(c)) {
		share_made(c);
		return NULL;
	}
	GOMP_barrier();
	data = c->share->copy;
	share_leave(c);
	return data;
}

void GOMP_single_copy_end(void *data)
{
	struct context *c = context();

	c->share->copy = data;
	GOMP_barrier();
	share_leave(c);
}
