// SPDX-License-Identifier: GPL-2.0
/*
 * miosd: listens, gives every connection a process, reaps it and removes
 * what its session left.  This process never reads what a client sends, so
 * nobody can block it; it holds the only table and is the last to know.
 */
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "miosd.h"

#define TICK_MS		1000
#define BUSY_TICK_MS	20
#define TIDY_MS		10000	/* for a supervisor whose caller's instance is gone */
#define STOP_TRIES	50	/* ticks for the killed to go at our end */

enum { FD_SIGNAL, FD_UNIX, FD_DEVICE, NR_FDS };

static struct {
	int fds[NR_FDS];
	int lock;		/* the main process's alone */
	unsigned int device;	/* index of mios0 that we listen on */
	bool stop;
	struct ring_view view;
} d = { .fds = { -1, -1, -1 }, .lock = -1 };

/* mios0 comes and goes with the modules. */
static void device_refresh(void)
{
	unsigned int index = if_nametoindex(MIOSD_DEVICE);

	if (index == d.device && (d.fds[FD_DEVICE] >= 0 || !index))
		return;
	if (d.fds[FD_DEVICE] >= 0)
		close(d.fds[FD_DEVICE]);
	d.fds[FD_DEVICE] = index ? listen_device() : -1;
	d.device = index;
	if (index && d.fds[FD_DEVICE] < 0)
		fprintf(stderr, "miosd: cannot listen on " MIOSD_DEVICE
			": %s; trying again\n", strerror(-d.fds[FD_DEVICE]));
}

static void start_process(int fd, struct slot *slot,
			  void (*serve)(int fd, struct slot *slot))
{
	const pid_t self = getpid();
	sigset_t none;
	pid_t pid;
	int i;

	pid = fork();
	if (pid > 0) {
		slot->pid = pid;
	} else if (pid < 0) {
		fprintf(stderr, "miosd: fork: %m\n");
		slot_free(slot);
	} else {
		slot->pid = getpid();	/* counted before main gets to it */
		mios_end_with(self, SIGKILL);
		for (i = 0; i < NR_FDS; i++)
			close(d.fds[i]);
		close(d.lock);	/* else held for as long as we live */
		for (i = 0; i < (int)d.view.nr_watched; i++)
			close(d.view.watched[i].fd);
		sigemptyset(&none);
		sigprocmask(SIG_SETMASK, &none, NULL);
		serve(fd, slot);
		_exit(0);
	}
	close(fd);
}

/* One user's connections must not shut the others out, busy or not. */
static bool user_full(int fd)
{
	struct ucred cred;
	socklen_t len = sizeof(cred);
	unsigned int i, n = 0;
	struct slot *s;

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &len))
		return true;
	if (!cred.uid)
		return false;
	for (i = 0; (s = slot_at(i)); i++)
		if (s->pid && s->uid == cred.uid)
			n++;
	return n >= MAX_SESSIONS_USER + MAX_RELAYS_USER + 16 ||
	       slots_full(cred.uid);
}

static void accept_local(void)
{
	struct ucred cred = { 0 };
	socklen_t len = sizeof(cred);
	struct slot *slot;
	int fd;

	fd = accept4(d.fds[FD_UNIX], NULL, NULL, SOCK_CLOEXEC);
	if (fd < 0)
		return;
	slot = user_full(fd) ? NULL : slot_take(d.view.self, 0);
	if (!slot) {
		local_reply(fd, -EAGAIN, "too many sessions are open here: "
			    "wait for some to end", -1);
		close(fd);
		return;
	}
	getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &len);
	slot->uid = cred.uid;
	start_process(fd, slot, serve_local);
}

static void accept_remote(void)
{
	struct mios_instance self = { .id = d.view.self, .ring = d.view.ring };
	struct mios_instance peer;
	struct slot *slot;
	int fd;

	fd = accept_peer(d.fds[FD_DEVICE], &self, &peer);
	if (fd < 0)
		return;
	slot = slot_take(peer.id, peer.incarnation);
	if (!slot) {
		close(fd);
		return;
	}
	start_process(fd, slot, serve_peer);
}

/*
 * Processes that ended, and supervisors that somebody stopped: those can no
 * longer notice that their caller has gone.
 */
static void reap(void)
{
	struct signalfd_siginfo si;
	struct slot *slot;
	int status;
	pid_t pid;

	while (read(d.fds[FD_SIGNAL], &si, sizeof(si)) == sizeof(si))
		if (si.ssi_signo != SIGCHLD)
			d.stop = true;
	while ((pid = waitpid(-1, &status, WNOHANG | WUNTRACED)) > 0) {
		slot = slot_find(pid);
		if (WIFSTOPPED(status))
			kill(pid, SIGKILL);
		else if (slot)
			slot->ending = true;
	}
}

/* What was started from instance 0 goes on without it: see session.c. */
static bool outlives(const struct slot *s)
{
	if (table_detached(s))
		return true;
	return !s->peer && !s->relay && ring_host_died(&d.view) &&
	       !mios_injected("end_with_host");
}

