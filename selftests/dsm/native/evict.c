// SPDX-License-Identifier: GPL-2.0
/*
 * Usage: evict [PAGES [LIMIT]].  All nodes add to words of many pages, more than
 * they may keep in memory (mios-dsm run --resident), and read them all in the
 * end: nothing may be lost.  LIMIT: no node's window has ever more pages with
 * memory than that, as the kernel counts them.
 */
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>

#include "trial.h"

#define ROUNDS	3
#define WORDS	512

static int window;		/* its file */

/* The one among ours that is the window. */
static int window_find(void)
{
	char path[64], name[64];

	for (int fd = 3; fd < 64; fd++) {
		ssize_t n;

		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		n = readlink(path, name, sizeof(name) - 1);
		name[n > 0 ? n : 0] = '\0';
		if (!strcmp(name, "/memfd:mios-dsm (deleted)"))
			return fd;
	}
	return -1;
}

static long resident(void)
{
	struct stat s;

	demand(!fstat(window, &s), "no file of a window");
	return s.st_blocks * 512 / PAGE;
}

int main(int argc, char **argv)
{
	int pages = argc > 1 ? atoi(argv[1]) : 1200, self, nodes;
	long limit = argc > 2 ? atol(argv[2]) : 0, most = 0;
	uint64_t *word;

	demand(!mios_dsm_start(), "start");
	self = mios_dsm_node();
	nodes = mios_dsm_nodes();
	window = window_find();
	word = common(0, (size_t)pages * PAGE, MIOS_DSM_STRIPED);
	for (int r = 0; r < ROUNDS; r++)
		for (int i = 0; i < pages; i++) {
			/* Each in an order of its own. */
			size_t p = (size_t)(i * 7 + self * 31) % pages;

			__atomic_fetch_add(&word[p * WORDS + p % 8], 1 + self,
					   __ATOMIC_SEQ_CST);
			word[p * WORDS + 16 + self]++;
			most = resident() > most ? resident() : most;
		}
	demand(!mios_dsm_barrier(), "barrier");
	for (size_t p = 0; p < (size_t)pages; p++) {
		demand(word[p * WORDS + p % 8] ==
		       (uint64_t)ROUNDS * nodes * (nodes + 1) / 2,
		       "what was added is lost");
		for (int n = 0; n < nodes; n++)
			demand(word[p * WORDS + 16 + n] == ROUNDS,
			       "what one node wrote is lost");
		most = resident() > most ? resident() : most;
	}
	printf("node %d: at most %ld pages\n", self, most);
	demand(!limit || most <= limit, "more memory than allowed");
	demand(!mios_dsm_finish(), "finish");
	return 0;
}
