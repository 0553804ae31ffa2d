// SPDX-License-Identifier: GPL-2.0
/*
 * Usage: talk [die|rest].  What virtual machines need of the library.  Each node
 * tells all others numbers, which come once and in order, while its thread, as
 * one that runs a guest's CPU, counts on two pages by turns.  die: the last
 * node ends without a word, which all others are told.  rest: one that rests
 * does not keep its pages for the whole of its lease.
 */
#include <errno.h>
#include <stdatomic.h>
#include <string.h>

#include "trial.h"

#define TURNS	2000
#define NODES	16
#define QUANTUM	100000	/* ns */

static _Atomic uint32_t next[NODES], wrong, dead;

static void heard(int node, const void *data, size_t len, void *arg)
{
	uint32_t number;

	if (arg != next || node < 0 || node >= NODES) {
		wrong++;
		return;
	}
	if (!data) {
		dead |= 1 << node;
		return;
	}
	if (len != sizeof(number)) {
		wrong++;
		return;
	}
	memcpy(&number, data, sizeof(number));
	if (number != next[node])
		wrong++;
	next[node] = number + 1;
}

static void refused(void)
{
	char big[MIOS_DSM_TALK_MAX + 1] = "";

	demand(mios_dsm_send(mios_dsm_node(), big, 1) == -EINVAL, "to itself");
	demand(mios_dsm_send(mios_dsm_nodes(), big, 1) == -EINVAL, "to nobody");
	demand(mios_dsm_send(0, big, sizeof(big)) == -EINVAL, "too long");
	demand(mios_dsm_send(0, big, 0) == -EINVAL, "nothing");
	demand(mios_dsm_cpu(0) == -EINVAL, "no quantum");
}

static void count(uint64_t *word)
{
	for (uint32_t i = 0; i < TURNS; i++) {
		__atomic_fetch_add(word, 1, __ATOMIC_SEQ_CST);
		__atomic_fetch_add(word + PAGE / 8, 1, __ATOMIC_SEQ_CST);
		for (int to = 0; to < mios_dsm_nodes(); to++)
			if (to != mios_dsm_node())
				demand(!mios_dsm_send(to, &i, sizeof(i)),
				       "send");
	}
}

static void die(void)
{
	int last = mios_dsm_nodes() - 1;
	char byte = 0;

	if (mios_dsm_node() == last)
		_exit(0);
	for (int i = 0; i < 1000 && !dead; i++)
		usleep(10000);
	demand(dead == 1u << last, "nobody was told of a death");
	demand(mios_dsm_send(last, &byte, 1) == -EHOSTDOWN, "to the dead");
	mios_dsm_finish();
	exit(0);
}

/* Node 0 takes node 1's page, and rests; node 1 wants it back. */
static void rest(void)
{
	volatile uint64_t *word = common(1, PAGE, 1);
	uint64_t begin = now_ns();
	uint32_t zero = 0;

	if (!mios_dsm_node()) {
		demand(!mios_dsm_cpu(MIOS_DSM_QUANTUM_MAX), "a long quantum");
		*word = 1;
		mios_dsm_cpu_rests();
		demand(!mios_dsm_send(1, &zero, sizeof(zero)), "send");
		while (!next[1])
			usleep(1000);
	} else {
		while (!next[0])
			usleep(1000);
		*word = 2;
		demand(!mios_dsm_send(0, &zero, sizeof(zero)), "send");
	}
	/* The lease is 50 quanta long. */
	demand(now_ns() - begin < 25ull * MIOS_DSM_QUANTUM_MAX,
	       "a page stays with who rests");
	demand(!mios_dsm_cpu(QUANTUM), "a short quantum");
	demand(!mios_dsm_finish(), "finish");
	exit(0);
}

int main(int argc, char **argv)
{
	volatile uint64_t *word;

	demand(!mios_dsm_start(), "start");
	if (mios_dsm_cpu(QUANTUM)) {
		printf("talk: %s\n", strerror(-mios_dsm_cpu(QUANTUM)));
		return mios_dsm_finish() ? 1 : 3;
	}
	demand(!mios_dsm_listen(heard, next), "listen");
	refused();
	if (argc > 1 && !strcmp(argv[1], "die"))
		die();
	if (argc > 1)
		rest();
	word = common(0, 2 * PAGE, 0);
	count((uint64_t *)word);
	demand(!mios_dsm_barrier(), "barrier");
	for (int i = 0; i < 2; i++)
		demand(word[i * PAGE / 8] ==
		       (uint64_t)TURNS * mios_dsm_nodes(), "increments were lost");
	for (int node = 0; node < mios_dsm_nodes(); node++)
		for (int i = 0; i < 1000 && node != mios_dsm_node() &&
		     next[node] < TURNS; i++)
			usleep(10000);
	for (int node = 0; node < mios_dsm_nodes(); node++)
		demand(node == mios_dsm_node() || next[node] == TURNS,
		       "messages were lost");
	demand(!wrong, "messages came twice, or out of order");
	demand(!mios_dsm_finish(), "finish");
	return 0;
}
