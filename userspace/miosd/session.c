// SPDX-License-Identifier: GPL-2.0
/*
 * The supervisor of a session: moves bytes between the link and the task,
 * forwards signals, reports how it ended.  It has the caller's ids only.
 * Whatever happens to it, the main process then kills the session's cgroup;
 * here that is done when the caller has gone or the task has ended.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "miosd.h"

#define CLOSE_MS	30000	/* for the caller to take the last bytes */
#define DRAIN_MS	2000	/* for output that nobody living can write */
#define HANGUP_MS	500	/* between SIGHUP and the kill */

struct session {
	struct mios_link link;
	struct task task;
	struct mios_sink in;
	struct mios_source out, err;
	struct mios_exit exit;
	struct said *said;
	char *folder;		/* a launcher's; it goes with the session */
	int peer;		/* instance of the caller */
	bool linger;		/* the caller wants to wait for them all */
	bool detached;		/* nobody is there to hear of it */
	bool exited;		/* the first process has */
	bool killed;		/* the cgroup has been */
	int sigchld;
};

static void session_fail(struct mios_link *l, const struct mios_fail *fail)
{
	if (!link_send(l, MIOS_FRAME_FAIL, 0, fail, sizeof(*fail)))
		link_end(l, CLOSE_MS);
}

static void kill_all(struct session *s)
{
	s->killed = true;
	if (write(s->task.kill, "1", 1) < 0 && errno != ENODEV)
		fprintf(stderr, "miosd: cgroup.kill: %m\n");
}

static void forward_signal(struct session *s, const void *data)
{
	static const int allowed[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT,
				       SIGUSR1, SIGUSR2, SIGCONT, SIGTSTP,
				       SIGALRM };
	uint32_t sig;
	size_t i;

	memcpy(&sig, data, sizeof(sig));
	if (s->exited) {	/* others of the session live: end them */
		if (mios_ends(sig))
			kill_all(s);
		return;
	}
	for (i = 0; i < sizeof(allowed) / sizeof(allowed[0]); i++)
		if ((int)sig == allowed[i])
			kill(-s->task.pid, sig);
}

/* Its sender wants to know that somebody is there. */
static int take_signal(struct session *s, const void *data, size_t len)
{
	if (len != sizeof(uint32_t))
		return -EPROTO;
	forward_signal(s, data);
	return link_send(&s->link, MIOS_FRAME_SIGNALLED, 0, data, len);
}

static void set_winsize(struct session *s, const void *data, size_t len)
{
	struct mios_winsize m;
	struct winsize w = { 0 };

	if (len != sizeof(m))
		return;
	memcpy(&m, data, sizeof(m));
	w.ws_row = m.rows;
	w.ws_col = m.cols;
	w.ws_xpixel = m.xpixel;
	w.ws_ypixel = m.ypixel;
	ioctl(s->task.out, TIOCSWINSZ, &w);	/* pipes refuse it */
}

static struct mios_source *source_of(struct session *s, int stream)
{
	return stream == 1 ? &s->out : stream == 2 ? &s->err : NULL;
}

/* A pipe is closed once it has been read; a terminal gets ^D. */
static void end_input(struct session *s)
{
	if (!s->in.eof && s->task.in == s->task.out && s->in.fd >= 0)
		buffer_add(&s->in.buf, "\004", 1);
	s->in.eof = true;
}

static int take_frame(struct session *s, const struct mios_frame *f,
		      const void *data)
{
	struct mios_source *src = source_of(s, f->stream);

	switch (f->type) {
	case MIOS_FRAME_DATA:
		return src ? -EPROTO : sink_data(&s->in, data, f->len);
	case MIOS_FRAME_EOF:
		if (src)
			src->fd = -1;	/* nobody reads it: SIGPIPE there */
		else
			end_input(s);
		return 0;
	case MIOS_FRAME_CREDIT:
		return src ? source_credit(src, data, f->len) : -EPROTO;
	case MIOS_FRAME_SIGNAL:
		return take_signal(s, data, f->len);
	case MIOS_FRAME_WINSIZE:
		set_winsize(s, data, f->len);
		return 0;
	}
	return -EPROTO;
}

static int take_frames(struct session *s)
{
	struct mios_frame f;
	const void *data;
	int err;

	err = link_fill(&s->link);
	while (!err) {
		err = link_next(&s->link, &f, &data);
		if (err <= 0)
			return err;
		err = take_frame(s, &f, data);
	}
	return err;
}

/* Ends the files that nobody uses any more; a pty's is one for both. */
static void close_ended(struct session *s)
{
	bool pty = s->task.in == s->task.out;

	if (s->task.in >= 0 && !pty && (sink_done(&s->in) || s->in.fd < 0)) {
		close(s->task.in);
		s->task.in = s->in.fd = -1;
	}
	if (s->task.out >= 0 && !pty && s->out.fd < 0) {
		close(s->task.out);
		s->task.out = -1;
	}
	if (s->task.err >= 0 && s->err.fd < 0) {
		close(s->task.err);
		s->task.err = -1;
	}
}