/*
 * The instance that it came from has gone.  Its task ends at once; the supervisor
 * sees that, and has some time to remove what the task has left.
 */
static void end_lost(struct slot *s)
{
	int fd = -1;

	if (!s->lost_ms && s->identified && !s->relay)
		fd = cgroup_open(s, "cgroup.kill", O_WRONLY);
	if (fd >= 0 && write(fd, "1", 1) == 1)
		s->lost_ms = mios_now_ms();
	else if (mios_now_ms() > s->lost_ms + TIDY_MS)
		kill(s->pid, SIGKILL);
	if (fd >= 0)
		close(fd);
}

/* Returns whether some cgroups are still being emptied. */
static bool sweep(void)
{
	struct slot *s;
	unsigned int i;
	bool busy = false;

	for (i = 0; (s = slot_at(i)); i++) {
		if (s->pid && !s->ending && !outlives(s) &&
		    !ring_has(&d.view, s->peer, s->incarnation) &&
		    !mios_injected("keep_sessions"))
			end_lost(s);
		if (!s->ending)
			continue;
		if (cgroup_remove(s) == -EBUSY)
			busy = true;
		else
			slot_free(s);
	}
	return busy;
}

static void loop(void)
{
	struct pollfd p[NR_FDS + MIOS_MAX_INSTANCES];
	struct timespec ts;
	time_t refreshed = 0;
	unsigned int i, n;
	bool busy = false, changed;

	while (!d.stop) {
		for (n = 0; n < NR_FDS; n++)
			p[n] = (struct pollfd){ d.fds[n], POLLIN, 0 };
		for (i = 0; i < d.view.nr_watched; i++)
			p[n++] = d.view.watched[i];
		if (poll(p, n, busy ? BUSY_TICK_MS : TICK_MS) < 0)
			continue;
		for (changed = false, i = NR_FDS; i < n; i++)
			changed |= p[i].revents & POLLPRI;
		clock_gettime(CLOCK_MONOTONIC, &ts);
		if (changed || ts.tv_sec != refreshed) {
			refreshed = ts.tv_sec;
			ring_refresh(&d.view);
			reset_gone(&d.view);
			hostfile_update(&d.view);
			shm_refresh(&d.view);
			device_refresh();
		}
		if (p[FD_SIGNAL].revents)
			reap();
		if (p[FD_UNIX].revents)
			accept_local();
		if (d.fds[FD_DEVICE] >= 0 && p[FD_DEVICE].revents)
			accept_remote();
		busy = sweep();
	}
}

/* Sessions end with miosd: nobody would watch over them. */
static void stop_all(void)
{
	struct slot *s;
	unsigned int i;
	int tries;

	for (i = 0; (s = slot_at(i)); i++) {
		if (s->pid && !s->ending)
			kill(s->pid, SIGKILL);
		s->ending = s->pid;
	}
	for (tries = 0; sweep() && tries < STOP_TRIES; tries++)
		poll(NULL, 0, BUSY_TICK_MS);
	unlink(MIOSD_SOCKET);
}

/* Two of us would end each other's sessions. */
static int lock_instance(void)
{
	if (mkdir("/run/mios", 0755) && errno != EEXIST)
		return -errno;
	d.lock = open("/run/mios/miosd.lock", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	return d.lock < 0 || flock(d.lock, LOCK_EX | LOCK_NB) ? -errno : 0;
}

static int setup(void)
{
	sigset_t set;
	int err;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigprocmask(SIG_SETMASK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
	umask(022);
	err = lock_instance();
	if (!err)
		err = become_nobody();
	if (err)
		return err;
	d.fds[FD_SIGNAL] = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (d.fds[FD_SIGNAL] < 0)
		return -errno;
	if (cgroup_setup())
		fprintf(stderr, "miosd: cgroup v2 is not mounted: sessions "
			"cannot start until it is (mount -t cgroup2 none "
			"/sys/fs/cgroup) and miosd is started again\n");
	reset_prepare();
	ring_refresh(&d.view);
	/*
	 * The file that we run from is instance 0's, which may die first.  The
	 * table comes later: most of it is never touched.
	 */
	if (d.view.self > 0 && mlockall(MCL_CURRENT))
		fprintf(stderr, "miosd: mlockall: %m\n");
	err = table_init();
	if (err)
		return err;
	d.fds[FD_UNIX] = listen_unix();
	return d.fds[FD_UNIX] < 0 ? d.fds[FD_UNIX] : 0;
}

int main(int argc, char **argv)
{
	int err;

	if (argc > 1) {
		printf("usage: miosd\nRemote execution between instances; "
		       "runs as root, see miosd(8).\n");
		return strcmp(argv[1], "--help") ? 2 : 0;
	}
	if (geteuid()) {
		mios_error("miosd", "must be started by root (systemctl start "
			   "miosd)");
		return 1;
	}
	err = setup();
	if (err) {
		mios_error("miosd", "cannot start: %s", err == -EWOULDBLOCK ?
			   "another miosd runs here" : strerror(-err));
		return 1;
	}
	loop();
	stop_all();
	return 0;
}
