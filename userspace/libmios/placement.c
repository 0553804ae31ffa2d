// SPDX-License-Identifier: GPL-2.0
/*
 * Places tasks: idle CPUs first, close to each other, on as few instances
 * as hold them.  The first instance taken is the one with the most idle
 * CPUs (the caller's own if equal); every next one is the closest to those
 * already taken.  What finds no idle CPU goes to busy ones in the same
 * order, and only if asked for to CPUs that already have a task.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "placement.h"

static bool eligible(const struct placement_request *rq,
		     const struct mios_instance *inst)
{
	bool listed = rq->on & 1ull << inst->id;

	if (inst->id != rq->self && inst->state != MIOS_STATE_UP)
		return false;
	/* instance 0 is in every ring, but works where it is listed */
	if (inst->ring != rq->ring && (inst->id || !listed))
		return false;
	return !rq->on || listed;
}

/* Who is silent may not even start them: only if it was named. */
static bool wanted(const struct placement_request *rq, const struct placement *p)
{
	return eligible(rq, p->inst) &&
	       (rq->on || (p->inst->suspect < 0 && !p->silent));
}

static unsigned int least(unsigned int a, unsigned int b)
{
	return a < b ? a : b;
}

/* How many tasks fit, and how many of them without disturbing anybody. */
static void measure(const struct placement_request *rq, struct placement *p)
{
	unsigned int cpus = p->inst->cpus ? p->inst->cpus : 1;
	unsigned int busy = p->inst->load[0] + 0.5;

	if (busy < p->bound)
		busy = p->bound;
	if (rq->cpus == PLACEMENT_ALL_ALIKE)
		busy = 0;
	busy = least(busy + p->taken, cpus);
	p->room = (cpus - least(p->taken, cpus)) / rq->cpus_per_task;
	p->free = (cpus - busy) / rq->cpus_per_task;
	if (rq->per_instance) {
		p->room = least(p->room, rq->per_instance);
		p->free = least(p->free, rq->per_instance);
	}
}

static int check_list(const struct placement_request *rq,
		      const struct placement *places, int n, char *why,
		      size_t size)
{
	const struct mios_instance *inst;
	uint64_t missing = rq->on;
	int i;

	for (i = 0; i < n; i++) {
		inst = places[i].inst;
		if (!(missing & 1ull << inst->id))
			continue;
		missing &= ~(1ull << inst->id);
		if (wanted(rq, &places[i]))
			continue;
		if (inst->state != MIOS_STATE_UP)
			snprintf(why, size, "instance %d is %s: mios boot %d "
				 "starts it", inst->id,
				 mios_state_name(inst->state), inst->id);
		else
			snprintf(why, size, "instance %d is on ring %d, not "
				 "on ring %d", inst->id, inst->ring, rq->ring);
		return -EHOSTDOWN;
	}
	if (missing) {
		snprintf(why, size, "there is no instance %d: mios status "
			 "lists them", __builtin_ctzll(missing));
		return -ENODEV;
	}
	return 0;
}

static unsigned int distance_between(const struct mios_instance *a,
				     const struct mios_instance *b)
{
	if (b->node >= 0 && (unsigned int)b->node < a->nr_distances)
		return a->distance[b->node];
	return a->id == b->id ? 10 : 20;
}

static unsigned int distance_to_taken(const struct placement *places, int n,
				      const struct placement *p)
{
	unsigned int sum = 0;
	int i;

	for (i = 0; i < n; i++)
		if (places[i].order)
			sum += distance_between(places[i].inst, p->inst);
	return sum;
}

/* Is @a a better next choice than @b? */
static bool better(const struct placement_request *rq,
		   const struct placement *a, const struct placement *b)
{
	if (!b)
		return true;
	if (a->distance != b->distance)
		return a->distance < b->distance;
	if (a->free != b->free)
		return a->free > b->free;
	return a->inst->id == rq->self && b->inst->id != rq->self;
}

static struct placement *next(const struct placement_request *rq,
			      struct placement *places, int n, bool idle)
{
	struct placement *best = NULL, *p;
	int i;

	for (i = 0; i < n; i++) {
		p = &places[i];
		if (p->order || !(idle ? p->free : p->room))
			continue;
		p->distance = distance_to_taken(places, n, p);
		if (better(rq, p, best))
			best = p;
	}
	return best;
}

/* Take instances one by one until the tasks are placed or none is left. */
static unsigned int fill(const struct placement_request *rq,
			 struct placement *places, int n, unsigned int left,
			 unsigned int *order, bool idle)
{
	struct placement *p;
	unsigned int more;
	int i;

	for (i = 0; i < n && left && !idle; i++) {
		p = &places[i];		/* busy CPUs of those taken, first */
		if (!p->order)
			continue;
		more = least(p->room - p->tasks, left);
		p->tasks += more;
		left -= more;
	}
	while (left && (p = next(rq, places, n, idle))) {
		p->order = ++*order;
		p->tasks = least(idle ? p->free : p->room, left);
		left -= p->tasks;
	}
	return left;
}

