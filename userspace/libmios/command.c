// SPDX-License-Identifier: GPL-2.0
/*
 * Runs one command on an instance as if it ran here: streams, terminal,
 * signals, job control and the way it ends.  For mios exec and mios-rsh.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <termios.h>
#include <unistd.h>

#include "client.h"

#define FIRST_ANSWER_MS	90000	/* slow files on the other side included */
#define TICK_MS		1000
#define SIGNAL_MS	5000	/* for a signal to be heard over there */
#define STATUS_LOST	125	/* not the command's own */

struct run {
	const struct client_command *cmd;
	struct mios_link link;
	struct mios_source in;
	struct mios_sink out, err;
	struct mios_watch watch;
	struct mios_exit exit;
	struct termios cooked;
	bool raw;		/* the terminal is in raw mode */
	bool started, ended;
	bool unread;		/* who read our output has gone */
	bool lost;		/* what it said could not be written */
	int signals;
	int terminal;		/* its size and settings are the command's */
	uint32_t unheard;	/* a signal that is to end it, on its way */
	int64_t unheard_ms;	/* since then */
};

static void tty_restore(struct run *r)
{
	if (r->raw)
		tcsetattr(STDIN_FILENO, TCSADRAIN, &r->cooked);
	r->raw = false;
}

static void tty_raw(struct run *r)
{
	struct termios t;

	/* Once more after SIGCONT: it may be raw already. */
	if (!r->cmd->tty ||
	    (!r->raw && tcgetattr(STDIN_FILENO, &r->cooked)))
		return;
	t = r->cooked;
	cfmakeraw(&t);
	r->raw = !tcsetattr(STDIN_FILENO, TCSADRAIN, &t);
}

static int send_winsize(struct run *r)
{
	struct mios_winsize m;
	struct winsize w;

	if (!r->cmd->tty || ioctl(r->terminal, TIOCGWINSZ, &w))
		return 0;
	m.rows = w.ws_row;
	m.cols = w.ws_col;
	m.xpixel = w.ws_xpixel;
	m.ypixel = w.ws_ypixel;
	return link_send(&r->link, MIOS_FRAME_WINSIZE, 0, &m, sizeof(m));
}

/*
 * Where nobody hears it, the second signal to end it ends us: the command is
 * killed there when the connection is missed.
 */
static int note_signal(struct run *r, uint32_t sig)
{
	if (!mios_ends(sig))
		return 0;
	if (r->unheard)
		return -EINTR;
	r->unheard = sig;
	r->unheard_ms = mios_now_ms();
	return 0;
}

static bool is_unheard(const struct run *r)
{
	return r->unheard && mios_now_ms() > r->unheard_ms + SIGNAL_MS;
}

static int forward_signals(struct run *r)
{
	struct signalfd_siginfo si;
	uint32_t sig;
	int err = 0;

	while (!err && read(r->signals, &si, sizeof(si)) == sizeof(si)) {
		sig = si.ssi_signo;
		if (sig == SIGCONT)
			tty_raw(r);
		if (sig == SIGWINCH || sig == SIGCONT)
			err = send_winsize(r);
		if (!err && sig != SIGWINCH)
			err = link_send(&r->link, MIOS_FRAME_SIGNAL, 0, &sig,
					sizeof(sig)) ?: note_signal(r, sig);
	}
	return err;
}

/* The command was stopped: so are we, until somebody says SIGCONT. */
static int stop_self(struct run *r)
{
	tty_restore(r);
	raise(SIGSTOP);
	return 0;
}

static int take_fail(struct run *r, const void *data, size_t len)
{
	struct mios_fail fail;

	if (len != sizeof(fail))
		return -EPROTO;
	memcpy(&fail, data, sizeof(fail));
	fail.text[sizeof(fail.text) - 1] = '\0';
	tty_restore(r);
	mios_error(r->cmd->who, "instance %d: %s", r->cmd->instance,
		   fail.text);
	r->exit.code = fail.code & 0xff;
	r->ended = true;
	return 0;
}

static int take_exit(struct run *r, const void *data, size_t len)
{
	if (len != sizeof(r->exit))
		return -EPROTO;
	memcpy(&r->exit, data, sizeof(r->exit));
	r->ended = true;
	return 0;
}

