// SPDX-License-Identifier: GPL-2.0
/*
 * Fetches the sessions of an instance from its miosd, in bounded time.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client.h"
#include "report.h"

#define ANSWER_MS	15000
#define MAX_REPORTED	65536

static int add_task(struct task_report *r, const void *data, size_t len)
{
	struct mios_task *grown;

	if (len != sizeof(*grown) || r->nr_tasks == MAX_REPORTED)
		return -EPROTO;
	grown = realloc(r->tasks, (r->nr_tasks + 1) * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	r->tasks = grown;
	memcpy(&grown[r->nr_tasks], data, len);
	grown += r->nr_tasks++;
	grown->command[sizeof(grown->command) - 1] = '\0';
	mios_utf8(grown->command);
	return 0;
}

/* 1: complete; 0: more is to come. */
static int take_frames(struct mios_link *l, struct task_report *r)
{
	struct mios_frame f;
	const void *data;
	int err;

	for (;;) {
		err = link_next(l, &f, &data);
		if (err <= 0)
			return err;
		if (f.type == MIOS_FRAME_EXIT)
			return 1;
		err = f.type == MIOS_FRAME_TASK ? add_task(r, data, f.len) :
		      -EPROTO;
		if (err)
			return err;
	}
}

int report_fetch(int instance, struct task_report *r, char *why, size_t size)
{
	struct mios_link l;
	struct pollfd p;
	int err;

	memset(r, 0, sizeof(*r));
	err = client_connect(instance, MIOS_OP_TOP, 0, &l, why, size);
	if (err)
		return err;
	do {
		p = (struct pollfd){ l.fd, POLLIN, 0 };
		if (poll(&p, 1, ANSWER_MS) <= 0)
			err = -ETIMEDOUT;
		else
			err = link_fill(&l);
		if (!err)
			err = take_frames(&l, r);
	} while (!err && !l.ended);
	link_close(&l);
	if (err == 1)
		return 0;
	snprintf(why, size, "miosd on instance %d did not answer", instance);
	report_free(r);
	return err ? err : -ECONNRESET;
}

void report_free(struct task_report *r)
{
	free(r->tasks);
	memset(r, 0, sizeof(*r));
}
