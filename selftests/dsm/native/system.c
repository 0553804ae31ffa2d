// SPDX-License-Identifier: GPL-2.0
/*
 * System calls on shared memory that another node holds: the kernel reads and
 * writes it as the program would, over several pages, and looks at a futex
 * word.
 */
#include <errno.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/syscall.h>

#include "trial.h"

#define SIZE	(5 * PAGE)

static char sample(int node, int i)
{
	return node * 31 + i * 7 + i / 251;
}

/* What a node writes goes through a pipe in pieces that a pipe holds. */
static void through_pipe(char *shared, int node)
{
	char copy[PAGE];
	int fd[2];

	demand(!pipe(fd), "pipe");
	for (int at = 0; at < SIZE; at += PAGE) {
		for (int i = 0; i < PAGE; i++)
			copy[i] = sample(node, at + i);
		demand(write(fd[1], copy, PAGE) == PAGE, "write to the pipe");
		demand(read(fd[0], shared + at + 100, PAGE) == PAGE,
		       "read() into shared memory");
	}
	for (int at = 0; at < SIZE; at += PAGE) {
		demand(write(fd[1], shared + at + 100, PAGE) == PAGE,
		       "write() from shared memory");
		demand(read(fd[0], copy, PAGE) == PAGE, "read from the pipe");
		for (int i = 0; i < PAGE; i++)
			demand(copy[i] == sample(node, at + i),
			       "other bytes came through the pipe");
	}
	close(fd[0]);
	close(fd[1]);
}

int main(void)
{
	char *shared;
	int *word, self, nodes;

	demand(!mios_dsm_start(), "start");
	shared = common(0, SIZE + PAGE, 0);
	word = common(1, PAGE, 0);
	self = mios_dsm_node();
	nodes = mios_dsm_nodes();
	for (int turn = 0; turn < 3 * nodes; turn++) {
		if (turn % nodes == self) {
			through_pipe(shared, self);
			*word = turn + 1;
		}
		demand(!mios_dsm_barrier(), "barrier");
		for (int i = 0; i < SIZE; i++)
			demand(shared[i + 100] == sample(turn % nodes, i),
			       "not what system calls have written");
		/* Another value than the caller thinks: it does not sleep. */
		demand(syscall(SYS_futex, word, FUTEX_WAIT, turn, NULL, NULL,
			       0) == -1 && errno == EAGAIN,
		       "the futex word is not what it is");
		demand(!mios_dsm_barrier(), "barrier");
	}
	demand(!mios_dsm_finish(), "finish");
	return 0;
}
