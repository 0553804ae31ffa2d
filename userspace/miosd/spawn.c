// SPDX-License-Identifier: GPL-2.0
/*
 * Starts the command of a session: born inside the session's cgroup, on
 * pipes or a pty, in a process group of its own.  The supervisor leads the
 * terminal session, so that the group is never orphaned and ^Z works as it
 * does at home.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/personality.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <termios.h>
#include <unistd.h>

#include "miosd.h"

#define TTY_GID		5	/* Debian's group tty */
#define EXEC_MS		60000	/* for chdir and exec, on slow files */

struct ends {
	int task[3];		/* what the command gets as 0, 1, 2 */
	int ours[3];
	int tty;		/* the pty's slave, or -1 */
	int report[2];		/* a failed step, if exec was not reached */
};

static int fail_set(struct mios_fail *fail, int code, const char *step, int err)
{
	fail->code = code;
	snprintf(fail->text, sizeof(fail->text), "cannot %s: %s", step,
		 strerror(-err));
	return err;
}

static int make_pipe(struct ends *e, int stream)
{
	int p[2], in = stream == 0;

	if (pipe2(p, O_CLOEXEC))
		return -errno;
	e->task[stream] = p[!in];
	e->ours[stream] = p[in];
	return fcntl(p[in], F_SETFL, O_NONBLOCK) ? -errno : 0;
}

static void set_termios(int tty, const struct mios_spec *head)
{
	struct termios t;
	int i;

	if (!(head->flags & MIOS_SPEC_TERMIOS) || tcgetattr(tty, &t))
		return;
	t.c_iflag = head->iflag;
	t.c_oflag = head->oflag;
	t.c_cflag = head->cflag;
	t.c_lflag = head->lflag;
	for (i = 0; i < NCCS && i < MIOS_NCCS; i++)
		t.c_cc[i] = head->cc[i];
	tcsetattr(tty, TCSANOW, &t);
}

static int make_pty(struct ends *e, const struct spec *spec, uid_t uid)
{
	struct winsize w = {
		.ws_row = spec->head.winsize.rows,
		.ws_col = spec->head.winsize.cols,
		.ws_xpixel = spec->head.winsize.xpixel,
		.ws_ypixel = spec->head.winsize.ypixel,
	};
	char name[64];
	int master;

	master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
	if (master < 0)
		return -errno;
	if (unlockpt(master) || ptsname_r(master, name, sizeof(name)))
		return -errno;
	e->tty = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (e->tty < 0 || fchown(e->tty, uid, TTY_GID) || fchmod(e->tty, 0620))
		return -errno;
	set_termios(e->tty, &spec->head);
	ioctl(master, TIOCSWINSZ, &w);
	if (ioctl(e->tty, TIOCSCTTY, 0))
		return -errno;
	e->ours[0] = e->ours[1] = master;
	e->task[0] = e->task[1] = e->task[2] = e->tty;
	return 0;
}

static int make_ends(struct ends *e, const struct spec *spec, uid_t uid)
{
	int err = 0;

	*e = (struct ends){ { -1, -1, -1 }, { -1, -1, -1 }, -1, { -1, -1 } };
	setsid();
	if (spec->head.flags & MIOS_SPEC_TTY) {
		err = make_pty(e, spec, uid);
	} else {
		err = make_pipe(e, 0);
		if (!err)
			err = make_pipe(e, 1);
	}
	if (!err && (!(spec->head.flags & MIOS_SPEC_TTY) ||
		     spec->head.flags & MIOS_SPEC_STDERR))
		err = make_pipe(e, 2);
	if (!err && pipe2(e->report, O_CLOEXEC))
		err = -errno;
	return err;
}