static int reap(struct session *s)
{
	struct signalfd_siginfo si;
	uint32_t sig;
	int status, err = 0;

	while (read(s->sigchld, &si, sizeof(si)) == sizeof(si))
		;
	while (!err && waitpid(s->task.pid, &status, WNOHANG | WUNTRACED) > 0) {
		if (WIFSTOPPED(status)) {
			if (s->detached)
				continue;
			sig = WSTOPSIG(status);
			err = link_send(&s->link, MIOS_FRAME_STOPPED, 0, &sig,
					sizeof(sig));
			continue;
		}
		s->exited = true;
		if (WIFSIGNALED(status)) {
			s->exit.signal = WTERMSIG(status);
			s->exit.core = WCOREDUMP(status);
		} else {
			s->exit.code = WEXITSTATUS(status);
		}
		if (!s->linger)
			kill_all(s);
	}
	return err;
}

static void arm(struct pollfd *p, int fd, short events)
{
	p->fd = events ? fd : -1;
	p->events = events;
	p->revents = 0;
}

static int step(struct session *s, int timeout)
{
	struct pollfd p[6];
	int n, err = 0;

	arm(&p[0], s->link.fd, link_events(&s->link));
	arm(&p[1], s->in.fd, sink_ready(&s->in) ? POLLOUT : 0);
	arm(&p[2], s->out.fd, source_ready(&s->out) ? POLLIN : 0);
	arm(&p[3], s->err.fd, source_ready(&s->err) ? POLLIN : 0);
	arm(&p[4], s->sigchld, POLLIN);
	arm(&p[5], s->task.events, s->exited && !s->killed ? POLLPRI : 0);
	n = poll(p, 6, timeout);
	if (n < 0)
		return errno == EINTR ? 0 : -errno;
	if (p[0].revents)
		err = take_frames(s);
	if (!err && p[1].revents && sink_pump(&s->in, &s->link) == -ENOMEM)
		err = -ENOMEM;
	if (!err && p[2].revents)
		err = source_pump(&s->out, &s->link);
	if (!err && p[3].revents)
		err = source_pump(&s->err, &s->link);
	if (!err && p[4].revents)
		err = reap(s);
	close_ended(s);
	if (!err)
		err = link_flush(&s->link);
	if (!err && s->link.ended)
		err = -ECONNRESET;
	return err;
}

static bool drained(const struct session *s)
{
	return s->out.fd < 0 && s->err.fd < 0;
}

/* Is there output that the caller has not taken, or given no credit for? */
static bool caller_slow(const struct session *s)
{
	return s->link.out.len || (s->out.fd >= 0 && !s->out.credit) ||
	       (s->err.fd >= 0 && !s->err.credit);
}

/*
 * Until the task and all that it started have ended, or the caller has.  What
 * they wrote is waited for as long as it takes the caller to read it; that
 * somebody else holds their output open, only for a while.
 */
static int serve(struct session *s)
{
	int64_t deadline = 0;
	int err = 0;

	for (;;) {
		if (s->exited && !s->killed &&
		    !cgroup_populated(s->task.events))
			s->killed = true;
		if (s->killed && (!deadline || caller_slow(s)))
			deadline = mios_now_ms() + DRAIN_MS;
		if (s->killed && s->exited &&
		    (drained(s) || mios_now_ms() >= deadline))
			break;
		err = step(s, deadline ? 50 : -1);
		if (err)
			return err;
	}
	err = sink_settle(&s->in, &s->link);
	if (!err)
		err = link_send(&s->link, MIOS_FRAME_EXIT, 0, &s->exit,
				sizeof(s->exit));
	while (!err && s->link.out.len)
		err = step(s, -1);
	return err;
}

/* The caller has gone: let the task know, then end everything. */
static void hang_up(struct session *s)
{
	int64_t deadline = mios_now_ms() + HANGUP_MS;

	if (!s->exited) {
		kill(-s->task.pid, SIGHUP);
		kill(-s->task.pid, SIGCONT);
	}
	while (cgroup_populated(s->task.events) && mios_now_ms() < deadline)
		poll(NULL, 0, 10);
	kill_all(s);
}

/* Its caller is lost; was that the death of instance 0, and no more? */
static bool goes_on(const struct session *s)
{
	struct mios_instance host;

	if (mios_injected("keep_sessions"))
		return true;
	return !s->peer && mios_self() > 0 &&
	       !mios_instance_read(0, &host) && host.state == MIOS_STATE_DEAD;
}

/*
 * What was started from instance 0 goes on when that has died, up to its next
 * need of it, and what was detached: nobody reads its output any more, and its
 * input has ended.
 */
