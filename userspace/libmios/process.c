// SPDX-License-Identifier: GPL-2.0
/*
 * What a process is born with: streams; and how it ends with the one that
 * started it.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "libmios.h"

/*
 * The streams that are missing: else the next file that is opened would be
 * taken for one.  Reading or writing these fails as it does without them.
 */
void mios_streams_open(void)
{
	int fd;

	for (fd = 0; fd < 3; fd++)
		if (fcntl(fd, F_GETFD) < 0 &&
		    open("/dev/null", fd ? O_RDONLY : O_WRONLY) != fd)
			_exit(MIOS_EXIT_FAILED);
}

/* Reading ends at once. */
void mios_no_input(void)
{
	int fd = open("/dev/null", O_RDONLY);

	if (fd < 0 || dup2(fd, STDIN_FILENO) < 0)
		_exit(MIOS_EXIT_FAILED);
	if (fd != STDIN_FILENO)
		close(fd);
}

/* Is it sent to end a program? */
bool mios_ends(int sig)
{
	return sig == SIGINT || sig == SIGTERM || sig == SIGHUP ||
	       sig == SIGQUIT;
}

/*
 * In a child: get @sig when @parent ends, also if it has ended between the
 * fork and this call, for which the kernel sends none.
 */
int mios_end_with(pid_t parent, int sig)
{
	if (prctl(PR_SET_PDEATHSIG, sig, 0, 0, 0))
		return -errno;
	if (getppid() != parent)
		raise(sig);
	return 0;
}
