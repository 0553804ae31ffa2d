// SPDX-License-Identifier: GPL-2.0
/*
 * Usage: cost [NODE].  What node 0, or that one, waits for: a page fetched, a page
 * written that the next node owns, one that all nodes have, 50 stores on ten of
 * those; beside the exchange of frames of the same length by a pair of sockets,
 * alone.  Prints the least and the median, in ns.  Not a test: the host may be
 * busy.
 */
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>

#include "trial.h"

#define PAGES	100
#define REQUEST	44
#define ANSWER	(PAGE + 100)
#define EACH	5		/* stores in a row, too few to take a page */
#define ROW	10		/* pages that they go to */

static uint64_t taken[PAGES];

static int less(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static void say(const char *what)
{
	qsort(taken, PAGES, sizeof(*taken), less);
	printf("%s: least %lu, median %lu\n", what, taken[0],
	       taken[PAGES / 2]);
}

/* Another process answers each request with so many bytes. */
static void raw(int answer, const char *what)
{
	static char buffer[ANSWER];
	int fd[2];

	demand(!socketpair(AF_UNIX, SOCK_SEQPACKET, 0, fd), "sockets");
	if (!fork()) {
		close(fd[0]);
		while (recv(fd[1], buffer, ANSWER, 0) > 0)
			if (send(fd[1], buffer, answer, 0) < 0)
				break;
		_exit(0);
	}
	close(fd[1]);
	for (int i = 0; i < PAGES; i++) {
		uint64_t begin = now_ns();

		demand(send(fd[0], buffer, REQUEST, 0) == REQUEST &&
		       recv(fd[0], buffer, ANSWER, 0) == answer, "exchange");
		taken[i] = now_ns() - begin;
	}
	close(fd[0]);
	say(what);
}

static void touch(volatile char *page, bool write, const char *what)
{
	for (int i = 0; i < PAGES; i++) {
		uint64_t begin = now_ns();

		if (write)
			page[i * PAGE] = 1;
		else
			(void)page[i * PAGE];
		taken[i] = now_ns() - begin;
	}
	say(what);
}

/* All nodes have the pages; by updates they still have them afterwards. */
static void stores(volatile char *page)
{
	for (int i = 0; i < PAGES / ROW; i++) {
		uint64_t begin = now_ns();

		for (int k = 0; k < EACH * ROW; k++)
			page[(i * ROW + k % ROW) * PAGE + k] = 1;
		taken[i] = (now_ns() - begin) / (EACH * ROW);
	}
	for (int i = PAGES / ROW; i < PAGES; i++)
		taken[i] = taken[i % (PAGES / ROW)];
	say("one of 50 stores");
}

int main(int argc, char **argv)
{
	int self = argc == 2 ? atoi(argv[1]) : 0;
	char *read, *written, *both, *row;
	int next;

	demand(!mios_dsm_start() && mios_dsm_nodes() > 1, "two nodes at least");
	next = (self + 1) % mios_dsm_nodes();
	read = common(0, PAGES * PAGE, next);
	written = common(1, PAGES * PAGE, next);
	both = common(2, PAGES * PAGE, next);
	row = common(3, PAGES * PAGE, next);
	for (int i = 0; i < PAGES; i++) {
		(void)((volatile char *)both)[i * PAGE];
		(void)((volatile char *)row)[i * PAGE];
	}
	demand(!mios_dsm_barrier(), "barrier");
	if (mios_dsm_node() == self) {
		raw(ANSWER, "exchange of frames");
		raw(REQUEST, "exchange without a page");
		touch(read, false, "page fetched");
		touch(written, true, "page written, nobody has a copy");
		touch(both, true, "page written, all have a copy");
		stores(row);
	}
	demand(!mios_dsm_barrier() && !mios_dsm_finish(), "finish");
	return 0;
}
