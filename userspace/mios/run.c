// SPDX-License-Identifier: GPL-2.0
/*
 * mios run: asks the allocator where to put the tasks of a job, says what it
 * decided if asked to, and runs them.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libmios/job.h"
#include "libmios/placement.h"
#include "policy.h"
#include "run_bound.h"
#include "run_caf.h"
#include "run_mpi.h"
#include "run_omp.h"
#include "run_teams.h"
#include "subcommands.h"

#define WHO	"mios: run"
#define STATUS	125		/* nothing was started */

static const char help[] =
"Usage: mios run [OPTION...] [--] PROGRAM [ARGUMENT...]\n"
"Starts the tasks of a job on the instances of this ring.\n\n"
"  -n, --tasks N          so many tasks (1)\n"
"  -c, --cpus-per-task C  each on C CPUs of its own (1)\n"
"  -p, --per-instance K   at most K on one instance\n"
"  -o, --on LIST          only on these instances: 1,2 or 1-3\n"
"  -r, --ring R           the ring (that of this instance)\n"
"  -b, --bind core|none   keep every task on its own CPUs (core) or not\n"
"  -s, --oversubscribe    more tasks than CPUs\n"
"      --no-input         task 0 reads nothing either\n"
"      --mpi              by mpirun, though the program is not seen to need it:\n"
"                         a script, or static\n"
"      --omp              one OpenMP program, its N threads on the instances;\n"
"                         with --mpi: N ranks, each with a team of C threads\n"
"      --share all|strict which of its memory they share: strict is without\n"
"                         what malloc() gives\n"
"      --teams LIST       what --mpi --omp has mpirun start: where teams are\n"
"  -l, --localalloc       pages that a task touches first in /mios, /dev/shm and\n"
"                         shared segments are of its node,\n"
"  -m, --membind NODES    of these alone,\n"
"  -i, --interleave NODES of these in turn,\n"
"      --preferred NODE   or of this one, while it has some\n"
"  -L, --label            begin every line of output with [rank]\n"
"  -e, --explain          say what was decided and which variables are set\n"
"  -h, --help             print this\n"
"\nTasks find MIOS_RANK, MIOS_SIZE, MIOS_LOCAL_RANK, MIOS_LOCAL_SIZE and\n"
"MIOS_INSTANCE.  A program linked with Open MPI is started by mpirun, on the\n"
"same instances.  Input goes to task 0; the first failure ends the others and\n"
"gives the exit status.\n";

enum { OPT_NO_INPUT = 256, OPT_MPI, OPT_OMP, OPT_SHARE, OPT_TEAMS };

static const struct option options[] = {
	{ "tasks", required_argument, NULL, 'n' },
	{ "cpus-per-task", required_argument, NULL, 'c' },
	{ "per-instance", required_argument, NULL, 'p' },
	{ "on", required_argument, NULL, 'o' },
	{ "ring", required_argument, NULL, 'r' },
	{ "bind", required_argument, NULL, 'b' },
	{ "oversubscribe", no_argument, NULL, 's' },
	{ "label", no_argument, NULL, 'L' },
	{ "explain", no_argument, NULL, 'e' },
	{ "no-input", no_argument, NULL, OPT_NO_INPUT },
	{ "mpi", no_argument, NULL, OPT_MPI },
	{ "omp", no_argument, NULL, OPT_OMP },
	{ "share", required_argument, NULL, OPT_SHARE },
	{ "teams", required_argument, NULL, OPT_TEAMS },
	{ "help", no_argument, NULL, 'h' },
	LONG_MEMBIND,
	LONG_INTERLEAVE,
	LONG_LOCAL,
	LONG_PREFERRED,
	{ NULL, 0, NULL, 0 },
};

struct run_options {
	struct placement_request rq;
	struct policy policy;
	bool bind, label, explain, mpi, omp, share, strict;
	unsigned int ranks;		/* with a team each; 0: no such job */
	const char *teams;		/* where those of all ranks are */
};

static unsigned int number(const char *text, long max)
{
	long n;

	if (mios_number(text, 1, max, &n))
		mios_usage("run", "'%.40s' is not a number from 1 to %ld", text,
			   max);
	return n;
}

