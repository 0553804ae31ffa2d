// SPDX-License-Identifier: GPL-2.0
/*
 * The end of the guest, told once, by whichever thread sees it first; the main
 * thread waits for it.
 */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include "../mios-dsm/runtime/mios_dsm.h"
#include "end.h"
#include "route.h"

static struct {
	pthread_mutex_t lock;
	pthread_cond_t wake;
	bool ended, torn;
	uint8_t status;
} end = {
	.lock = PTHREAD_MUTEX_INITIALIZER, .wake = PTHREAD_COND_INITIALIZER,
};

/*
 * Only the first counts.  What is said of a node is said before the main thread
 * hears of it, which may be the end of the process.
 */
static bool first(uint8_t status, int node, const char *why)
{
	bool mine;

	pthread_mutex_lock(&end.lock);
	mine = !end.ended;
	if (mine && why)
		say("node %d %s", node, why);
	if (mine) {
		end.ended = true;
		end.torn = why;
		end.status = status;
		pthread_cond_broadcast(&end.wake);
	}
	pthread_mutex_unlock(&end.lock);
	return mine;
}

void end_guest(uint8_t status)
{
	if (first(status, 0, NULL))
		route_end(status);
}

void end_told(uint8_t status)
{
	first(status, 0, NULL);
}

void end_died(int node)
{
	first(END_FAULT, node, "has ended, and the guest with it: its CPUs and its memory "
	      "were there");
}

void end_broken(int node, const char *why)
{
	first(END_FAULT, node, why);
}

int end_barrier(void)
{
	if (!mios_dsm_barrier())
		return 0;
	/* Who died is told right after that somebody did. */
	end_await();
	return -1;
}

int end_await(void)
{
	pthread_mutex_lock(&end.lock);
	while (!end.ended)
		pthread_cond_wait(&end.wake, &end.lock);
	pthread_mutex_unlock(&end.lock);
	/* Memory may be gone: nothing here can be ended in order. */
	if (end.torn)
		_exit(end.status);
	return end.status;
}
