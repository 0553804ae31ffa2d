// SPDX-License-Identifier: GPL-2.0
/*
 * Sessions that this process does not attend: a command that goes on by itself
 * on its instance, and one whose output is collected, of several instances at
 * once, or what their miosds report.  For mios exec --detach, mios ps and mios top.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client.h"

#define START_MS	90000	/* slow files on the other side included */
#define LOOK_MS		500	/* a death, and a signal, is seen by looking */
#define MAX_OUTPUT	(64u << 20)
#define STATUS_LOST	125	/* not the command's own */

static void say_why(struct unattended *u, const char *why)
{
	snprintf(u->why, sizeof(u->why), "instance %d: %s", u->instance, why);
}

/* There it is: says what to run, unless it is a report. */
static int take_session(struct unattended *u)
{
	char why[MIOS_TEXT_LEN];
	int err;

	err = client_reply(u->asked, &u->link, why, sizeof(why));
	u->asked = -1;
	if (err) {
		u->link.fd = -1;	/* it was not made */
		snprintf(u->why, sizeof(u->why), "%s", why);
		return err;
	}
	if (!u->argv)
		return 0;
	err = client_send_spec(&u->link, u->flags | MIOS_SPEC_STDIN |
			       MIOS_SPEC_STDERR, u->argv, environ, -1);
	if (!err)	/* it has nothing to read */
		err = link_send(&u->link, MIOS_FRAME_EOF, 0, NULL, 0);
	if (err)
		say_why(u, client_why(err));
	return err;
}

static int take_started(struct unattended *u, const void *data, size_t len)
{
	struct mios_started st;

	if (len != sizeof(st))
		return -EPROTO;
	memcpy(&st, data, sizeof(st));
	u->pid = st.pid;
	return 0;
}

static int take_fail(struct unattended *u, const void *data, size_t len)
{
	struct mios_fail fail;

	if (len != sizeof(fail))
		return -EPROTO;
	memcpy(&fail, data, sizeof(fail));
	fail.text[sizeof(fail.text) - 1] = '\0';
	say_why(u, fail.text);
	u->status = fail.code & 0xff;
	u->ended = true;
	return -ECANCELED;
}

static int take_exit(struct unattended *u, const void *data, size_t len)
{
	struct mios_exit exit;

	if (len != sizeof(exit))
		return -EPROTO;
	memcpy(&exit, data, sizeof(exit));
	u->status = exit.signal ? 128 + exit.signal : exit.code & 0xff;
	u->ended = true;
	return 0;
}

/* Takes what it has printed, and lets it print as much again. */
static int take_data(struct unattended *u, int stream, const void *data,
		     uint32_t len)
{
	struct mios_buffer *b = stream == 1 ? &u->out : &u->err;
	int err;

	if ((stream != 1 && stream != 2) || len > MIOS_FRAME_MAX)
		return -EPROTO;
	if (stream == 1 && u->to) {
		u->deadline = mios_now_ms() + u->ms;
		err = fwrite(data, 1, len, u->to) == len ? 0 : -errno;
	} else {
		err = b->len + len > MAX_OUTPUT ? -EFBIG :
		      buffer_add(b, data, len);
	}
	return err ?: link_send(&u->link, MIOS_FRAME_CREDIT, stream, &len,
				sizeof(len));
}

static int take_task(struct unattended *u, const void *data, size_t len)
{
	if (u->argv || len != sizeof(struct mios_task))
		return -EPROTO;
	return u->out.len + len > MAX_OUTPUT ? -EFBIG :
	       buffer_add(&u->out, data, len);
}

static int take_frame(struct unattended *u, const struct mios_frame *f,
		      const void *data)
{
	switch (f->type) {
	case MIOS_FRAME_TASK:
		return take_task(u, data, f->len);
	case MIOS_FRAME_STARTED:
		return take_started(u, data, f->len);
	case MIOS_FRAME_DETACHED:
		u->detached = true;
		u->ended = true;
		return take_started(u, data, f->len);
	case MIOS_FRAME_DATA:
		return take_data(u, f->stream, data, f->len);
	case MIOS_FRAME_EOF:
	case MIOS_FRAME_CREDIT:
	case MIOS_FRAME_STOPPED:
		return 0;
	case MIOS_FRAME_EXIT:
		return take_exit(u, data, f->len);
	case MIOS_FRAME_FAIL:
		return take_fail(u, data, f->len);
	}
	return -EPROTO;
}

static int take_frames(struct unattended *u)
{
	struct mios_frame f;
	const void *data;
	int err;

	err = link_fill(&u->link);
	while (!err && !u->ended) {
		err = link_next(&u->link, &f, &data);
		if (err <= 0)
			break;
		err = take_frame(u, &f, data);
	}
	if (err || u->ended)
		return err;
	if (u->link.ended)
		return -ECONNRESET;
	/* The other side may have said all, and have gone: that is read first. */
	link_push(&u->link);
	return 0;
}