/* One more each in turn, as far as per_instance allows. */
static unsigned int overfill(const struct placement_request *rq,
			     struct placement *places, int n,
			     unsigned int left)
{
	unsigned int before;
	int i;

	do {
		before = left;
		for (i = 0; i < n && left; i++) {
			if (!places[i].order ||
			    (rq->per_instance &&
			     places[i].tasks >= rq->per_instance))
				continue;
			places[i].tasks++;
			left--;
		}
	} while (left && left != before);
	return left;
}

static int too_few(const struct placement_request *rq,
		   const struct placement *places, int n, char *why,
		   size_t size)
{
	unsigned int cpus = 0, instances = 0, room = 0;
	bool silent = false;
	int i;

	for (i = 0; i < n; i++) {
		if (!wanted(rq, &places[i])) {
			silent |= eligible(rq, places[i].inst);
			continue;
		}
		cpus += places[i].inst->cpus;
		room += places[i].room;
		instances++;
	}
	if (!instances && silent)
		snprintf(why, size, "who is up on ring %d is suspect, or does not "
			 "answer: --on takes it all the same", rq->ring);
	else if (!instances)
		snprintf(why, size, "no instance is up on ring %d: mios boot "
			 "starts them", rq->ring);
	else
		snprintf(why, size, "%u %s do not fit: %u instance%s with "
			 "%u CPUs hold%s %u%s%s; ask for fewer, or add "
			 "--oversubscribe", rq->tasks,
			 rq->threads ? "threads" : "tasks", instances,
			 instances == 1 ? "" : "s", cpus,
			 instances == 1 ? "s" : "", room,
			 rq->per_instance ? " with this --per-instance" : "",
			 silent ? ", without those that are suspect or do not answer" : "");
	return -ENOSPC;
}

int placement_decide(const struct placement_request *rq,
		     struct placement *places, int n, char *why, size_t size)
{
	unsigned int left = rq->tasks, order = 0;
	int i, err;

	err = check_list(rq, places, n, why, size);
	if (err)
		return err;
	for (i = 0; i < n; i++) {
		places[i].free = places[i].room = 0;
		places[i].tasks = places[i].order = places[i].distance = 0;
		if (wanted(rq, &places[i]))
			measure(rq, &places[i]);
	}
	left = fill(rq, places, n, left, &order, true);
	if (rq->cpus != PLACEMENT_IDLE_ONLY)
		left = fill(rq, places, n, left, &order, false);
	if (left && rq->oversubscribe && rq->cpus != PLACEMENT_IDLE_ONLY)
		left = overfill(rq, places, n, left);
	return left ? too_few(rq, places, n, why, size) : 0;
}

static void give_back(struct placement *places, int n)
{
	int i;

	for (i = 0; i < n; i++)
		places[i].taken = 0;
}

/* One more, which has no CPU that an earlier one has, unless it is asked for. */
static int decide_team(const struct placement_request *rq, struct placement *places,
		       int n, unsigned int *threads, char *why, size_t size)
{
	int i, err;

	err = placement_decide(rq, places, n, why, size);
	if (err == -ENOSPC && rq->oversubscribe && rq->cpus != PLACEMENT_IDLE_ONLY) {
		give_back(places, n);
		err = placement_decide(rq, places, n, why, size);
	}
	for (i = 0; i < n && !err; i++) {
		threads[i] = places[i].tasks;
		places[i].taken += threads[i];
	}
	return err;
}

/* Each begins where most CPUs are free still. */
static int decide_all(const struct placement_request *rq, unsigned int teams,
		      struct placement *places, int n, unsigned int *threads, char *why,
		      size_t size)
{
	unsigned int team;
	int err;

	give_back(places, n);
	for (team = 0; team < teams; team++) {
		err = decide_team(rq, places, n, threads + team * n, why, size);
		if (!err)
			continue;
		if (err == -ENOSPC && team)
			snprintf(why, size, "%u teams of %u threads do not fit: there "
				 "are CPUs for %u; ask for fewer, or add "
				 "--oversubscribe", teams, rq->tasks, team);
		return err;
	}
	return 0;
}

/*
 * On idle CPUs, if these are enough for all.  Else load decides nothing: to avoid some
 * of it would tear teams apart, each over many instances, which costs them more.
 */
int placement_decide_teams(const struct placement_request *rq, unsigned int teams,
			   struct placement *places, int n, unsigned int *threads,
			   char *why, size_t size)
{
	struct placement_request own = *rq;
	unsigned int team, sum;
	int i, err;

	own.cpus = PLACEMENT_IDLE_ONLY;
	err = decide_all(&own, teams, places, n, threads, why, size);
	if (err == -ENOSPC) {
		own.cpus = PLACEMENT_ALL_ALIKE;
		err = decide_all(&own, teams, places, n, threads, why, size);
	}
	for (i = 0; i < n && !err; i++) {
		for (team = sum = 0; team < teams; team++)
			sum += threads[team * n + i];
		places[i].tasks = sum;
	}
	return err;
}
