// SPDX-License-Identifier: GPL-2.0
/*
 * Sessions that this process does not attend: a command that goes on by itself
 * on its instance, and one whose output is collected, of several instances at
 * once.  For mios exec --detach and mios ps.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client.h"

#define START_MS	90000	/* slow files on the other side included */
#define MAX_OUTPUT	(64u << 20)
#define STATUS_LOST	125	/* not the command's own */

static void say_why(struct unattended *u, const char *why)
{
	snprintf(u->why, sizeof(u->why), "instance %d: %s", u->instance, why);
}

/* Connects, and says what to run; u->why has the line if that fails. */
static int start(struct unattended *u, uint32_t flags, char **argv)
{
	char why[MIOS_TEXT_LEN];
	int err;

	u->link.fd = u->watch.fd = -1;
	err = client_connect(u->instance, MIOS_OP_EXEC, 0, &u->link, why,
			     sizeof(why));
	if (err) {
		u->link.fd = -1;	/* it was not made */
		snprintf(u->why, sizeof(u->why), "%s", why);
		return err;
	}
	watch_open(&u->watch, u->instance);
	err = client_send_spec(&u->link, flags | MIOS_SPEC_STDIN |
			       MIOS_SPEC_STDERR, argv, environ, -1);
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
	if (b->len + len > MAX_OUTPUT)
		return -EFBIG;
	err = buffer_add(b, data, len);
	return err ?: link_send(&u->link, MIOS_FRAME_CREDIT, stream, &len,
				sizeof(len));
}

static int take_frame(struct unattended *u, const struct mios_frame *f,
		      const void *data)
{
	switch (f->type) {
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
			 "no answer in time" : strerror(-err));
		say_why(u, why);
	}
	u->error = err;
	u->ended = true;
	link_close(&u->link);
	if (u->watch.fd >= 0)
		close(u->watch.fd);
	u->watch.fd = -1;
}

/* One round for all that have not ended: 0 when none is left. */
static int step(struct unattended *list, unsigned int nr, int64_t deadline)
{
	struct pollfd p[MIOS_MAX_INSTANCES];
	int64_t left = deadline - mios_now_ms();
	unsigned int i, open = 0;
	int err;

	for (i = 0; i < nr; i++) {
		p[i] = (struct pollfd){ list[i].link.fd,
					link_events(&list[i].link), 0 };
		open += !list[i].ended;
	}
	if (!open)
		return 0;
	/* A death is seen by looking. */
	if (left > 0)
		poll(p, nr, left < 500 ? left : 500);
	for (i = 0; i < nr; i++) {
		if (list[i].ended)
			continue;
		err = p[i].revents ? take_frames(&list[i]) : 0;
		if (!err && !list[i].ended && watch_lost(&list[i].watch))
			err = -EHOSTDOWN;
		if (!err && !list[i].ended && left <= 0)
			err = -ETIMEDOUT;
		if (err || list[i].ended)
			finish(&list[i], err);
	}
	return 1;
}

/**
 * unattended_run() - run a command on instances, collecting what it prints
 * @list: for each its instance is filled in; the rest is the result
 * @nr: how many, at most MIOS_MAX_INSTANCES
 * @argv: of each its own, ended by NULL
 * @ms: after that long the rest is given up, and its command killed
 *
 * Whatever happens to one, the others' results are there: where u->error is not
 * 0, u->why has a line.  Each is freed by unattended_free().
 */
void unattended_run(struct unattended *list, unsigned int nr, char ***argv,
		    unsigned int ms)
{
	int64_t deadline;
	unsigned int i;
	int err;

	for (i = 0; i < nr; i++) {
		err = start(&list[i], 0, argv[i]);
		if (err)
			finish(&list[i], err);
	}
	deadline = mios_now_ms() + ms;
	while (step(list, nr, deadline))
		;
}

/**
 * unattended_detach() - start a command that goes on without this process
 * @u: its instance is filled in; u->pid is the command's then
 *
 * Return: 0, or -errno with a line in u->why and the exit status in u->status.
 */
int unattended_detach(struct unattended *u, char **argv)
{
	int64_t deadline = mios_now_ms() + START_MS;
	int err;

	u->status = STATUS_LOST;
	err = start(u, MIOS_SPEC_DETACH | MIOS_SPEC_LINGER, argv);
	if (err)
		finish(u, err);
	while (step(u, 1, deadline))
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
