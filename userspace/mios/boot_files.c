// SPDX-License-Identifier: GPL-2.0
/*
 * What "mios boot" boots when it is told nothing: the image of the running
 * kernel, and an initrd that mios-initrd(1) makes for the kernel's release,
 * once.  The lock file is mios-host-setup's; mios-initrd needs none, it
 * renames a finished file into place.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "boot.h"
#include "libmios/libmios.h"

#define HOST_LOCK	"/run/mios/lock"
#define HOST_SETUP_S	300	/* as mios-host-setup waits for another one */

/* At boot it runs in the background: a child needs what it exports. */
void wait_for_host_setup(void)
{
	int fd = open(HOST_LOCK, O_RDONLY | O_CLOEXEC);
	int tries = 0;

	if (fd < 0)
		mios_die(MIOS_EXIT_FAILED, "boot: there is nothing here that "
			 "an instance could use as its root: run "
			 "mios-host-setup first");
	if (flock(fd, LOCK_SH | LOCK_NB)) {
		printf("waiting for mios-host-setup to finish\n");
		while (flock(fd, LOCK_SH | LOCK_NB)) {
			if (++tries > HOST_SETUP_S * 10)
				mios_die(MIOS_EXIT_FAILED, "boot: "
					 "mios-host-setup does not end: fuser "
					 HOST_LOCK " tells who it is");
			usleep(100000);
		}
	}
	close(fd);
	if (access("/run/mios/host-ready", F_OK))
		mios_die(MIOS_EXIT_FAILED, "boot: mios-host-setup has failed: "
			 "run it again to see why");
}

const char *default_kernel(void)
{
	static const char * const places[] = {
		"/boot/vmlinuz-%s",
		"/lib/modules/%s/vmlinuz",
		"/lib/modules/%s/vmlinux",
	};
	static char path[256];
	struct utsname uts;
	size_t i;

	uname(&uts);
	for (i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		snprintf(path, sizeof(path), places[i], uts.release);
		if (!access(path, F_OK))
			return path;
	}
	mios_die(MIOS_EXIT_FAILED, "boot: the running kernel's image is "
		 "neither /boot/vmlinuz-%s nor in /lib/modules/%s: name it "
		 "with --kernel", uts.release, uts.release);
}

/* First line that the command prints, or an end: it has said why. */
static void run_for_line(char *const argv[], char *line, size_t len)
{
	int pipefd[2], status;
	FILE *from;
	pid_t pid;

	if (pipe(pipefd))
		mios_die(MIOS_EXIT_FAILED, "boot: pipe: %m");
	pid = fork();
	if (pid < 0)
		mios_die(MIOS_EXIT_FAILED, "boot: fork: %m");
	if (!pid) {
		dup2(pipefd[1], STDOUT_FILENO);
		close(pipefd[0]);
		close(pipefd[1]);
		execvp(argv[0], argv);
		mios_die(127, "boot: cannot run %s: %m: install it, or name "
			 "an initrd with --initrd", argv[0]);
	}
	close(pipefd[1]);
	from = fdopen(pipefd[0], "r");
	if (!from || !fgets(line, len, from))
		line[0] = '\0';
	if (from)
		fclose(from);
	if (waitpid(pid, &status, 0) != pid || status || !line[0])
		mios_die(MIOS_EXIT_FAILED, "boot: no initrd: %s failed",
			 argv[0]);
	line[strcspn(line, "\n")] = '\0';
}

/* An installed one is in sbin, which need not be on a user's PATH. */
static void set_path(void)
{
	if (setenv("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:"
		   "/sbin:/bin", 1))
		mios_die(MIOS_EXIT_FAILED, "boot: %m");
}

const char *default_initrd(const char *release)
{
	char * const argv[] = { "mios-initrd", "--cached", "--kernel-version",
			 (char *)release, NULL };
	static char path[4096];

	if (!*release)
		mios_die(MIOS_EXIT_FAILED, "boot: the kernel does not say its "
			 "release: name an initrd with --initrd");
	set_path();
	run_for_line(argv, path, sizeof(path));
	return path;
}

/* A program of the system, and what it says: true if it ended well. */
bool boot_run(char * const argv[])
{
	pid_t pid;
	int status;

	set_path();
	pid = fork();
	if (!pid) {
		execvp(argv[0], argv);
		_exit(127);
	}
	return pid > 0 && waitpid(pid, &status, 0) == pid && !status;
}

/* A part of mios-host-setup; where that has never run there is no network. */
static bool host_setup(char * const argv[])
{
	return access(HOST_LOCK, F_OK) || boot_run(argv);
}

/*
 * Instance 0 has an address in a ring from the first boot there: the new member
 * mounts its root from it.
 */
void add_address(unsigned int ring)
{
	char number[12];
	char * const argv[] = { "mios-host-setup", "--ring", number, NULL };

	if (!ring)
		return;
	snprintf(number, sizeof(number), "%u", ring);
	if (!host_setup(argv))
		mios_error("mios", "boot: instance 0 has no address in ring %u, "
			   "and its members no root: run mios-host-setup --ring "
			   "%u", ring, ring);
}

/*
 * On instance 0 a name such as node2 leads into the ring that the instance
 * is in: written again when that may have changed.
 */
void update_names(unsigned int ring)
{
	char * const argv[] = { "mios-host-setup", "--names", NULL };

	if (!ring && access("/run/mios/other-rings", F_OK))
		return;
	if (!host_setup(argv))
		mios_error("mios", "boot: the names in /etc/hosts are not up "
			   "to date: run mios-host-setup");
}