static struct mios_sink *sink_of(struct run *r, int stream)
{
	return stream == 1 ? &r->out : stream == 2 ? &r->err : NULL;
}

static int take_frame(struct run *r, const struct mios_frame *f,
		      const void *data)
{
	struct mios_sink *sink = sink_of(r, f->stream);

	switch (f->type) {
	case MIOS_FRAME_STARTED:
		r->started = true;
		return 0;
	case MIOS_FRAME_DATA:
		return sink ? sink_data(sink, data, f->len) : -EPROTO;
	case MIOS_FRAME_EOF:
		if (sink) {
			sink->eof = true;
		} else {
			r->in.fd = -1;	/* our writer gets SIGPIPE, too */
			close(STDIN_FILENO);
			open("/dev/null", O_RDONLY);
		}
		return 0;
	case MIOS_FRAME_CREDIT:
		return sink ? -EPROTO : source_credit(&r->in, data, f->len);
	case MIOS_FRAME_STOPPED:
		return stop_self(r);
	case MIOS_FRAME_SIGNALLED:
		r->unheard = 0;
		return 0;
	case MIOS_FRAME_EXIT:
		return take_exit(r, data, f->len);
	case MIOS_FRAME_FAIL:
		return take_fail(r, data, f->len);
	}
	return -EPROTO;
}

static int take_frames(struct run *r)
{
	struct mios_frame f;
	const void *data;
	int err;

	err = link_fill(&r->link);
	while (!err && !r->ended) {
		err = link_next(&r->link, &f, &data);
		if (err <= 0)
			break;
		err = take_frame(r, &f, data);
	}
	if (!err && r->link.ended && !r->ended)
		err = -ECONNRESET;
	return err;
}

/* Once: the command gets SIGPIPE. */
static void output_lost(struct run *r, const char *what, int err)
{
	r->lost = true;
	tty_restore(r);
	mios_error(r->cmd->who, "cannot write %s: %s", what, strerror(-err));
}

static int pump_output(struct run *r)
{
	int err = sink_pump(&r->out, &r->link);

	if (err == -EPIPE)
		r->unread = r->cmd->tty;
	else if (err && !sink_open(&r->out))
		output_lost(r, "standard output", err);
	return 0;
}

static void arm(struct pollfd *p, int fd, short events)
{
	p->fd = events ? fd : -1;
	p->events = events;
	p->revents = 0;
}

static int step(struct run *r)
{
	struct pollfd p[6];
	int n, err = 0;

	arm(&p[0], r->link.fd, r->ended ? 0 : link_events(&r->link));
	arm(&p[1], source_poll(&r->in),
	    source_may_read(&r->in) && !r->ended ? POLLIN : 0);
	arm(&p[2], r->out.fd, sink_ready(&r->out) ? POLLOUT : 0);
	arm(&p[3], r->err.fd, sink_ready(&r->err) ? POLLOUT : 0);
	arm(&p[4], r->signals, POLLIN);
	arm(&p[5], r->watch.fd, POLLPRI);
	n = poll(p, 6, TICK_MS);
	if (n < 0)
		return errno == EINTR ? 0 : -errno;
	if ((!n || p[5].revents) && !r->ended && watch_lost(&r->watch))
		return -EHOSTDOWN;
	if (p[0].revents)
		err = take_frames(r);
	if (!err && p[1].revents)
		err = source_pump(&r->in, &r->link);
	if (!err && p[2].revents)
		err = pump_output(r);
	if (!err && p[3].revents && sink_pump(&r->err, &r->link) &&
	    !sink_open(&r->err))
		r->lost = true;		/* and nowhere to say so */
	if (!err && p[4].revents)
		err = forward_signals(r);
	if (!err && !r->ended)
		link_push(&r->link);
	return err;
}

static int loop(struct run *r)
{
	int64_t limit = mios_now_ms() + FIRST_ANSWER_MS;
	int err = 0;

	while (!err && !r->unread &&
	       (!r->ended || sink_ready(&r->out) || sink_ready(&r->err))) {
		err = step(r);
		if (!err && !r->started && !r->ended && mios_now_ms() > limit)
			err = -ETIMEDOUT;
		if (!err && !r->ended && is_unheard(r))
			err = -EINTR;
	}
	return err;
}

