// SPDX-License-Identifier: GPL-2.0
/*
 * mios run --omp: an OpenMP program whose team is spread over instances.  On
 * each of them one process is started, all with the same program and with our
 * libgomp (userspace/libgomp-mios), which makes one team of them.  A team that
 * fits on one instance is the distribution's libgomp.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <unistd.h>

#include "libmios/job.h"
#include "run_omp.h"

#define WHO		"mios: run"
#define STATUS		125
#define FOLDER		"/usr/lib/mios/omp"
#define PRELOADED	FOLDER "/libmios-omp.so"
#define MOST_THREADS	1024		/* of the library */

/* As OMP_NUM_THREADS says, or 0: that many CPUs as there are. */
unsigned int omp_threads(void)
{
	const char *text = getenv("OMP_NUM_THREADS");
	unsigned long n;
	char *end;

	if (!text)
		return 0;
	n = strtoul(text, &end, 10);
	end += strspn(end, " \t");
	if (n && n <= MOST_THREADS && (!*end || *end == ','))
		return n;
	mios_error(WHO, "OMP_NUM_THREADS=%.40s is not understood, and left out",
		   text);
	return 0;
}

static unsigned int processes(const struct omp_job *omp)
{
	unsigned int n = 0;
	int i;

	for (i = 0; i < omp->nr_places; i++)
		n += omp->places[i].tasks > 0;
	return n;
}

/* @word in front of what the user has there. */
static int put_first(const char *name, const char *word)
{
	const char *old = getenv(name);
	char *text;
	int err;

	if (!old || !*old)
		return setenv(name, word, 1) ? -ENOMEM : 0;
	if (asprintf(&text, "%s:%s", word, old) < 0)
		return -ENOMEM;
	err = setenv(name, text, 1) ? -ENOMEM : 0;
	free(text);
	return err;
}

/* 2,1,2 */
static int set_members(const struct omp_job *omp)
{
	char text[MIOS_MAX_INSTANCES * 5] = "";
	size_t len = 0;
	int i;

	for (i = 0; i < omp->nr_places; i++)
		if (omp->places[i].tasks)
			len += snprintf(text + len, sizeof(text) - len, "%s%u",
					len ? "," : "", omp->places[i].tasks);
	return setenv("MIOS_OMP_MEMBERS", text, 1) ? -ENOMEM : 0;
}

/* What the library reads, and takes away again (start.c there). */
static int prepare(const struct omp_job *omp, const char *window)
{
	if (set_members(omp) || setenv("MIOS_OMP_WINDOW", window, 1) ||
	    setenv("LD_BIND_NOW", "1", 1) ||
	    (omp->explain && setenv("MIOS_OMP_EXPLAIN", "1", 1)) ||
	    (omp->strict && setenv("MIOS_OMP_SHARE", "strict", 1)) ||
	    put_first("LD_PRELOAD", PRELOADED) ||
	    put_first("LD_LIBRARY_PATH", FOLDER))
		return -ENOMEM;
	/* The libraries must be at the same addresses in all. */
	if (personality(personality(0xffffffff) | ADDR_NO_RANDOMIZE) < 0)
		return -errno;
	return 0;
}

/* What the user has said of regions in a region stays. */
static int set_threads(unsigned int threads)
{
	const char *inner = strchr(getenv("OMP_NUM_THREADS") ?: "", ',');
	char *text;
	int err;

	if (asprintf(&text, "%u%s", threads, inner ? inner : "") < 0)
		return -ENOMEM;
	err = setenv("OMP_NUM_THREADS", text, 1) ? -ENOMEM : 0;
	free(text);
	return err;
}

/* One task for each instance, which has the CPUs of its threads. */
static int fill_job(const struct omp_job *omp, struct job *job)
{
	const struct placement *p;
	struct job_task *t;
	unsigned int rank = 0;
	int i;

	job->nr_tasks = processes(omp);
	job->tasks = calloc(job->nr_tasks, sizeof(*job->tasks));
	if (!job->tasks)
		return -ENOMEM;
	for (i = 0; i < omp->nr_places; i++) {
		p = &omp->places[i];
		if (!p->tasks)
			continue;
		t = &job->tasks[rank];
		t->rank = rank++;
		t->instance = p->inst->id;
		t->local_size = 1;
		t->cpus = omp->bind ? p->tasks : 0;
	}
	return 0;
}

/*
 * A rank of MPI finds its daemon where that has started it: there the first process
 * of its team is, too, which has main().
 */
static int put_rank_first(struct omp_job *omp)
{
	struct placement own;
	int i;

	if (!getenv("PMIX_RANK"))
		return 0;
	for (i = 0; i < omp->nr_places; i++)
		if (omp->places[i].inst->id == omp->self && omp->places[i].tasks)
			break;
	if (i == omp->nr_places) {
		mios_error(WHO, "a rank of MPI is where mpirun has started it, and no "
			   "thread of its team is here, on instance %d: name it "
			   "among others with --on", omp->self);
		return -EINVAL;
	}
	own = omp->places[i];
	memmove(omp->places + 1, omp->places, i * sizeof(own));
	omp->places[0] = own;
	return 0;
}

/* What can be told before anything is started; 0, or -errno and a line. */
int omp_check(unsigned int threads, int ring, const char *program)
{
	if (threads > MOST_THREADS) {
		mios_error(WHO, "a team has at most %d threads", MOST_THREADS);
		return -E2BIG;
	}
	if (ring) {
		mios_error(WHO, "a team needs /mios, which only ring 0 has");
		return -ENODEV;
	}
	if (access(PRELOADED, R_OK) || access(FOLDER "/libgomp.so.1", R_OK)) {
		mios_error(WHO, "cannot read " FOLDER "/*: %s: is mios "
			   "installed here?", strerror(errno));
		return -ENOENT;
	}
	return omp_check_program(program);
}

/* Returns the exit status. */
int omp_run(struct omp_job *omp)
{
	struct job job = { .label = omp->label, .one = true,
			   .argv = omp->argv };
	char window[64];
	int err, status;

	if (omp_check(omp->threads, omp->ring, omp->argv[0]) || put_rank_first(omp))
		return STATUS;
	err = fill_job(omp, &job) ?: set_threads(omp->threads);
	if (!err && job.nr_tasks == 1)
		return job_run(&job);
	if (!err && job_window_create("omp", omp->threads, window,
				      sizeof(window)))
		return STATUS;
	if (!err)
		err = prepare(omp, window);
	if (err) {
		mios_error(WHO, "cannot prepare the team: %s", strerror(-err));
		status = STATUS;
	} else {
		status = job_run(&job);
	}
	job_window_end();
	return status;
}