static void take_ring(int *ring)
{
	long n;

	if (mios_number(optarg, 0, MIOS_MAX_RINGS - 1, &n))
		mios_usage("run", "--ring is a number from 0 to %d",
			   MIOS_MAX_RINGS - 1);
	*ring = n;
}

static void take_bind(bool *bind)
{
	*bind = !strcmp(optarg, "core");
	if (!*bind && strcmp(optarg, "none"))
		mios_usage("run", "--bind wants core or none");
}

static void take_share(struct run_options *o)
{
	o->share = true;
	o->strict = !strcmp(optarg, "strict");
	if (!o->strict && strcmp(optarg, "all"))
		mios_usage("run", "--share wants all or strict");
}

static void take_option(int c, char **argv, struct run_options *o)
{
	switch (c) {
	case 'n':
		o->rq.tasks = number(optarg, MIOS_MAX_TASKS);
		break;
	case 'c':
		o->rq.cpus_per_task = number(optarg, 1024);
		break;
	case 'p':
		o->rq.per_instance = number(optarg, MIOS_MAX_TASKS);
		break;
	case 'o':
		if (mios_parse_nodes(optarg, &o->rq.on))
			mios_usage("run", "--on wants instances, as in 1,2 or "
				   "1-3");
		break;
	case 'r':
		take_ring(&o->rq.ring);
		break;
	case 'b':
		take_bind(&o->bind);
		break;
	case 's':
		o->rq.oversubscribe = true;
		break;
	case 'L':
		o->label = true;
		break;
	case 'e':
		o->explain = true;
		break;
	case OPT_NO_INPUT:
		mios_no_input();
		break;
	case OPT_MPI:
		o->mpi = true;
		break;
	case OPT_OMP:
		o->omp = true;
		break;
	case OPT_SHARE:
		take_share(o);
		break;
	case OPT_TEAMS:
		o->teams = optarg;
		break;
	case POLICY_MEMBIND:
	case POLICY_INTERLEAVE:
	case POLICY_LOCAL:
	case POLICY_PREFERRED:
		policy_option("run", c, optarg, &o->policy);
		break;
	default:
		mios_other_option("run", help, argv, c, options);
	}
}

static void explain_variables(const struct placement *p, unsigned int rank)
{
	printf("    MIOS_INSTANCE=%d MIOS_LOCAL_SIZE=%u MIOS_LOCAL_RANK=0..%u "
	       "MIOS_RANK=%u..%u\n", p->inst->id, p->tasks, p->tasks - 1, rank,
	       rank + p->tasks - 1);
}

static void explain(const struct run_options *o, const struct placement *places,
		    int n)
{
	const char *task = o->omp ? "thread" : "task";
	const char *number = o->omp ? "thread" : "rank";
	const struct placement *p;
	unsigned int rank = 0;
	int i;

	printf("mios run: %u %s%s of %u CPU%s on ring %d, %s\n",
	       o->rq.tasks, task, o->rq.tasks == 1 ? "" : "s",
	       o->rq.cpus_per_task,
	       o->rq.cpus_per_task == 1 ? "" : "s", o->rq.ring,
	       o->bind ? "bound to CPUs of their own" : "not bound");
	for (i = 0; i < n; i++) {
		p = &places[i];
		if (!p->room && !p->tasks)
			continue;
		printf("  instance %d: %u CPUs, load %.2f, %u bound, room for "
		       "%u, %u of them idle", p->inst->id, p->inst->cpus,
		       p->inst->load[0], p->bound, p->room, p->free);
		if (!p->tasks) {
			printf(": not needed\n");
			continue;
		}
		if (p->order == 1)
			printf(": first, most idle CPUs");
		else
			printf(": taken as number %u, distance %u to those "
			       "before", p->order, p->distance);
		printf(": %s%s %u", number, p->tasks == 1 ? "" : "s", rank);
		if (p->tasks > 1)
			printf("-%u", rank + p->tasks - 1);
		printf("\n");
		if (!o->omp)
			explain_variables(p, rank);
		rank += p->tasks;
	}
	if (!o->omp)
		printf("  every task: MIOS_SIZE=%u\n", o->rq.tasks);
	mios_flush_stdout();
}