static void child_signals(const struct mios_spec *head)
{
	struct sigaction dfl = { .sa_handler = SIG_DFL };
	struct sigaction ign = { .sa_handler = SIG_IGN };
	sigset_t none;
	int sig;

	for (sig = 1; sig <= 64; sig++)
		sigaction(sig, head->ignored & 1ull << (sig - 1) ? &ign : &dfl,
			  NULL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

static int bind_cpus(const struct slot *slot)
{
	cpu_set_t *set = CPU_ALLOC(MAX_CPUS);
	size_t size = CPU_ALLOC_SIZE(MAX_CPUS);
	int cpu, n = 0, err = 0;

	if (!set)
		return -ENOMEM;
	CPU_ZERO_S(size, set);
	for (cpu = 0; cpu < MAX_CPUS; cpu++) {
		if (slot->cpus[cpu / 64] & 1ull << cpu % 64) {
			CPU_SET_S(cpu, size, set);
			n++;
		}
	}
	if (n && sched_setaffinity(0, size, set))
		err = -errno;
	CPU_FREE(set);
	return err;
}

/* In the new process, still root; returns only if a step fails. */
static int child_setup(const struct spec *spec, const struct caller *c,
		       const struct slot *slot, struct ends *e,
		       struct mios_fail *fail)
{
	const char *step = "join its process group";
	int i, fd[3], err;

	setpgid(0, 0);
	if (e->tty >= 0)
		tcsetpgrp(e->tty, getpid());
	for (i = 0; i < 3; i++)
		fd[i] = fcntl(e->task[i], F_DUPFD_CLOEXEC, 3);
	step = "connect its files";
	for (i = 0; i < 3; i++)
		if (dup2(fd[i], i) < 0)
			return fail_set(fail, 125, step, -errno);
	step = "bind it to its CPUs";
	err = bind_cpus(slot);
	if (err)
		return fail_set(fail, 125, step, err);
	err = become_caller(c, true, &step);
	if (err)
		return fail_set(fail, 125, step, err);
	child_signals(&spec->head);
	umask(spec->head.umask & 0777);
	personality(spec->head.personality);
	if (chdir(spec->cwd)) {
		snprintf(fail->text, sizeof(fail->text), "cannot enter %s: %m",
			 spec->cwd);
		fail->code = 125;
		return -EIO;
	}
	environ = spec->envp;
	execvp(spec->argv[0], spec->argv);
	fail->code = errno == ENOENT ? 127 : 126;
	snprintf(fail->text, sizeof(fail->text), "cannot run %s: %m",
		 spec->argv[0]);
	return -EIO;
}

static pid_t fork_into(int cgroup, int *pidfd)
{
	struct clone_args args = {
		.flags = CLONE_INTO_CGROUP | CLONE_PIDFD,
		.pidfd = (uintptr_t)pidfd,
		.exit_signal = SIGCHLD,
		.cgroup = cgroup,
	};

	return syscall(SYS_clone3, &args, sizeof(args));
}

static void close_ends(struct ends *e)
{
	int i;

	for (i = 0; i < 3; i++)
		if (e->task[i] >= 0 && e->task[i] != e->tty)
			close(e->task[i]);
	if (e->tty >= 0)
		close(e->tty);
	if (e->report[1] >= 0)
		close(e->report[1]);
}

/* The report ends without a word when exec has closed it. */
static int wait_exec(int report, struct mios_fail *fail)
{
	struct pollfd p = { .fd = report, .events = POLLIN };

	if (poll(&p, 1, EXEC_MS) <= 0)
		return fail_set(fail, 126, "run it: its files do not answer",
				-ETIMEDOUT);
	return read(report, fail, sizeof(*fail)) == sizeof(*fail) ?
		-ECHILD : 0;
}

static int task_cgroup(struct task *t, struct slot *slot,
		       const struct caller *c, const char **step)
{
	int fd = cgroup_create(slot, c, step);

	if (fd < 0)
		return fd;
	t->events = cgroup_open(slot, "cgroup.events", O_RDONLY);
	t->kill = cgroup_open(slot, "cgroup.kill", O_WRONLY);
	if (t->events < 0 || t->kill < 0) {
		close(fd);
		return -ENOENT;
	}
	return fd;
}

int task_spawn(struct task *t, const struct spec *spec,
	       const struct caller *c, struct slot *slot,
	       struct mios_fail *fail)
{
	const char *step;
	struct ends e;
	int cgroup, err;

	if (c->hello.cpus) {
		err = slot_bind_cpus(slot, c->hello.cpus);
		if (err)
			return fail_set(fail, 125, "give the task CPUs of its "
					"own", err);
	}
	err = make_ends(&e, spec, c->hello.uid);
	if (err)
		return fail_set(fail, 125, "make its terminal or pipes", err);
	cgroup = task_cgroup(t, slot, c, &step);
	if (cgroup < 0)
		return fail_set(fail, 125, step, cgroup);
	t->pid = fork_into(cgroup, &t->pidfd);
	if (!t->pid) {
		child_setup(spec, c, slot, &e, fail);
		if (write(e.report[1], fail, sizeof(*fail)) < 0)
			_exit(126);
		_exit(125);
	}
	err = t->pid < 0 ? -errno : 0;
	close(cgroup);
	close_ends(&e);
	t->in = e.ours[0];
	t->out = e.ours[1];
	t->err = e.ours[2];
	if (err)
		return fail_set(fail, 125, "start a process", err);
	setpgid(t->pid, t->pid);
	err = wait_exec(e.report[0], fail);
	close(e.report[0]);
	return err;
}
