// SPDX-License-Identifier: GPL-2.0
/*
 * Starts the command of a session: born inside the session's cgroup, on
 * pipes or a pty, in a process group of its own.  The supervisor leads the
 * terminal session, so that the group is never orphaned and ^Z works as it
 * does at home.
 *
 *	supervisor, root            task, root
 *	  task_prepare() --forks-->   becomes the caller
 *	  becomes the caller          waits at "go"
 *	  reads the errand            .
 *	  task_start()  ---a byte-->  runs it
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <termios.h>
#include <unistd.h>

#include "miosd.h"

#define EXEC_MS		60000	/* for chdir and exec, on slow files */

/* The task's ends: closed here when it has them. */
struct ends {
	int fds[3];
	int go;
	int report;
};

int fail_set(struct mios_fail *fail, int code, const char *step, int err)
{
	fail->code = code;
	snprintf(fail->text, sizeof(fail->text), "cannot %s: %s", step,
		 strerror(-err));
	return err;
}

/* @ours: to write to if @out, else to read from. */
static int make_pipe(int *ours, int *its, bool out)
{
	int p[2];

	if (pipe2(p, O_CLOEXEC))
		return -errno;
	*ours = p[out];
	*its = p[!out];
	return fcntl(*ours, F_SETFL, O_NONBLOCK) ? -errno : 0;
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

/*
 * A terminal of the caller's own, in place of pipes; by its name the task
 * opens it.  *@tty has to stay open until then.
 */
static int make_pty(struct task *t, int *tty)
{
	struct errand *e = t->errand;
	struct winsize w = {
		.ws_row = e->spec.head.winsize.rows,
		.ws_col = e->spec.head.winsize.cols,
		.ws_xpixel = e->spec.head.winsize.xpixel,
		.ws_ypixel = e->spec.head.winsize.ypixel,
	};
	int master;

	master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
	if (master < 0)
		return -errno;
	close(t->out);
	t->out = master;
	if (!(e->spec.head.flags & MIOS_SPEC_STDIN)) {
		close(t->in);
		t->in = master;
	}
	if (!(e->spec.head.flags & MIOS_SPEC_STDERR)) {
		close(t->err);
		t->err = -1;
	}
	if (unlockpt(master) || ptsname_r(master, e->tty, sizeof(e->tty)))
		return -errno;
	*tty = open(e->tty, O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (*tty < 0)
		return -errno;
	set_termios(*tty, &e->spec.head);
	ioctl(master, TIOCSWINSZ, &w);
	if (ioctl(*tty, TIOCSCTTY, 0) || tcsetpgrp(*tty, t->pid))
		return -errno;
	return 0;
}

static int make_ends(struct task *t, struct ends *e)
{
	int err;

	*e = (struct ends){ { -1, -1, -1 }, -1, -1 };
	err = make_pipe(&t->in, &e->fds[0], true);
	/* One page: sink_count(). */
	if (!err && fcntl(t->in, F_SETPIPE_SZ, 4096) < 0)
		err = -errno;
	if (!err)
		err = make_pipe(&t->out, &e->fds[1], false);
	if (!err)
		err = make_pipe(&t->err, &e->fds[2], false);
	if (!err)
		err = make_pipe(&t->go, &e->go, true);
	if (!err)
		err = make_pipe(&t->report, &e->report, false);
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

/* On the terminal instead of the pipes; in the caller's name, few files. */
static int take_terminal(const struct errand *e)
{
	static const uint32_t apart[3] = { MIOS_SPEC_STDIN, 0, MIOS_SPEC_STDERR };
	int i, fd = open(e->tty, O_RDWR | O_NOCTTY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	for (i = 0; i < 3; i++)
		if (!(e->spec.head.flags & apart[i]) && dup2(fd, i) < 0)
			return -errno;
	return 0;
}

/* Nothing to read, and nobody who reads. */
static int take_nothing(void)
{
	int i, fd = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	for (i = 0; i < 3; i++)
		if (dup2(fd, i) < 0)
			return -errno;
	return 0;
}

/* In the new process, still root: becomes the caller. */
static int child_become(const struct caller *c, const struct slot *slot,
			const struct ends *e, struct mios_fail *fail)
{
	const char *step = "connect its files";
	int i, fd[3], err;

	setpgid(0, 0);
	for (i = 0; i < 3; i++)
		fd[i] = fcntl(e->fds[i], F_DUPFD_CLOEXEC, 3);
	for (i = 0; i < 3; i++)
		if (dup2(fd[i], i) < 0)
			return fail_set(fail, 125, step, -errno);
	step = "bind it to its CPUs";
	err = bind_cpus(slot);
	table_detach(NULL);
	if (!err)
		err = become_caller(c, true, &step);
	return err ? fail_set(fail, 125, step, err) : 0;
}

/* Its working directory; who logs in and has no home here gets the root. */
static int enter(const struct spec *spec)
{
	if (!chdir(spec->cwd))
		return 0;
	if (!(spec->head.flags & MIOS_SPEC_HOME))
		return -errno;
	dprintf(STDERR_FILENO, "mios-rsh: cannot enter %s: %m; going on in /\n",
		spec->cwd);
	return chdir("/") ? -errno : 0;
}

static bool is_folder(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISDIR(st.st_mode) &&
	       !access(path, W_OK | X_OK);
}

/* What is true of the caller's instance alone: its name, and a folder of /tmp. */
static void adapt_variables(char **envp)
{
	static char name[sizeof("HOSTNAME=") + HOST_NAME_MAX] = "HOSTNAME=";
	char **from = envp, **to = envp;

	for (; *from; from++) {
		if (!strncmp(*from, "TMPDIR=", 7) && !is_folder(*from + 7))
			continue;
		*to = *from;
		if (!strncmp(*to, "HOSTNAME=", 9) &&
		    !gethostname(name + 9, HOST_NAME_MAX))
			*to = name;
		to++;
	}
	*to = NULL;
}

/* As the caller; returns only if a step fails. */
static int child_run(const struct errand *e, struct mios_fail *fail)
{
	const struct spec *spec = &e->spec;
	int err;

	if (e->tty[0] && take_terminal(e))
		return fail_set(fail, 125, "open its terminal", -errno);
	if (spec->head.flags & MIOS_SPEC_DETACH && take_nothing())
		return fail_set(fail, 125, "open /dev/null", -errno);
	child_signals(&spec->head);
	umask(spec->head.umask & 0777);
	personality(spec->head.personality);
	err = enter(spec);
	if (err) {
		snprintf(fail->text, sizeof(fail->text), "cannot enter %s: %s",
			 spec->cwd, strerror(-err));
		fail->code = 125;
		return -EIO;
	}
	adapt_variables(spec->envp);
	environ = spec->envp;
	execvp(spec->argv[0], spec->argv);
	fail->code = errno == ENOENT ? 127 : 126;
	snprintf(fail->text, sizeof(fail->text), "cannot run %s: %m",
		 spec->argv[0]);
	return -EIO;
}

/* The new process: ends without a word if its supervisor does. */
static void child(struct task *t, const struct caller *c,
		  const struct slot *slot, const struct ends *e,
		  struct mios_fail *fail)
{
	char byte;
	int err;

	close(t->go);
	err = child_become(c, slot, e, fail);
	if (!err && read(e->go, &byte, 1) != 1)
		_exit(125);
	if (!err)
		child_run(t->errand, fail);
	if (write(e->report, fail, sizeof(*fail)) < 0)
		_exit(126);
	_exit(125);
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
		if (e->fds[i] >= 0)
			close(e->fds[i]);
	if (e->go >= 0)
		close(e->go);
	if (e->report >= 0)
		close(e->report);
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

/*
 * As root, who has read nothing of the user's yet: a process in a cgroup that
 * becomes the caller and waits for its errand.
 */
int task_prepare(struct task *t, const struct caller *c, struct slot *slot,
		 struct mios_fail *fail)
{
	const char *step;
	struct ends e;
	int cgroup, err;

	t->errand = mmap(NULL, sizeof(*t->errand), PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (t->errand == MAP_FAILED)
		return fail_set(fail, 125, "find memory", -errno);
	if (c->hello.cpus) {
		err = slot_bind_cpus(slot, c->hello.cpus);
		if (err == -EUSERS)
			return fail_set(fail, 125, "give the task CPUs of its "
					"own, as miosd may use only some here; "
					"try --bind none", err);
		if (err)
			return fail_set(fail, 125, "give the task CPUs of its "
					"own", err);
	}
	setsid();
	err = make_ends(t, &e);
	if (err)
		return fail_set(fail, 125, "make its pipes", err);
	cgroup = task_cgroup(t, slot, c, &step);
	if (cgroup < 0)
		return fail_set(fail, 125, step, cgroup);
	t->pid = fork_into(cgroup, &t->pidfd);
	if (!t->pid)
		child(t, c, slot, &e, fail);
	err = t->pid < 0 ? -errno : 0;
	close(cgroup);
	close_ends(&e);
	if (err)
		return fail_set(fail, 125, "start a process", err);
	setpgid(t->pid, t->pid);
	return 0;
}

/* As the caller: what it waits for is complete. */
int task_start(struct task *t, struct mios_fail *fail)
{
	int tty = -1, err = 0;

	if (t->errand->spec.head.flags & MIOS_SPEC_TTY)
		err = make_pty(t, &tty);
	if (err)
		return fail_set(fail, 125, "make its terminal", err);
	if (write(t->go, "", 1) < 0 && errno != EPIPE)
		err = fail_set(fail, 125, "start it", -errno);
	if (!err)
		err = wait_exec(t->report, fail);
	if (tty >= 0)
		close(tty);
	close(t->report);
	close(t->go);
	return err;
}
