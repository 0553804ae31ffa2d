// SPDX-License-Identifier: GPL-2.0
/*
 * Runs the tasks of a job: one session each, output merged (job_lines.c),
 * signals to all of them.  The first failure ends the others; a signal that
 * does not end them within seconds is followed by a kill.
 */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "job.h"

#define WHO		"mios: run"
#define STATUS_LOST	125	/* not the task's own */
#define TICK_MS		500
#define GRACE_MS	2000	/* between a signal and the kill */

static void hang_up(struct job_task *t)
{
	if (t->open)
		link_close(&t->link);
	t->open = false;
	t->ended = true;
}

static void hang_up_all(struct job *job)
{
	unsigned int i;

	job->hung_up = true;
	for (i = 0; i < job->nr_tasks; i++)
		hang_up(&job->tasks[i]);
}

static void signal_all(struct job *job, uint32_t sig)
{
	unsigned int i;

	for (i = 0; i < job->nr_tasks; i++)
		if (job->tasks[i].open && !job->tasks[i].ended)
			link_send(&job->tasks[i].link, MIOS_FRAME_SIGNAL, 0,
				  &sig, sizeof(sig));
}

/* The first failure decides the status; the rest has some time to end. */
static void fail_quietly(struct job *job, int status)
{
	job->failed = true;
	if (!job->status)
		job->status = status;
	job->deadline = mios_now_ms() + GRACE_MS;
}

/* The others are asked to end. */
static void fail(struct job *job, int status)
{
	if (job->failed)
		return;
	fail_quietly(job, status);
	signal_all(job, SIGTERM);
}

/*
 * Its reader has gone, or there is no room for it: nothing more is worth doing,
 * as for any program that writes there.
 */
static void output_lost(struct job *job, int stream, int err)
{
	buffer_drop(&job->out[stream - 1], job->out[stream - 1].len);
	if (err != EPIPE && !job->failed)
		job_say(job, WHO ": cannot write %s: %s\n", stream == 1 ?
			"standard output" : "standard error", strerror(err));
	fail(job, err == EPIPE ? 128 + SIGPIPE : STATUS_LOST);
}

/* Write once; the caller has polled. */
static void write_out(struct job *job, int stream)
{
	struct mios_buffer *out = &job->out[stream - 1];
	unsigned int i;
	ssize_t n;

	n = write(stream, out->data + out->start,
		  out->len < PIPE_BUF ? out->len : PIPE_BUF);
	if (n > 0)
		buffer_drop(out, n);
	else if (n < 0 && errno != EAGAIN && errno != EINTR)
		output_lost(job, stream, errno);
	for (i = 0; i < job->nr_tasks; i++)
		job_pay(job, &job->tasks[i], stream);
}

static const char *noun(const struct job *job)
{
	return job->one ? "process" : job->images ? "image" : "task";
}

/* As the program counts them. */
static unsigned int number(const struct job *job, const struct job_task *t)
{
	return t->rank + job->images;
}

/* Images that need one which has died end themselves. */
static void fail_alone(struct job *job, const struct job_task *t, int status)
{
	if (!job->images || !t->started)
		fail(job, status);
	else if (!job->status)
		job->status = status;
}

static void say_end(struct job *job, const struct job_task *t)
{
	if (t->exit.signal && t->exit.signal != job->forwarded)
		job_say(job, WHO ": %s %u on instance %d was ended by signal "
			"%u (%s)\n", noun(job), number(job, t), t->instance,
			t->exit.signal, strsignal(t->exit.signal));
	else if (t->exit.code && !job->one && !job->status)
		job_say(job, WHO ": %s %u on instance %d exited with %u\n",
			noun(job), number(job, t), t->instance,
			t->exit.code & 0xff);
}

/* When a part of one program has ended, the others are about to. */
static void task_ended(struct job *job, struct job_task *t)
{
	int status = t->exit.signal ? 128 + (int)t->exit.signal :
		     (int)(t->exit.code & 0xff);

	t->ended = true;
	job_lines(job, t, 1);
	job_lines(job, t, 2);
	if (!job->failed)
		say_end(job, t);
	if (job->one && !job->failed && !t->exit.signal)
		fail_quietly(job, status);
	else if (t->exit.signal)
		fail_alone(job, t, status);
	else if (status)
		fail(job, status);
	hang_up(t);
}

