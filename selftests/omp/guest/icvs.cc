// SPDX-License-Identifier: GPL-2.0
/*
 * What a task sets by omp_set_*() is its own, and of those that it makes: others of
 * the team do not see it, nor who comes after; a region's members have what their
 * master has set; a target region is one thread with what the environment says; a
 * nest lock belongs to a task.  The same with the distribution's libgomp.
 */
#include <omp.h>
#include <stdio.h>
#include <thread>

static int bad;

#define CHECK(c) do {							\
	if (!(c)) {							\
		_Pragma("omp atomic")					\
		bad++;							\
		printf("wrong: %s (line %d, thread %d)\n", #c,		\
		       __LINE__, omp_get_thread_num());			\
	}								\
} while (0)

static void check_main()
{
	omp_sched_t kind;
	int chunk;

	omp_get_schedule(&kind, &chunk);
	CHECK(kind == omp_sched_static && chunk == 3);
	CHECK(!omp_get_dynamic());
	CHECK(omp_get_default_device() == 0);
	CHECK(omp_get_max_active_levels() == 2);
	CHECK(omp_get_default_allocator() == omp_default_mem_alloc);
}

static void one_of_the_team()
{
#pragma omp parallel num_threads(3)
	{
		check_main();
#pragma omp barrier
		if (omp_get_thread_num() == 1) {
			omp_set_schedule(omp_sched_dynamic, 7);
			omp_set_dynamic(1);
			omp_set_num_threads(1);
			omp_set_default_device(5);
			omp_set_max_active_levels(5);
			omp_set_default_allocator(omp_low_lat_mem_alloc);
		}
#pragma omp barrier
		if (omp_get_thread_num() != 1)
			check_main();
		else
			CHECK(omp_get_max_threads() == 1);
	}
	check_main();
}

static void one_task()
{
#pragma omp parallel num_threads(2)
#pragma omp single
	{
		int before = omp_get_max_threads();

#pragma omp task
		omp_set_num_threads(1);
#pragma omp taskwait
		CHECK(omp_get_max_threads() == before);
	}
}

/* Who makes room in a region for threads of the next one makes enough. */
static void the_most()
{
	int most = omp_get_max_threads();

#pragma omp parallel
	CHECK(omp_get_max_threads() == most);
}

/* Who cuts work into as many parts as that has a thread for each. */
static void as_said()
{
	int said = omp_get_max_threads(), threads = 0;

#pragma omp parallel reduction(+ : threads)
	threads++;
	CHECK(threads == said);
}

static void as_said_anywhere()
{
	as_said();
	std::thread(as_said).join();
#pragma omp parallel num_threads(2)
	as_said();
#pragma omp parallel num_threads(2)
#pragma omp target
	as_said();
}

/* What main() sets holds for regions within its regions, whoever meets them. */
static void inherited()
{
	int inner = 0;

	omp_set_num_threads(3);
#pragma omp parallel num_threads(2) reduction(+ : inner)
	{
		CHECK(omp_get_max_threads() == 3);
#pragma omp parallel reduction(+ : inner)
		inner++;
	}
	CHECK(inner == 6);
}

static void target()
{
	int all = 0;

#pragma omp parallel num_threads(3) reduction(+ : all)
	{
		int mine = 0, threads = 0, level = -1, parallel = 1;

#pragma omp target map(tofrom : mine, threads, level, parallel)
		{
			threads = omp_get_num_threads();
			level = omp_get_level();
			parallel = omp_in_parallel();
#pragma omp for
			for (int i = 0; i < 8; i++)
				mine++;
		}
		CHECK(threads == 1 && !level && !parallel);
		all += mine;
	}
	CHECK(all == 24);
}

/* Each target region has a league of its own, and the limit of its teams. */
static void leagues()
{
	enum { N = 1000 };
	int most = 0;

	for (int round = 0; round < 20; round++) {
#pragma omp parallel num_threads(3) reduction(max : most)
		{
			int mine = 0, limit = 0, alone = 0;

#pragma omp target teams distribute parallel for num_teams(3) \
	map(tofrom : mine) reduction(+ : mine)
			for (int i = 0; i < N; i++)
				mine += i + omp_get_num_teams();
			CHECK(mine == N * (N - 1) / 2 + 3 * N);
#pragma omp target teams thread_limit(2) map(from : limit)
#pragma omp parallel if(0)
			limit = omp_get_thread_limit();
			most = limit > most ? limit : most;
#pragma omp target map(from : alone) thread_limit(1)
#pragma omp parallel num_threads(2)
			alone = omp_get_num_threads() == 1;
			CHECK(alone);
		}
		CHECK(omp_get_num_teams() == 1 && !omp_get_team_num());
	}
	CHECK(most == 2);
}

static void nest_lock()
{
	omp_nest_lock_t lock;
	int got = -1;

	omp_init_nest_lock(&lock);
#pragma omp parallel num_threads(1)
	{
		omp_set_nest_lock(&lock);
		omp_set_nest_lock(&lock);
#pragma omp task if(0) shared(got, lock)
		got = omp_test_nest_lock(&lock);
		CHECK(!got);
#pragma omp parallel if(0)
		got = omp_test_nest_lock(&lock);
		CHECK(!got);
		omp_unset_nest_lock(&lock);
		omp_unset_nest_lock(&lock);
		got = omp_test_nest_lock(&lock);
		CHECK(got == 1);
	}
}

int main()
{
	omp_set_dynamic(0);
	omp_set_max_active_levels(2);
	omp_set_schedule(omp_sched_static, 3);
	one_of_the_team();
	one_task();
	the_most();
	as_said_anywhere();
	inherited();
	target();
	leagues();
	nest_lock();
	printf("%d wrong\n", bad);
	return bad;
}
