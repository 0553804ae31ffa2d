// SPDX-License-Identifier: GPL-2.0
/*
 * Processes that must not outlive the one that started them.  No locks.
 */
#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "mios.h"

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
