// SPDX-License-Identifier: GPL-2.0
/*
 * mios-rootd: what NFS does not do for the root that all instances share.
 *
 *	who serves the root (instance 0)    the others
 *	lists the files with capabilities   have them in memory, over the root's
 *	holds the files of accounts         -
 *	-                                   keep process 1's program in memory
 *
 * mios-host-setup starts it on who serves, and once more takes the place of
 * the one that runs; process 1 keeps it running on the others.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libmios/libmios.h"
#include "rootd.h"

#define LOCK		"/run/mios/rootd"
#define OWN_ROOT	"/run/mios/own-root"	/* the initrd has made it */
#define TICK_MS		3000	/* between looks at the list */
#define LOCK_SECONDS	10	/* for the old one to go */

/* One of us; the file has its number, and is locked as long as it lives. */
static int take_over(void)
{
	int fd = open(LOCK, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	char text[16] = "";
	long old;

	if (fd < 0)
		return -errno;
	if (flock(fd, LOCK_EX | LOCK_NB)) {
		if (read(fd, text, sizeof(text) - 1) > 0 &&
		    !mios_number(strtok(text, "\n"), 2, 1 << 30, &old))
			kill(old, SIGTERM);
		alarm(LOCK_SECONDS);
		if (flock(fd, LOCK_EX))
			return -errno;
		alarm(0);
	}
	if (daemon(0, 1) || ftruncate(fd, 0) ||
	    pwrite(fd, text, sprintf(text, "%d\n", getpid()), 0) < 0)
		return -errno;
	return 0;
}

/* What it says goes to the kernel's log: who has started it is not kept. */
static void let_go(void)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	int log = open("/dev/kmsg", O_WRONLY | O_CLOEXEC);
	int fd;

	for (fd = 0; fd < 3; fd++)
		dup2(fd == 2 && log >= 0 ? log : null, fd);
}

static int serve_host(void)
{
	int err = take_over();

	if (err)
		return err;
	let_go();
	/* The walk is nothing that anybody waits for. */
	setpriority(PRIO_PROCESS, 0, 10);
	return watch_root();
}

static bool list_changed(void)
{
	static struct stat last;
	struct stat st = { 0 };
	bool changed;

	if (stat(LIST, &st) && errno != ENOENT)
		return false;
	changed = st.st_ino != last.st_ino ||
		  st.st_mtim.tv_sec != last.st_mtim.tv_sec ||
		  st.st_mtim.tv_nsec != last.st_mtim.tv_nsec;
	last = st;
	return changed;
}

/*
 * A mount goes with the file that it lies over, when another gets its name.  When
 * process 1 has another program this ends, and is started again, so that nothing
 * of the old one stays in memory.
 */
static int serve_instance(bool once)
{
	struct pollfd p = { .events = POLLPRI };
	bool again;
	int err = cover_prepare(), pinned;

	if (err)
		return err;
	list_changed();
	err = cover_all();
	if (once)
		return err == -EAGAIN ? 0 : err;
	pinned = pin_first_process();
	if (pinned)
		mios_error("mios-rootd", "process 1 may not outlive instance 0: "
			   "its program is not kept in memory: %s",
			   strerror(-pinned));
	p.fd = open("/proc/self/mounts", O_RDONLY | O_CLOEXEC);
	for (again = err; p.fd >= 0; again = err) {
		err = 0;
		if (first_process_replaced())
			return 0;
		if (poll(&p, 1, TICK_MS) > 0 || list_changed() || again)
			err = cover_all();
	}
	return -errno;
}

int main(int argc, char **argv)
{
	bool once = argc == 2 && !strcmp(argv[1], "--once");
	int self = mios_self(), err;

	if (argc > 1 && !once) {
		mios_error("mios-rootd", "it takes no argument but --once");
		return MIOS_EXIT_USAGE;
	}
	if (self < 0) {
		mios_error("mios-rootd", "%s", MIOS_NO_SYSFS);
		return MIOS_EXIT_FAILED;
	}
	/* One with a root of its own serves that, or nobody. */
	err = self && access(OWN_ROOT, F_OK) ? serve_instance(once) :
					       serve_host();
	if (err)
		mios_error("mios-rootd", "%s", strerror(-err));
	return err ? MIOS_EXIT_FAILED : MIOS_EXIT_OK;
}