static void task_lost(struct job *job, struct job_task *t, int status,
		      const char *colon, const char *why)
{
	if (!job->failed)
		job_say(job, WHO ": %s %u: instance %d%s %s\n", noun(job),
			number(job, t), t->instance, colon, why);
	t->exit.code = status;
	fail_alone(job, t, status);
	hang_up(t);
}

static int take_output(struct job *job, struct job_task *t,
		       const struct mios_frame *f, const void *data)
{
	if (f->stream != 1 && f->stream != 2)
		return -EPROTO;
	t->owed[f->stream - 1] += f->len;
	t->said[f->stream - 1] = mios_now_ms();
	return buffer_add(&t->line[f->stream - 1], data, f->len) ?:
	       job_lines(job, t, f->stream) ?: job_pay(job, t, f->stream);
}

static int take_frame(struct job *job, struct job_task *t,
		      const struct mios_frame *f, const void *data)
{
	struct mios_fail text;

	switch (f->type) {
	case MIOS_FRAME_STARTED:
		t->started = true;
		return 0;
	case MIOS_FRAME_STOPPED:
	case MIOS_FRAME_SIGNALLED:
		return 0;
	case MIOS_FRAME_DATA:
		return take_output(job, t, f, data);
	case MIOS_FRAME_EOF:
		if (!f->stream)
			t->in.fd = -1;
		return 0;
	case MIOS_FRAME_CREDIT:
		return f->stream ? -EPROTO :
		       source_credit(&t->in, data, f->len);
	case MIOS_FRAME_EXIT:
		if (f->len != sizeof(t->exit))
			return -EPROTO;
		memcpy(&t->exit, data, f->len);
		task_ended(job, t);
		return 0;
	case MIOS_FRAME_FAIL:
		if (f->len != sizeof(text))
			return -EPROTO;
		memcpy(&text, data, f->len);
		text.text[sizeof(text.text) - 1] = '\0';
		task_lost(job, t, text.code & 0xff, ":", text.text);
		return 0;
	}
	return -EPROTO;
}

static void serve_task(struct job *job, struct job_task *t)
{
	struct mios_frame f;
	const void *data;
	int err;

	err = link_fill(&t->link);
	while (!err && t->open) {
		err = link_next(&t->link, &f, &data);
		if (err <= 0)
			break;
		err = take_frame(job, t, &f, data);
	}
	if (t->open && (err < 0 || t->link.ended))
		task_lost(job, t, STATUS_LOST, "", watch_lost(t->watch) ?
			  "has died" : "closed the connection");
}

/* One program's first process has its handlers; all of it stops together. */
static void forward_to_one(struct job *job, uint32_t sig)
{
	struct job_task *t = &job->tasks[0];

	job->forwarded = sig;
	if (sig == SIGTSTP || sig == SIGCONT)
		signal_all(job, sig);
	else if (t->open)
		link_send(&t->link, MIOS_FRAME_SIGNAL, 0, &sig, sizeof(sig));
}

/* ^C and its like go to every task, and a second later nobody lives. */
static void forward_to_all(struct job *job, uint32_t sig)
{
	signal_all(job, sig);
	if (!mios_ends(sig))
		return;
	fail_quietly(job, 128 + sig);
	job->signalled = true;
}

static void forward_signals(struct job *job)
{
	struct signalfd_siginfo si;
	unsigned int i;
	uint32_t sig;

	while (read(job->signals, &si, sizeof(si)) == sizeof(si)) {
		sig = si.ssi_signo;
		if (sig == SIGWINCH)
			continue;
		if (job->one)
			forward_to_one(job, sig);
		else
			forward_to_all(job, sig);
		for (i = 0; sig == SIGTSTP && i < job->nr_tasks; i++)
			if (job->tasks[i].open)
				link_flush(&job->tasks[i].link);
		if (sig == SIGTSTP)
			raise(SIGSTOP);
	}
}

static void look_for_dead(struct job *job)
{
	const char *lost;
	unsigned int i;

	for (i = 0; i < job->nr_tasks; i++) {
		if (!job->tasks[i].open)
			continue;
		lost = watch_lost(job->tasks[i].watch);
		if (lost)
			task_lost(job, &job->tasks[i], STATUS_LOST, "", lost);
	}
}

