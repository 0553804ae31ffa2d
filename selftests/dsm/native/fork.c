// SPDX-License-Identifier: GPL-2.0
/*
 * A child of the program has no window: it is told so when it touches it, and
 * dies of SIGSEGV; what it does besides, and the node, go on.  Files that are
 * opened in a child, or after the end, stay open in a child of theirs.  A
 * process is a node once.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>

#include "trial.h"

#define FILES	64

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

/* Every number that is free here is a file's; are they all open in a child? */
static bool files_stay(void)
{
	int last = 0, status;
	pid_t pid;

	for (int i = 0; i < FILES; i++) {
		last = open("/dev/null", O_RDONLY);
		demand(last >= 0, "open");
	}
	pid = fork();
	demand(pid >= 0, "fork");
	if (!pid) {
		for (int fd = 0; fd <= last; fd++)
			if (fcntl(fd, F_GETFD) < 0)
				_exit(1);
		_exit(0);
	}
	demand(waitpid(pid, &status, 0) == pid, "wait");
	return WIFEXITED(status) && !WEXITSTATUS(status);
}

static void grandchild(void)
{
	pid_t pid = fork();
	int status;

	demand(pid >= 0, "fork");
	if (!pid)
		_exit(mios_dsm_finish() != -EINVAL ||
		      mios_dsm_start() != -EBUSY || !files_stay());
	demand(waitpid(pid, &status, 0) == pid && WIFEXITED(status) &&
	       !WEXITSTATUS(status), "a child's child");
}

int main(void)
{
	char *page;
	int status;

	demand(!mios_dsm_start(), "start");
	grandchild();
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
	demand(files_stay(), "a child after the end");
	demand(mios_dsm_start() == -EBUSY, "a second start");
	return 0;
}
