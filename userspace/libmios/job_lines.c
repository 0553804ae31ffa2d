// SPDX-License-Identifier: GPL-2.0
/*
 * Output of a job's tasks, merged line by line.  A line of any length stays whole:
 * the others wait while it is written.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "job.h"

#define LONG_LINE	65536	/* more of a line is not waited for */
#define PROMPT_MS	500	/* nor when so long nothing has followed */
#define BREAK_MS	3000	/* and then others need not wait for its end */
#define OUT_ENOUGH	262144	/* waiting for our reader, of all tasks */

/* A line, or a part of one that goes on where the last part ended. */
static int put_text(struct job *job, struct job_task *t, int stream,
		    const unsigned char *data, size_t len)
{
	struct job_task **unfinished = &job->unfinished[stream - 1];
	struct mios_buffer *out = &job->out[stream - 1];
	char label[16] = "";
	int err = 0;

	if (*unfinished && *unfinished != t)
		err = buffer_add(out, "\n", 1);
	if (job->label && *unfinished != t)
		snprintf(label, sizeof(label), "[%u] ", t->rank);
	*unfinished = data[len - 1] == '\n' ? NULL : t;
	if (!err)
		err = buffer_add(out, label, strlen(label));
	return err ?: buffer_add(out, data, len);
}

static bool is_quiet(const struct job_task *t, int stream, int64_t ms)
{
	return mios_now_ms() - t->said[stream - 1] >= ms;
}

/* Another task is in the middle of its line, which is not broken by ours. */
static bool must_wait(const struct job *job, const struct job_task *t,
		      int stream)
{
	const struct job_task *other = job->unfinished[stream - 1];

	return other && other != t && other->open &&
	       !is_quiet(other, stream, BREAK_MS);
}

/* A prompt, a line that is long, or the rest of one that was begun. */
static bool goes_out_unfinished(const struct job *job, const struct job_task *t,
				int stream)
{
	return job->nr_tasks == 1 || t->ended || job->unfinished[stream - 1] == t ||
	       t->line[stream - 1].len >= LONG_LINE ||
	       is_quiet(t, stream, PROMPT_MS);
}

/* Whole lines go out at once. */
int job_lines(struct job *job, struct job_task *t, int stream)
{
	struct mios_buffer *b = &t->line[stream - 1];
	unsigned char *start, *nl;
	size_t n;

	while (b->len && !must_wait(job, t, stream)) {
		start = b->data + b->start;
		nl = memchr(start, '\n', b->len);
		if (!nl && !goes_out_unfinished(job, t, stream))
			break;
		n = nl ? (size_t)(nl - start) + 1 : b->len;
		if (put_text(job, t, stream, start, n))
			return -ENOMEM;
		buffer_drop(b, n);
	}
	return 0;
}

/* A task whose output waits for our reader, or others, gets no credit for more. */
int job_pay(struct job *job, struct job_task *t, int stream)
{
	uint32_t owed = t->owed[stream - 1];

	if (!owed || !t->open || job->out[stream - 1].len > OUT_ENOUGH ||
	    t->line[stream - 1].len > OUT_ENOUGH)
		return 0;
	t->owed[stream - 1] = 0;
	return link_send(&t->link, MIOS_FRAME_CREDIT, stream, &owed,
			 sizeof(owed));
}

/* What had to wait, or has been quiet since. */
void job_lines_late(struct job *job)
{
	struct job_task *t;
	int stream;

	for (t = job->tasks; t < job->tasks + job->nr_tasks; t++) {
		for (stream = 1; stream <= 2; stream++) {
			job_lines(job, t, stream);
			job_pay(job, t, stream);
		}
	}
}

/* A line of our own, behind what the tasks have said. */
void job_say(struct job *job, const char *fmt, ...)
{
	char text[MIOS_TEXT_LEN + 128];
	va_list args;
	int len;

	va_start(args, fmt);
	len = vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	if (len <= 0)
		return;
	if (job->unfinished[1])
		buffer_add(&job->out[1], "\n", 1);
	job->unfinished[1] = NULL;
	buffer_add(&job->out[1], text, strlen(text));
}
