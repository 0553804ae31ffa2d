// SPDX-License-Identifier: GPL-2.0
/*
 * The task allocator's decisions, case by case: a machine of four nodes in
 * two pairs (distance 12 within a pair, 21 between), loads and requests.
 */
#include <stdio.h>
#include <string.h>

#include "libmios/placement.h"

#define MOST_TEAMS	8
#define NOT_SAID	-9	/* instance 1 is up, and what is bound there not known */

struct test_case {
	const char *what;
	struct placement_request rq;
	unsigned int cpus[4];
	double load[4];
	unsigned int bound[4];
	int down;		/* this instance is not up, or 0; -1: 1 is suspect */
	const char *wanted;	/* tasks on each, or a part of the complaint */
};

#define REQUEST(n, ...)	WIDE_REQUEST(n, 1, ##__VA_ARGS__)
#define WIDE_REQUEST(n, c, ...) \
	{ .tasks = n, .cpus_per_task = c, ##__VA_ARGS__ }
#define THREADS(n, ...)	REQUEST(n, .threads = true, ##__VA_ARGS__)
#define CPUS(n)		{ n, n, n, n }

static const struct test_case cases[] = {
	{ "few tasks stay together", REQUEST(2), CPUS(4), { 0 }, { 0 }, 0,
	  "2 0 0 0" },
	{ "and at home", REQUEST(4, .self = 2), CPUS(4), { 0 }, { 0 }, 0,
	  "0 0 4 0" },
	{ "the closest is next", REQUEST(6), CPUS(4), { 0 }, { 0 }, 0,
	  "4 2 0 0" },
	{ "the closest to a start elsewhere", REQUEST(6, .self = 3), CPUS(4),
	  { 0 }, { 0 }, 0, "0 0 2 4" },
	{ "a whole machine", REQUEST(16), CPUS(4), { 0 }, { 0 }, 0,
	  "4 4 4 4" },
	{ "load is avoided", REQUEST(4), CPUS(4), { 3.0, 2.0 }, { 0 }, 0,
	  "0 0 4 0" },
	{ "bound CPUs are avoided", REQUEST(4), CPUS(4), { 0 }, { 4, 4 }, 0,
	  "0 0 4 0" },
	{ "busy CPUs when idle ones are gone", REQUEST(8), CPUS(2),
	  { 2.0, 2.0 }, { 0 }, 0, "2 2 2 2" },
	{ "idle ones everywhere first", REQUEST(6), CPUS(2), { 2.0 }, { 0 }, 0,
	  "0 2 2 2" },
	{ "one on each", REQUEST(4, .per_instance = 1), CPUS(4), { 0 }, { 0 },
	  0, "1 1 1 1" },
	{ "only where it was asked for", REQUEST(3, .on = 1 << 1 | 1 << 3),
	  CPUS(2), { 0 }, { 0 }, 0, "0 2 0 1" },
	{ "two CPUs for each", WIDE_REQUEST(4, 2), CPUS(4), { 0 },
	  { 0 }, 0, "2 2 0 0" },
	{ "an odd CPU is left over", WIDE_REQUEST(4, 2), CPUS(3),
	  { 0 }, { 0 }, 0, "1 1 1 1" },
	{ "unequal instances", REQUEST(9), { 1, 2, 4, 8 }, { 0 }, { 0 }, 0,
	  "0 0 1 8" },
	{ "one that is down is passed over", REQUEST(6), CPUS(4), { 0 }, { 0 },
	  1, "4 0 2 0" },
	{ "so is one that is silent", REQUEST(6), CPUS(4), { 0 }, { 0 },
	  -1, "4 0 2 0" },
	{ "but not if it is listed", REQUEST(2, .on = 1 << 1), CPUS(4), { 0 },
	  { 0 }, -1, "0 2 0 0" },
	{ "nor unmentioned", REQUEST(13), CPUS(4), { 0 }, { 0 }, -1,
	  "12 CPUs hold 12, without those that are suspect or do not answer" },
	{ "one of which nothing is known is passed over", REQUEST(6), CPUS(4), { 0 }, { 0 },
	  NOT_SAID, "4 0 2 0" },
	{ "but not if it is listed, either", REQUEST(2, .on = 1 << 1), CPUS(4), { 0 },
	  { 0 }, NOT_SAID, "0 2 0 0" },
	{ "more tasks than CPUs", REQUEST(9), CPUS(2), { 0 }, { 0 }, 0,
	  "9 tasks do not fit: 4 instances with 8 CPUs hold 8" },
	{ "more threads", REQUEST(9, .threads = true), CPUS(2), { 0 }, { 0 }, 0,
	  "9 threads do not fit: 4 instances with 8 CPUs hold 8" },
	{ "more than that, on demand", REQUEST(10, .oversubscribe = true),
	  CPUS(2), { 0 }, { 0 }, 0, "3 3 2 2" },
	{ "even then at most so many on each", REQUEST(9, .per_instance = 2,
	  .oversubscribe = true), CPUS(2), { 0 }, { 0 }, 0, "do not fit" },
	{ "a listed one is down", REQUEST(1, .on = 1 << 2), CPUS(2), { 0 },
	  { 0 }, 2, "instance 2 is dead: mios boot 2" },
	{ "a listed one does not exist", REQUEST(1, .on = 1 << 9), CPUS(2),
	  { 0 }, { 0 }, 0, "there is no instance 9" },
	{ "another ring", REQUEST(1, .ring = 3), CPUS(2), { 0 }, { 0 }, -1,
	  "no instance is up on ring 3" },
};

static const struct team_case {
	unsigned int teams;
	struct test_case of;	/* so many of its tasks */
} team_cases[] = {
	{ 2, { "teams over two instances each", THREADS(4), CPUS(2), { 0 }, { 0 }, 0,
	  "2 2 0 0/0 0 2 2" } },
	{ 3, { "teams that an instance has room for are whole", THREADS(3), CPUS(4), { 0 },
	  { 0 }, 0, "3 0 0 0/0 3 0 0/0 0 3 0" } },
	{ 3, { "the last one has what is left", THREADS(3), { 4, 4, 2, 4 }, { 0 }, { 0 }, 3,
	  "3 0 0 0/0 3 0 0/1 0 2 0" } },
	{ 2, { "two teams of one instance", THREADS(2), { 4, 1, 1, 1 }, { 0 }, { 0 }, 0,
	  "2 0 0 0/2 0 0 0" } },
	{ 2, { "one thread of each on an instance", THREADS(2, .per_instance = 1), CPUS(2), { 0 },
	  { 0 }, 0, "1 1 0 0/1 1 0 0" } },
	{ 3, { "teams avoid load, too", THREADS(2), CPUS(2), { 2.0 }, { 0 }, 0,
	  "0 2 0 0/0 0 2 0/0 0 0 2" } },
	{ 2, { "but are not torn apart by it", THREADS(4), CPUS(2), { 1.0, 1.0, 1.0, 1.0 },
	  { 0 }, 0, "2 2 0 0/0 0 2 2" } },
	{ 3, { "more teams than CPUs", THREADS(3), CPUS(2), { 0 }, { 0 }, 0,
	  "3 teams of 3 threads do not fit: there are CPUs for 2" } },
	{ 2, { "a team that finds no CPUs", THREADS(9), CPUS(2), { 0 }, { 0 }, 0,
	  "9 threads do not fit: 4 instances with 8 CPUs hold 8" } },
	{ 2, { "all CPUs twice, on demand", THREADS(4, .on = 1 << 0 | 1 << 1,
	  .oversubscribe = true), CPUS(2), { 0 }, { 0 }, 0, "2 2 0 0/2 2 0 0" } },
};

static void make_machine(const struct test_case *c, struct mios_instance *list,
			 struct placement *places)
{
	int i, j;

	memset(list, 0, 4 * sizeof(*list));
	memset(places, 0, 4 * sizeof(*places));
	for (i = 0; i < 4; i++) {
		list[i].id = list[i].node = i;
		list[i].state = i && i == c->down ? MIOS_STATE_DEAD :
				MIOS_STATE_UP;
		list[i].suspect = i && i == -c->down ? 7 : -1;
		list[i].cpus = c->cpus[i];
		list[i].load[0] = c->load[i];
		list[i].nr_distances = 4;
		for (j = 0; j < 4; j++)
			list[i].distance[j] = i == j ? 10 :
					      i / 2 == j / 2 ? 12 : 21;
		places[i].inst = &list[i];
		places[i].bound = c->bound[i];
		places[i].silent = i == 1 && c->down == NOT_SAID;
	}
}

static void decide_teams(const struct test_case *c, unsigned int teams,
			 struct placement *p, char *got, size_t size)
{
	unsigned int threads[MOST_TEAMS][4], i;
	size_t len = 0;

	if (placement_decide_teams(&c->rq, teams, p, 4, threads[0], got, size))
		return;
	for (i = 0; i < teams; i++)
		len += snprintf(got + len, size - len, "%s%u %u %u %u", i ? "/" : "",
				threads[i][0], threads[i][1], threads[i][2],
				threads[i][3]);
}

/* @teams: 0 if they are none. */
static int run_case(const struct test_case *c, unsigned int teams)
{
	struct mios_instance list[4];
	struct placement p[4];
	char got[256];

	make_machine(c, list, p);
	if (teams)
		decide_teams(c, teams, p, got, sizeof(got));
	else if (!placement_decide(&c->rq, p, 4, got, sizeof(got)))
		snprintf(got, sizeof(got), "%u %u %u %u", p[0].tasks,
			 p[1].tasks, p[2].tasks, p[3].tasks);
	if (strstr(got, c->wanted)) {
		printf("ok: %s\n", c->what);
		return 0;
	}
	printf("FAIL: %s: got '%s', wanted '%s'\n", c->what, got, c->wanted);
	return 1;
}

int main(void)
{
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (run_case(&cases[i], 0))
			return 1;
	for (i = 0; i < sizeof(team_cases) / sizeof(team_cases[0]); i++)
		if (run_case(&team_cases[i].of, team_cases[i].teams))
			return 1;
	return 0;
}
