// SPDX-License-Identifier: GPL-2.0
/*
 * What the tasks of a dead instance have left in a /dev/shm that all share goes
 * by "mios shm --sweep", which miosd of instance 0 starts after each end: at
 * once, and again when a job that others had with it is over.  Also when it
 * starts itself, for ends that nobody saw.  Main process only.
 */
#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "miosd.h"

#define PROGRAM	"/usr/bin/mios"

/* Seconds after the last end. */
static const unsigned int due[] = { 0, 3, 10, 30 };

#define NR_DUE	(sizeof(due) / sizeof(due[0]))

static void sweep(void)
{
	static char * const argv[] = { "mios", "shm", "--sweep", NULL };
	static char * const env[] = { NULL };
	posix_spawnattr_t how;
	sigset_t none, pipe;
	pid_t pid;
	int err;

	sigemptyset(&none);
	sigemptyset(&pipe);
	sigaddset(&pipe, SIGPIPE);
	err = posix_spawnattr_init(&how);
	if (err)
		return;
	posix_spawnattr_setsigmask(&how, &none);
	posix_spawnattr_setsigdefault(&how, &pipe);
	posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSIGMASK |
				 POSIX_SPAWN_SETSIGDEF);
	err = posix_spawn(&pid, PROGRAM, NULL, &how, argv, env);
	if (err)
		fprintf(stderr, "miosd: " PROGRAM " shm --sweep: %s\n",
			strerror(err));
	posix_spawnattr_destroy(&how);
}

/* Has a boot ended since the last look?  At the first look it may have. */
static bool has_ended(const struct ring_view *v)
{
	static unsigned int seen[MIOS_MAX_INSTANCES];
	static bool looked;
	bool ended = !looked;
	unsigned int now;
	int i;

	looked = true;
	for (i = 0; i < v->nr_instances; i++) {
		const struct mios_instance *inst = &v->instances[i];
		unsigned int *was = &seen[inst->id];

		now = mios_instance_runs(inst) ? inst->incarnation : 0;
		ended |= *was && *was != now;
		*was = now;
	}
	return ended;
}

void shm_refresh(const struct ring_view *v)
{
	static unsigned int next = NR_DUE;
	static time_t end;
	struct timespec ts;

	if (v->self)
		return;
	clock_gettime(CLOCK_MONOTONIC, &ts);
	if (has_ended(v)) {
		end = ts.tv_sec;
		next = 0;
	}
	if (next >= NR_DUE || ts.tv_sec < end + due[next])
		return;
	next++;
	if (mios_shm_is_shared() && !mios_injected("keep_segments"))
		sweep();
}