/* Over, by @err; the first line about it stays. */
static void finish(struct unattended *u, int err)
{
	const char *lost = watch_lost(&u->watch);
	char why[MIOS_TEXT_LEN];

	if (err && !u->why[0]) {
		snprintf(why, sizeof(why), "%s", lost ?: err == -ETIMEDOUT ?
			 "no answer in time" : err == -EINTR ? "interrupted" :
			 strerror(-err));
		say_why(u, why);
	}
	u->error = err;
	u->ended = true;
	if (u->asked >= 0)
		close(u->asked);
	u->asked = -1;
	link_close(&u->link);
	if (u->watch.fd >= 0)
		close(u->watch.fd);
	u->watch.fd = -1;
}

/* By what the caller has blocked, so that he can end in order. */
static bool interrupted(void)
{
	sigset_t set;
	int sig;

	if (sigpending(&set))
		return false;
	for (sig = 1; sig < NSIG; sig++)
		if (mios_ends(sig) && sigismember(&set, sig) == 1)
			return true;
	return false;
}

/* Asks for a session, within @ms; u->error and u->why say if that fails. */
static void ask(struct unattended *u, int op, unsigned int ms)
{
	char why[MIOS_TEXT_LEN];

	u->link.fd = -1;
	u->ms = ms;
	u->deadline = mios_now_ms() + ms;
	/* Before, so that the session is of this boot or a later one. */
	watch_open(&u->watch, u->instance);
	u->asked = client_request(u->instance, op, 0, why, sizeof(why));
	if (u->asked >= 0)
		return;
	snprintf(u->why, sizeof(u->why), "%s", why);
	finish(u, u->asked);
}

/* What has come of one, if anything has. */
static int advance(struct unattended *u, bool came)
{
	int err = 0;

	if (came)
		err = u->asked >= 0 ? take_session(u) : take_frames(u);
	if (err || u->ended)
		return err;
	/* Of one that is not there miosd says more. */
	if (u->asked < 0 && watch_lost(&u->watch))
		return -EHOSTDOWN;
	if (interrupted())
		return -EINTR;
	return mios_now_ms() < u->deadline ? 0 : -ETIMEDOUT;
}

/* One round for all that have not ended: 0 when none is left. */
static int step(struct unattended *list, unsigned int nr)
{
	struct pollfd p[MIOS_MAX_INSTANCES];
	const int64_t now = mios_now_ms();
	int64_t left = LOOK_MS;
	unsigned int i, open = 0;
	int err;

	for (i = 0; i < nr; i++) {
		struct unattended *u = &list[i];

		p[i] = (struct pollfd){ u->link.fd, link_events(&u->link), 0 };
		if (u->asked >= 0)
			p[i] = (struct pollfd){ u->asked, POLLIN, 0 };
		if (u->ended)
			continue;
		open++;
		if (u->deadline - now < left)
			left = u->deadline - now;
	}
	if (!open)
		return 0;
	if (left > 0)
		poll(p, nr, left);
	for (i = 0; i < nr; i++) {
		if (list[i].ended)
			continue;
		err = advance(&list[i], p[i].revents);
		if (err || list[i].ended)
			finish(&list[i], err);
	}
	return 1;
}

/* All at once, so that one which answers late costs the others nothing. */
static void run(struct unattended *list, unsigned int nr, int op, unsigned int ms)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		ask(&list[i], op, ms);
	while (step(list, nr))
		;
}

/**
 * unattended_run() - run a command on instances, collecting what it prints
 * @list: for each its instance is filled in; the rest is the result
 * @nr: how many, at most MIOS_MAX_INSTANCES
 * @argv: of each its own, ended by NULL
 * @ms: after that long, from now, the rest is given up, and its command killed
 *
 * Whatever happens to one, the others' results are there: where u->error is not
 * 0, u->why has a line.  Each is freed by unattended_free().  Of one that prints to
 * a file, u->to, @ms counts from what has come last, and there is no limit but the
 * file's.  A signal that would end the caller, and that he has blocked, ends all.
 */
void unattended_run(struct unattended *list, unsigned int nr, char ***argv,
		    unsigned int ms)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		list[i].argv = argv[i];
	run(list, nr, MIOS_OP_EXEC, ms);
}

/* The same for what runs there: u->out is an array of struct mios_task. */
void unattended_report(struct unattended *list, unsigned int nr, unsigned int ms)
{
	run(list, nr, MIOS_OP_TOP, ms);
}

/**
 * unattended_detach() - start a command that goes on without this process
 * @u: its instance is filled in; u->pid is the command's then
 *
 * Return: 0, or -errno with a line in u->why and the exit status in u->status.
 */
int unattended_detach(struct unattended *u, char **argv)
{
	u->status = STATUS_LOST;
	u->argv = argv;
	u->flags = MIOS_SPEC_DETACH | MIOS_SPEC_LINGER;
	ask(u, MIOS_OP_EXEC, START_MS);
	while (step(u, 1))
		if (u->pid && !u->detached) {
			say_why(u, "its miosd is older than this command, and "
				"ends what it starts with the session: restart "
				"the instance");
			u->status = STATUS_LOST;
			finish(u, -EOPNOTSUPP);
		}
	return u->error;
}

void unattended_free(struct unattended *u)
{
	buffer_free(&u->out);
	buffer_free(&u->err);
}
