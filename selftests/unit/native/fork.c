// SPDX-License-Identifier: GPL-2.0
/*
 * A child of the program has no window: it is told so when it touches it, and
 * dies of SIGSEGV; what it does besides, and the node, go on.
 */
#include <signal.h>
#include <sys/wait.h>

#include "trial.h"

static int child(const volatile char *touched)
{
	pid_t pid = fork();
	int status;

	demand(pid >= 0, "fork");
	if (!pid)
		_exit(touched ? *touched : 7);
	demand(waitpid(pid, &status, 0) == pid, "wait");
	return status;
}

int main(void)
{
	char *page;
	int status;

	demand(!mios_dsm_start(), "start");
	page = common(0, PAGE, 0);
	page[mios_dsm_node()] = 1;
	status = child(NULL);
	demand(WIFEXITED(status) && WEXITSTATUS(status) == 7,
	       "a child that leaves the window alone");
	status = child(page);
	demand(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV,
	       "a child that touches the window");
	demand(!mios_dsm_barrier(), "barrier");
	for (int i = 0; i < mios_dsm_nodes(); i++)
		demand(((volatile char *)page)[i] == 1, "a node's byte");
	demand(!mios_dsm_finish(), "finish");
	return 0;
}