static int step(struct job *job, struct pollfd *p)
{
	unsigned int i, n = job->nr_tasks;
	struct job_task *t;
	int ready;

	for (i = 0; i < n; i++) {
		t = &job->tasks[i];
		p[i] = (struct pollfd){ t->open ? t->link.fd : -1,
					t->open ? link_events(&t->link) : 0,
					0 };
	}
	p[n] = (struct pollfd){ job->signals, POLLIN, 0 };
	t = &job->tasks[0];
	p[n + 1] = (struct pollfd){ t->open && source_may_read(&t->in) ?
				    source_poll(&t->in) : -1, POLLIN, 0 };
	for (i = 0; i < 2; i++)
		p[n + 2 + i] = (struct pollfd){ job->out[i].len ? (int)i + 1 :
						-1, POLLOUT, 0 };
	ready = poll(p, n + 4, TICK_MS);
	if (ready < 0)
		return errno == EINTR ? 0 : -errno;
	for (i = 0; i < n; i++)
		if (job->tasks[i].open && p[i].revents)
			serve_task(job, &job->tasks[i]);
	if (t->open && p[n + 1].revents)
		source_pump(&t->in, &t->link);
	for (i = 0; i < 2; i++)
		if (p[n + 2 + i].revents)
			write_out(job, i + 1);
	if (p[n].revents)
		forward_signals(job);
	if (!ready)
		look_for_dead(job);
	job_lines_late(job);
	for (i = 0; i < n; i++)
		if (job->tasks[i].open)
			link_push(&job->tasks[i].link);
	return 0;
}

/* Tasks, or output that nobody has read yet? */
static bool goes_on(const struct job *job)
{
	unsigned int i;

	for (i = 0; i < job->nr_tasks; i++)
		if (job->tasks[i].open || job->tasks[i].line[0].len ||
		    job->tasks[i].line[1].len)
			return true;
	return job->out[0].len || job->out[1].len;
}

static int set_number(const char *name, unsigned int value)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", value);
	return setenv(name, text, 1) ? -ENOMEM : 0;
}

static int set_variables(const struct job *job, const struct job_task *t)
{
	if (set_number("MIOS_RANK", t->rank) ||
	    set_number("MIOS_SIZE", job->nr_tasks) ||
	    set_number("MIOS_LOCAL_RANK", t->local_rank) ||
	    set_number("MIOS_LOCAL_SIZE", t->local_size) ||
	    set_number("MIOS_INSTANCE", t->instance))
		return -ENOMEM;
	return 0;
}

static int start_task(struct job *job, struct job_task *t)
{
	char why[MIOS_TEXT_LEN];
	int err;

	err = set_variables(job, t);
	if (err)
		return err;
	err = client_connect(t->instance, MIOS_OP_EXEC, t->cpus, &t->link,
			     why, sizeof(why));
	if (err) {
		mios_error(WHO, "%s %u: %s", noun(job), number(job, t), why);
		return err;
	}
	t->open = true;
	t->watch = &job->watches[t->instance];
	if (!(job->watched & 1ull << t->instance))
		watch_open(t->watch, t->instance);
	job->watched |= 1ull << t->instance;
	if (t->rank)
		source_init(&t->in, -1, 0);
	else
		source_look(&t->in, STDIN_FILENO, 0);
	err = client_send_spec(&t->link, 0, job->argv, environ, -1);
	if (!err && t->rank)
		err = link_send(&t->link, MIOS_FRAME_EOF, 0, NULL, 0);
	if (!err)	/* now: the others take their time to connect */
		link_push(&t->link);
	if (err)
		mios_error(WHO, "%s %u: cannot send the command: %s",
			   noun(job), number(job, t), client_why(err));
	return err;
}

/* Of one program no output is lost to a slow reader of ours. */
static bool is_late(struct job *job)
{
	if (!job->deadline || mios_now_ms() <= job->deadline)
		return false;
	if (!job->one || (!job->out[0].len && !job->out[1].len))
		return true;
	job->deadline = mios_now_ms() + GRACE_MS;
	return false;
}

/* Returns the exit status. */
int job_run(struct job *job)
{
	struct pollfd *p = calloc(job->nr_tasks + 4, sizeof(*p));
	unsigned int i;
	int err = p ? 0 : -ENOMEM;

	job->signals = client_signals();
	for (i = 0; i < job->nr_tasks && !err; i++)
		err = start_task(job, &job->tasks[i]);
	if (err) {
		hang_up_all(job);
		return STATUS_LOST;
	}
	while (goes_on(job) && !step(job, p)) {
		if (!is_late(job))
			continue;
		hang_up_all(job);
		if (job->signalled)
			break;		/* whoever does not read */
	}
	free(p);
	return job->status;
}
