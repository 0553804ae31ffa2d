// SPDX-License-Identifier: GPL-2.0
/*
 * mios run --mpi --omp: ranks of MPI, each of which has a team of OpenMP.  The
 * allocator has said which threads are where; mpirun starts a mios run --omp for each
 * rank, on the instance where its team begins, with all teams as one word:
 *
 *	--teams 0:2,1:2/2:4	two threads on 0 and two on 1; four on 2
 *
 * Who numbers the ranks is mpirun, in an order of its own.  So a rank takes, of the
 * teams that begin on its instance, the one that is its number there.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run_omp.h"
#include "run_teams.h"

#define WHO		"mios: run"
#define STATUS		125
#define LOCAL_RANK	"OMPI_COMM_WORLD_LOCAL_RANK"
#define MOST_TEXT	(100u << 10)	/* the kernel takes words of 128 KiB */

struct team {
	unsigned int nr;
	struct {
		unsigned int instance, threads;
	} part[MIOS_MAX_INSTANCES];
};

static void write_team(const struct teams *t, const struct placement *places, int n,
		       unsigned int team, FILE *to)
{
	const unsigned int *threads = t->threads + team * n;
	const char *comma = "";
	int i;

	for (i = 0; i < n; i++) {
		if (!threads[i])
			continue;
		fprintf(to, "%s%d:%u", comma, places[i].inst->id, threads[i]);
		comma = ",";
	}
}

void teams_explain(const struct teams *t, const struct placement *places, int n)
{
	unsigned int team;

	printf("mios run: %u rank%s, each a team of %u thread%s, %s\n", t->nr,
	       t->nr == 1 ? "" : "s", t->each, t->each == 1 ? "" : "s",
	       t->bind ? "bound to CPUs of their own" : "not bound");
	for (team = 0; team < t->nr; team++) {
		printf("  a team, instance:threads: ");
		write_team(t, places, n, team, stdout);
		printf("\n");
	}
}

/* To be freed; NULL if there is no memory. */
static char *teams_text(const struct teams *t, const struct placement *places, int n)
{
	char *text = NULL;
	unsigned int team;
	size_t size;
	FILE *to = open_memstream(&text, &size);

	if (!to)
		return NULL;
	for (team = 0; team < t->nr; team++) {
		if (team)
			fputc('/', to);
		write_team(t, places, n, team, to);
	}
	if (!fclose(to))
		return text;
	free(text);
	return NULL;
}

/* What mpirun starts. */
static char **command(const struct teams *t, char *text, char **argv)
{
	const char * const words[] = {
		"mios", "run", "--omp", "--teams", text,
		"--bind", t->bind ? "core" : "none",
		"--share", t->strict ? "strict" : "all", "--",
	};
	size_t nr = 0, count = sizeof(words) / sizeof(words[0]);
	char **all;

	while (argv[nr])
		nr++;
	all = calloc(count + nr + 1, sizeof(*all));
	if (!all)
		return NULL;
	memcpy(all, words, sizeof(words));
	memcpy(all + count, argv, nr * sizeof(*argv));
	return all;
}

/* Where a team begins there is a rank. */
static void place_ranks(const struct teams *t, struct placement *ranks, int n)
{
	const unsigned int *threads = t->threads;
	unsigned int team;
	int i;

	for (i = 0; i < n; i++)
		ranks[i].tasks = 0;
	for (team = 0; team < t->nr; team++, threads += n) {
		for (i = 0; i < n && !threads[i]; i++)
			;
		if (i < n)
			ranks[i].tasks++;
	}
}

/* Returns the exit status. */
int teams_run(const struct teams *t, struct mpi_job *job)
{
	static struct placement ranks[MIOS_MAX_INSTANCES];
	char library[64] = "--mpi", *text;
	int i;

	if (omp_check(t->each, t->ring, job->argv[0]))
		return STATUS;
	mpi_program(job->argv[0], library, sizeof(library));
	for (i = 0; i < job->nr_places; i++) {
		ranks[i] = job->places[i];
		if (ranks[i].tasks)
			job->parts |= 1ull << ranks[i].inst->id;
	}
	place_ranks(t, ranks, job->nr_places);
	text = teams_text(t, job->places, job->nr_places);
	if (text && strlen(text) > MOST_TEXT) {
		mios_error(WHO, "%u teams are more than a command can name", t->nr);
		return STATUS;
	}
	job->argv = text ? command(t, text, job->argv) : NULL;
	if (!job->argv) {
		mios_error(WHO, "no memory left");
		return STATUS;
	}
	/* Threads are bound on each instance, not by mpirun. */
	job->places = ranks;
	job->bind = false;
	return mpi_run(job, library);
}

/* 0:2 */
static int take_number(const char **text, char end, unsigned int most,
		       unsigned int *value)
{
	unsigned long n;
	char *after;

	if (!isdigit((unsigned char)**text))
		return -EINVAL;
	n = strtoul(*text, &after, 10);
	if (n > most || (end && *after != end))
		return -EINVAL;
	*value = n;
	*text = after + !!end;
	return 0;
}

/* Up to a / or the end; no instance is named twice. */
static int take_team(const char **text, struct team *team)
{
	unsigned int instance, threads;
	uint64_t seen = 0;

	for (team->nr = 0; ; ++*text) {
		if (take_number(text, ':', MIOS_MAX_INSTANCES - 1, &instance) ||
		    take_number(text, 0, MIOS_MAX_TASKS, &threads) || !threads ||
		    seen & 1ull << instance)
			return -EINVAL;
		seen |= 1ull << instance;
		team->part[team->nr].instance = instance;
		team->part[team->nr++].threads = threads;
		if (**text != ',')
			return **text && **text != '/' ? -EINVAL : 0;
	}
}

/* The one that is number @local of those that begin on @self. */
static int find_team(const char *text, int self, long local, struct team *team)
{
	const char *at = text;

	for (;;) {
		if (take_team(&at, team)) {
			mios_error(WHO, "--teams wants instances and threads, as in "
				   "0:2,1:2/2:4, not '%.40s'", text);
			return -EINVAL;
		}
		if ((int)team->part[0].instance == self && !local--)
			return 0;
		if (!*at++)
			break;
	}
	mios_error(WHO, "of the ranks on instance %d there are more than teams that "
		   "--teams has begin there", self);
	return -EINVAL;
}

unsigned int teams_own(const char *text, struct placement *places, int n, int self)
{
	const char *number = getenv(LOCAL_RANK);
	unsigned int part, sum = 0;
	struct team team;
	long local;
	int i;

	if (!number || mios_number(number, 0, MIOS_MAX_TASKS, &local)) {
		mios_error(WHO, "--teams is for ranks that Open MPI's mpirun starts: "
			   "mios run --mpi --omp does that");
		return 0;
	}
	if (find_team(text, self, local, &team))
		return 0;
	for (part = 0; part < team.nr; part++) {
		for (i = 0; i < n; i++)
			if (places[i].inst->id == (int)team.part[part].instance)
				break;
		if (i == n || (places[i].inst->id != self &&
			       places[i].inst->state != MIOS_STATE_UP)) {
			mios_error(WHO, "instance %u of --teams is not up: mios "
				   "status tells more", team.part[part].instance);
			return 0;
		}
		places[i].tasks = team.part[part].threads;
		sum += places[i].tasks;
	}
	return sum;
}