static void outlive(struct session *s)
{
	struct pollfd p[2];

	s->detached = true;
	s->in.fd = s->out.fd = s->err.fd = -1;
	if (s->task.in == s->task.out)
		close(s->task.in);	/* hangs up the terminal */
	else
		close_ended(s);
	while (!s->exited || (s->linger && cgroup_populated(s->task.events))) {
		arm(&p[0], s->sigchld, POLLIN);
		/* Ready until it is read, which is done once the first has ended. */
		arm(&p[1], s->task.events, s->exited ? POLLPRI : 0);
		poll(p, 2, -1);
		reap(s);
	}
	kill_all(s);
}

static int setup_signals(void)
{
	sigset_t set;

	signal(SIGPIPE, SIG_IGN);
	signal(SIGTTOU, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_SETMASK, &set, NULL);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

static void say(struct said *said, const struct spec *spec)
{
	const char *name = strrchr(spec->argv[0], '/');

	said->launcher = spec->head.flags & MIOS_SPEC_LINGER;
	said->detached = spec->head.flags & MIOS_SPEC_DETACH;
	mios_cut(said->command, sizeof(said->command),
		 name && name[1] ? name + 1 : spec->argv[0]);
	said->running = true;
}

static void send_report(struct mios_link *l)
{
	struct mios_exit done = { 0 };

	if (!table_report(l) &&
	    !link_send(l, MIOS_FRAME_EXIT, 0, &done, sizeof(done)))
		link_end(l, CLOSE_MS);
}

/*
 * The end of this process as root: it has a task, which waits, and from now
 * on the caller's ids only.
 */
static int step_down(struct session *s, struct slot *slot,
		     const struct caller *c, struct mios_started *st,
		     struct mios_fail *fail)
{
	struct timespec ts;
	const char *step;
	int i, err;

	err = task_prepare(&s->task, c, slot, fail);
	clock_gettime(CLOCK_MONOTONIC, &ts);
	st->pid = s->task.pid;
	slot->task = s->task.pid;
	slot->started = ts.tv_sec;
	for (i = 0; i < MIOS_CPU_WORDS; i++) {
		st->cpus[i] = slot->cpus[i];
		st->nr_cpus += __builtin_popcountll(slot->cpus[i]);
	}
	s->said = table_detach(slot);
	if (!err && !mios_injected("stay_root")) {
		err = become_caller(c, false, &step);
		if (err)
			fail_set(fail, 125, step, err);
	}
	return err;
}

/* What to run, and runs it. */
static int take_errand(struct session *s, struct mios_fail *fail)
{
	struct errand *e = s->task.errand;
	int err;

	alarm(2 * SPEC_SECONDS);
	err = errand_read(&s->link, e);
	alarm(0);
	if (!s->link.in.len)
		buffer_free(&s->link.in);	/* it held the spec */
	if (err) {
		fail->code = 125;
		snprintf(fail->text, sizeof(fail->text), "miosd did not "
			 "understand what to run: %s", err == -E2BIG ?
			 MIOS_SPEC_TOO_BIG : strerror(-err));
		close(s->task.go);	/* who waits there ends */
		return err;
	}
	s->linger = e->spec.head.flags & MIOS_SPEC_LINGER;
	s->detached = e->spec.head.flags & MIOS_SPEC_DETACH;
	if (s->linger)
		s->folder = folder_make(&e->spec);
	err = task_start(&s->task, fail);
	if (!err)
		say(s->said, &e->spec);
	munmap(e, sizeof(*e));
	return err;
}

static int session_start(struct session *s, struct slot *slot,
			 const struct caller *c)
{
	struct mios_fail fail = { .code = 125 };
	struct mios_started st = { 0 };
	int err;

	s->sigchld = setup_signals();
	err = step_down(s, slot, c, &st, &fail);
	if (!err)
		err = take_errand(s, &fail);
	if (!err)
		return link_send(&s->link, s->detached ? MIOS_FRAME_DETACHED :
				 MIOS_FRAME_STARTED, 0, &st, sizeof(st));
	session_fail(&s->link, &fail);
	return err;
}

/* Turns this process into the supervisor; does not return. */
void session_run(int fd, struct slot *slot, struct caller *c)
{
	static struct session s;
	int err;

	if (link_init(&s.link, fd, MIOS_SPEC_MAX))
		_exit(1);
	if (c->hello.op == MIOS_OP_TOP) {
		send_report(&s.link);
		_exit(0);
	}
	s.task.in = s.task.out = s.task.err = s.task.go = -1;
	s.peer = slot->peer;	/* the slot is out of reach once it runs */
	if (session_start(&s, slot, c)) {
		folder_remove(s.folder, &s.task);
		_exit(1);
	}
	if (s.detached) {
		link_end(&s.link, CLOSE_MS);
		outlive(&s);
		_exit(0);
	}
	sink_init(&s.in, s.task.in, 0);
	if (s.task.in != s.task.out)
		sink_count(&s.in);
	source_init(&s.out, s.task.out, 1);
	source_init(&s.err, s.task.err, 2);
	err = serve(&s);
	if (err && goes_on(&s))
		outlive(&s);
	else if (err)
		hang_up(&s);
	folder_remove(s.folder, &s.task);
	if (!err)
		link_end(&s.link, CLOSE_MS);
	_exit(0);
}
