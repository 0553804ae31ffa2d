// SPDX-License-Identifier: GPL-2.0
/*
 * Allocation, barriers, sums and locks: plain words of the window, changed by
 * atomic instructions.  Who waits looks at its own copy, which costs nobody
 * anything until the word changes; and goes on with an error when a node has
 * died, as what it waits for may have died with it.  Called by programs.
 */
#include <errno.h>
#include <sched.h>
#include <time.h>

#include "window_layout.h"
#include "mios_dsm.h"
#include "start.h"

#define SPINS	100		/* looks before the CPU is given away, */
#define YIELDS	200		/* and before it sleeps */
#define NAP	50000		/* ns */

struct ticket {
	unsigned int next, serving;
};

static void *own_page(u32 page)
{
	return node_self.window.base + (size_t)page * DSM_PAGE_SIZE;
}

/*
 * Asked last: what was read may have been lost with a node.  Its death is known
 * before any of its pages is.
 */
static int alive(void)
{
	return atomic_load(&node_self.dead) ? -EHOSTDOWN : 0;
}

/* Until *word differs from old, or *word is new if that is what counts. */
static int wait_for(const unsigned int *word, unsigned int value, bool equal)
{
	const struct timespec nap = { .tv_nsec = NAP };

	for (u32 i = 0; !atomic_load(&node_self.dead) &&
	     (__atomic_load_n(word, __ATOMIC_ACQUIRE) == value) != equal;
	     i++) {
		if (i < SPINS)
			__builtin_ia32_pause();
		else if (i < YIELDS)
			sched_yield();
		else
			nanosleep(&nap, NULL);
	}
	return alive();
}

static void waited(enum stats_cause why, u64 since)
{
	__atomic_fetch_add(&node_self.stats->cause[why], node_clock() - since,
			   __ATOMIC_RELAXED);
}

int mios_dsm_node(void)
{
	return node_self.self;
}

int mios_dsm_nodes(void)
{
	return node_self.nodes;
}

int mios_dsm_life(void)
{
	return node_self.transport.lists[node_self.self] / 2;
}

void **mios_dsm_root(void)
{
	return own_page(LAYOUT_ROOT);
}

void *mios_dsm_malloc(size_t size, int home)
{
	u32 pages = node_self.window.pages;
	u16 arena = home == MIOS_DSM_STRIPED ? node_self.nodes : home, nodes;
	u64 room = (u64)layout_arena(pages, node_self.nodes) * DSM_PAGE_SIZE;
	u64 *taken = (u64 *)own_page(LAYOUT_ARENAS) + arena, at, end;
	u64 align = size < DSM_PAGE_SIZE ? 64 : DSM_PAGE_SIZE;

	nodes = node_self.nodes;
	if (home < MIOS_DSM_STRIPED || home >= nodes || !size || size > room) {
		errno = size > room ? ENOMEM : EINVAL;
		return NULL;
	}
	at = __atomic_load_n(taken, __ATOMIC_RELAXED);
	do {
		end = (at + align - 1) / align * align + size;
		if (end > room) {
			errno = ENOMEM;
			return NULL;
		}
	} while (!__atomic_compare_exchange_n(taken, &at, end, false,
					      __ATOMIC_RELAXED,
					      __ATOMIC_RELAXED));
	if (alive()) {
		errno = EHOSTDOWN;
		return NULL;
	}
	return (char *)own_page(layout_arena_at(pages, nodes, arena)) +
		end - size;
}

static int barrier(void)
{
	unsigned int *arrived = own_page(LAYOUT_ARRIVED);
	unsigned int *round = own_page(LAYOUT_ROUND);
	unsigned int now = __atomic_load_n(round, __ATOMIC_ACQUIRE);

	if (alive())
		return -EHOSTDOWN;
	if (__atomic_add_fetch(arrived, 1, __ATOMIC_ACQ_REL) <
	    node_self.nodes)
		return wait_for(round, now, false);
	__atomic_store_n(arrived, 0, __ATOMIC_RELAXED);
	__atomic_store_n(round, now + 1, __ATOMIC_RELEASE);
	return alive();
}

int mios_dsm_barrier(void)
{
	u64 begin = node_clock();
	int err = barrier();

	waited(STATS_BARRIER, begin);
	return err;
}

int mios_dsm_sum(double *value)
{
	double *all = own_page(LAYOUT_REDUCE), sum = 0;
	int err;

	all[node_self.self] = *value;
	err = mios_dsm_barrier();
	if (err)
		return err;
	for (u16 i = 0; i < node_self.nodes; i++)
		sum += all[i];
	*value = sum;
	return mios_dsm_barrier();
}

int mios_dsm_lock(unsigned int lock)
{
	u64 begin = node_clock();
	struct ticket *t;
	int err;

	if (lock >= MIOS_DSM_LOCKS)
		return -EINVAL;
	if (alive())
		return -EHOSTDOWN;
	t = own_page(LAYOUT_LOCK + lock);
	err = wait_for(&t->serving,
		       __atomic_fetch_add(&t->next, 1, __ATOMIC_ACQ_REL),
		       true);
	waited(STATS_LOCK, begin);
	return err;
}

int mios_dsm_unlock(unsigned int lock)
{
	struct ticket *t;

	if (lock >= MIOS_DSM_LOCKS)
		return -EINVAL;
	t = own_page(LAYOUT_LOCK + lock);
	__atomic_fetch_add(&t->serving, 1, __ATOMIC_RELEASE);
	return alive();
}