/* End as the command ended, so that our parent sees the truth. */
static int end_like(const struct mios_exit *x)
{
	struct rlimit none = { 0, 0 };
	sigset_t set;

	if (!x->signal || x->signal > 64)
		return x->code & 0xff;
	setrlimit(RLIMIT_CORE, &none);
	signal(x->signal, SIG_DFL);
	sigemptyset(&set);
	sigaddset(&set, x->signal);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	raise(x->signal);
	return 128 + x->signal;
}

static void explain(struct run *r, int err)
{
	const char *lost = watch_lost(&r->watch);

	if (err == -EINTR)
		mios_error(r->cmd->who, "instance %d does not answer: the "
			   "command there may go on for a while",
			   r->cmd->instance);
	else if (lost)
		mios_error(r->cmd->who, "instance %d %s: the command there "
			   "has ended with it (mios log %d tells more)",
			   r->cmd->instance, lost, r->cmd->instance);
	else
		mios_error(r->cmd->who, "lost the connection to instance %d "
			   "(%s): the command there is killed",
			   r->cmd->instance, strerror(-err));
}

/* Whoever closes first keeps the port for a minute: leave it to the peer. */
static void let_peer_close(struct mios_link *l)
{
	struct pollfd p = { .fd = l->fd, .events = POLLIN };
	int i;

	for (i = 0; i < 4 && !l->ended && poll(&p, 1, 100) > 0; i++)
		if (link_fill(l))
			break;
	link_close(l);
}

static uint32_t spec_flags(const struct client_command *cmd)
{
	uint32_t flags = cmd->login ? MIOS_SPEC_LINGER | MIOS_SPEC_HOME : 0;

	if (cmd->tty)
		flags |= MIOS_SPEC_TTY;
	if (!isatty(STDIN_FILENO))
		flags |= MIOS_SPEC_STDIN;
	if (!isatty(STDERR_FILENO))
		flags |= MIOS_SPEC_STDERR;
	return flags;
}

/* Connected, and said what to run; else it has said why not. */
static int start(struct run *r)
{
	const struct client_command *cmd = r->cmd;
	char why[MIOS_TEXT_LEN];
	int err;

	err = client_connect(cmd->instance, MIOS_OP_EXEC, cmd->cpus, &r->link,
			     why, sizeof(why));
	if (err < 0) {
		mios_error(cmd->who, "%s", why);
		return err;
	}
	watch_open(&r->watch, cmd->instance);
	r->signals = client_signals();
	source_look(&r->in, STDIN_FILENO, 0);
	sink_init(&r->out, STDOUT_FILENO, 1);
	sink_init(&r->err, STDERR_FILENO, 2);
	r->terminal = isatty(STDIN_FILENO) ? STDIN_FILENO : STDOUT_FILENO;
	err = client_send_spec(&r->link, spec_flags(cmd), cmd->argv, cmd->envp,
			       r->terminal);
	if (err)
		mios_error(cmd->who, "cannot send the command: %s",
			   client_why(err));
	return err;
}

/* Returns the exit status, or ends this process by the command's signal. */
int client_run(const struct client_command *cmd)
{
	struct run r = { .cmd = cmd };
	int err;

	if (start(&r))
		return STATUS_LOST;
	if (cmd->tty)	/* tty_restore() comes first */
		signal(SIGPIPE, SIG_IGN);
	tty_raw(&r);
	err = loop(&r);
	tty_restore(&r);
	if (r.unread)
		return end_like(&(struct mios_exit){ .signal = SIGPIPE });
	if (err)
		explain(&r, err);
	if (err == -EINTR)
		return end_like(&(struct mios_exit){ .signal = r.unheard });
	if (err)
		return STATUS_LOST;
	let_peer_close(&r.link);
	if (r.lost && !r.exit.code &&
	    (!r.exit.signal || r.exit.signal == SIGPIPE))
		return STATUS_LOST;
	return end_like(&r.exit);
}
