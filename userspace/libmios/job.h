/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A job: tasks on several instances under one caller.
 */
#ifndef LIBMIOS_JOB_H
#define LIBMIOS_JOB_H

#include "client.h"

struct job_task {
	int instance;
	unsigned int rank, local_rank, local_size;
	unsigned int cpus;		/* to bind, 0: do not */
	struct mios_link link;
	struct mios_source in;		/* rank 0 reads our input */
	struct mios_watch *watch;	/* one for all tasks there */
	struct mios_buffer line[2];	/* of 1 and 2: not put out yet */
	int64_t said[2];		/* ms: when the last of that came */
	uint32_t owed[2];		/* of credit */
	bool open, started, ended;
	struct mios_exit exit;
};

struct job {
	struct job_task *tasks;
	unsigned int nr_tasks;
	bool label;			/* lines begin with [rank] */
	bool one;			/* they are parts of one program */
	bool images;			/* of one that may do without some */
	char **argv;
	struct mios_watch watches[MIOS_MAX_INSTANCES];
	uint64_t watched;		/* bit per instance: it is watched */
	struct mios_buffer out[2];	/* for our 1 and 2, which may be full */
	struct job_task *unfinished[2];	/* whose line ends them, without its end */
	/* how it ended */
	int status;			/* of the first failure */
	bool failed, hung_up, signalled;
	uint32_t forwarded;		/* the last signal, to one program */
	int signals;
	int64_t deadline;		/* ms; then the rest is killed */
};

/* job.c APIs: */
int job_run(struct job *job);

/* job_lines.c APIs; @stream: 1 or 2.  0 or -ENOMEM. */
int job_lines(struct job *job, struct job_task *t, int stream);
void job_lines_late(struct job *job);
int job_pay(struct job *job, struct job_task *t, int stream);
void __attribute__((format(printf, 2, 3)))
job_say(struct job *job, const char *fmt, ...);

#endif /* LIBMIOS_JOB_H */