/* Ranks go by instance number, so that neighbours are neighbours. */
static int start(const struct run_options *o, const struct placement *places,
		 int n, char **argv, bool images)
{
	struct job job = { .nr_tasks = o->rq.tasks, .label = o->label,
			   .images = images, .argv = argv };
	struct job_task *t;
	unsigned int rank = 0, local;
	int i;

	job.tasks = calloc(job.nr_tasks, sizeof(*job.tasks));
	if (!job.tasks)
		return STATUS;
	for (i = 0; i < n; i++) {
		for (local = 0; local < places[i].tasks; local++, rank++) {
			t = &job.tasks[rank];
			t->rank = rank;
			t->instance = places[i].inst->id;
			t->local_rank = local;
			t->local_size = places[i].tasks;
			t->cpus = o->bind ? o->rq.cpus_per_task : 0;
		}
	}
	return job_run(&job);
}

static int start_omp(const struct run_options *o, struct placement *places,
		     int n, char **argv)
{
	struct omp_job job = {
		.places = places, .nr_places = n, .self = o->rq.self,
		.threads = o->rq.tasks,
		.bind = o->bind, .label = o->label, .ring = o->rq.ring,
		.explain = o->explain, .strict = o->strict, .argv = argv,
	};

	return omp_run(&job);
}

static int start_caf(const struct run_options *o,
		     const struct placement *places, int n, char **argv)
{
	int status = STATUS;

	if (o->explain)
		printf("  a coarray program: each task is an image\n");
	mios_flush_stdout();
	if (!caf_begin(o->rq.ring))
		status = start(o, places, n, argv, true);
	caf_end();
	return status;
}

static struct mpi_job mpi_job(const struct run_options *o,
			      const struct placement *places, int n, char **argv)
{
	struct mpi_job job = {
		.places = places, .nr_places = n, .tasks = o->rq.tasks,
		.cpus = o->rq.cpus_per_task, .bind = o->bind,
		.label = o->label, .oversubscribe = o->rq.oversubscribe,
		.argv = argv,
	};
	int i;

	for (i = 0; i < n; i++)
		if (places[i].inst->id == o->rq.self)
			job.foreign = places[i].inst->ring != o->rq.ring;
	return job;
}

static int start_teams(const struct run_options *o, const struct placement *places,
		       int n, const unsigned int *threads, char **argv)
{
	struct teams teams = {
		.nr = o->ranks, .each = o->rq.tasks, .threads = threads,
		.bind = o->bind, .strict = o->strict, .ring = o->rq.ring,
	};
	struct mpi_job job = mpi_job(o, places, n, argv);

	job.tasks = o->ranks;
	if (o->explain)
		teams_explain(&teams, places, n);
	mios_flush_stdout();
	return teams_run(&teams, &job);
}

/* By mpirun, if the program's tasks would not find each other without it. */
static int start_any(const struct run_options *o, struct placement *places,
		     int n, char **argv)
{
	struct mpi_job job = mpi_job(o, places, n, argv);
	char library[64] = "--mpi";
	bool caf, mpi;

	if (o->omp)
		return start_omp(o, places, n, argv);
	caf = o->rq.tasks > 1 && caf_program(argv[0]);
	mpi = !caf && (o->rq.tasks > 1 || o->mpi) &&
	      (mpi_program(argv[0], library, sizeof(library)) || o->mpi);
	if (o->policy.option) {
		job.argv = policy_prefix(&o->policy, argv);
		if (!job.argv)
			return STATUS;
	}
	if (caf)
		return start_caf(o, places, n, job.argv);
	if (!mpi)
		return start(o, places, n, job.argv, false);
	if (o->explain)
		printf("  an MPI program (%s): by mpirun, which numbers the "
		       "ranks\n", library);
	mios_flush_stdout();
	return mpi_run(&job, library);
}

/* No number, which only teams may leave out: all CPUs there are, or the part of one. */
static int count_threads(struct run_options *o, struct placement *places, int n,
			 char *why, size_t size)
{
	struct placement_request *rq = &o->rq, one = *rq;
	unsigned int room = 0, instances = 0;
	int i, err;

	if (rq->tasks)
		return 0;
	one.tasks = 1;
	if (o->ranks)
		one.per_instance = 0;
	err = placement_decide(&one, places, n, why, size);
	if (err)
		return err;
	for (i = 0; i < n; i++) {
		room += places[i].room;
		instances += places[i].room > 0;
	}
	if (o->ranks)
		room /= o->ranks;
	if (o->ranks && rq->per_instance && room / instances >= rq->per_instance)
		room = rq->per_instance * instances;
	rq->tasks = room ? room : 1;
	return 0;
}

static int decide_and_start(struct run_options *o, struct placement *places, int n,
			    char **argv)
{
	unsigned int *threads = calloc(o->ranks ? o->ranks * n : 1, sizeof(*threads));
	char why[256] = "no memory left";
	int err;

	if (o->teams) {
		o->rq.tasks = teams_own(o->teams, places, n, o->rq.self);
		return o->rq.tasks ? start_omp(o, places, n, argv) : STATUS;
	}
	err = threads ? count_threads(o, places, n, why, sizeof(why)) : -ENOMEM;
	if (!err && o->ranks)
		err = placement_decide_teams(&o->rq, o->ranks, places, n, threads,
					     why, sizeof(why));
	else if (!err)
		err = placement_decide(&o->rq, places, n, why, sizeof(why));
	if (err) {
		mios_error(WHO, "%s", why);
		return STATUS;
	}
	if (o->ranks)
		return start_teams(o, places, n, threads, argv);
	if (o->explain)
		explain(o, places, n);
	return start_any(o, places, n, argv);
}

static int place_and_start(struct run_options *o, char **argv)
{
	static struct mios_instance list[MIOS_MAX_INSTANCES];
	static struct placement places[MIOS_MAX_INSTANCES];
	int i, n;

	n = mios_instances_read(list, MIOS_MAX_INSTANCES);
	if (n < 0) {
		mios_error(WHO, "%s", MIOS_NO_SYSFS);
		return STATUS;
	}
	o->rq.self = mios_self();
	for (i = 0; i < n && o->rq.ring < 0; i++)
		if (list[i].id == o->rq.self)
			o->rq.ring = list[i].ring;
	for (i = 0; i < n; i++)
		places[i].inst = &list[i];
	bound_ask(&o->rq, places, n);
	return decide_and_start(o, places, n, argv);
}

static void check_options(const struct run_options *o)
{
	if (o->omp && !o->mpi && o->rq.cpus_per_task > 1)
		mios_usage("run", "with --omp each thread has one CPU: leave "
			   "--cpus-per-task out");
	if (o->share && !o->omp)
		mios_usage("run", "--share is for --omp");
	if (o->omp && o->policy.option)
		mios_usage("run", "with --omp there is no memory policy yet: leave it out");
	if (o->teams && (!o->omp || o->mpi || o->rq.tasks || o->rq.on ||
			 o->rq.per_instance || o->rq.oversubscribe))
		mios_usage("run", "--teams is for --omp, and says where all threads "
			   "are: leave out what places others");
}

/* What the numbers count: tasks; threads; or ranks, and the threads of each. */
static void count_options(struct run_options *o)
{
	struct placement_request *rq = &o->rq;

	rq->threads = o->omp;
	if (o->omp && o->mpi) {
		o->ranks = rq->tasks ? rq->tasks : 1;
		rq->tasks = rq->cpus_per_task ? rq->cpus_per_task : omp_threads();
	} else if (!rq->tasks) {
		rq->tasks = o->omp ? omp_threads() : 1;
	}
	if (o->omp || !rq->cpus_per_task)
		rq->cpus_per_task = 1;
}

int cmd_run(int argc, char **argv)
{
	struct run_options o = {
		.rq = { .ring = -1 },
		.bind = true,
	};
	int c;

	while ((c = getopt_long(argc, argv, "+:n:c:p:o:r:b:sLe" POLICY_LETTERS
				"h", options, NULL)) != -1)
		take_option(c, argv, &o);
	if (optind >= argc)
		mios_usage("run", "which program?");
	if (o.rq.oversubscribe)
		o.bind = false;
	check_options(&o);
	count_options(&o);
	return place_and_start(&o, argv + optind);
}
