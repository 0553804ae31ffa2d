// SPDX-License-Identifier: GPL-2.0
/* Devices, of which there is only the host, and tasks that end with an event. */
#include <omp.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

static int members;

static void check(bool good, const char *what)
{
	if (good)
		return;
	printf("WRONG: %s\n", what);
	exit(1);
}

static void regions()
{
	enum { N = 1000 };
	double a[N], sum = 0;
	int by_value = 5, seen = 0, inner = 0, done = 0;
	struct {
		char text[20];
		double number;
	} both = { "some text", 2.5 };

#pragma omp target teams distribute parallel for map(from : a) \
	reduction(+ : sum)
	for (int i = 0; i < N; i++) {
		a[i] = i;
		sum += i;
	}
	check(sum == N * (N - 1) / 2 && a[N - 1] == N - 1,
	      "target teams distribute parallel for");
#pragma omp target data map(tofrom : a)
	{
#pragma omp target map(from : seen) firstprivate(by_value, both)
		{
			seen = by_value++ + (both.number > 2) +
			       !strcmp(both.text, "some text");
			both.number = 0;
			a[0] = omp_is_initial_device();
		}
#pragma omp target update from(a)
	}
	check(seen == 7 && by_value == 5 && both.number == 2.5 && a[0] == 1,
	      "firstprivate");
#pragma omp target map(from : inner) firstprivate(both)
#pragma omp parallel reduction(+ : inner)
	inner += both.number == 2.5;
	check(inner == members, "a region in a target region has all members");

#pragma omp parallel
#pragma omp single
	{
#pragma omp task depend(out : done)
		{
			usleep(1000);
			done = 1;
		}
#pragma omp target nowait depend(inout : done) map(tofrom : done)
		done = done == 1 ? 2 : -1;
#pragma omp taskwait
	}
	check(done == 2, "target after a task");
}

static void memory()
{
	int from[4][6], to[3][5], host = omp_get_initial_device();
	size_t size[] = { 2, 3 }, to_at[] = { 1, 1 }, from_at[] = { 2, 3 };
	size_t to_size[] = { 3, 5 }, from_size[] = { 4, 6 };
	char *p = (char *)omp_target_alloc(100, host);

	memset(to, 0, sizeof(to));
	for (int i = 0; i < 24; i++)
		(&from[0][0])[i] = i;
	check(!omp_target_memcpy_rect(to, from, sizeof(int), 2, size, to_at,
				      from_at, to_size, from_size, host, host),
	      "memcpy_rect");
	check(to[1][1] == from[2][3] && to[2][3] == from[3][5] && !to[0][0] &&
	      !to[1][4], "its box");
	check(!omp_target_memcpy(p, from, sizeof(from), 0, 0, host, host) &&
	      omp_target_is_present(p, host), "memory of the device");
	omp_target_free(p, host);
}

static void events()
{
	omp_event_handle_t event;
	int step = 0, after = 0, sum = 0;

#pragma omp parallel
#pragma omp single
	for (int i = 0; i < 20; i++) {
#pragma omp task detach(event) depend(out : step)
		{
#pragma omp atomic
			sum++;
		}
#pragma omp task depend(in : step)
		after = step;
#pragma omp task firstprivate(event)
		{
			usleep(100);
			step = i;
			omp_fulfill_event(event);
		}
#pragma omp taskwait
		if (after != i)
			exit(1);
	}
	check(sum == 20, "detach");
}

static omp_event_handle_t late;
static int came;

static void comes_late()
{
	usleep(10000);
	came++;
	omp_fulfill_event(late);
}

/* The event of a task comes after it, from who has made it, or from a thread. */
static void events_alone()
{
	omp_event_handle_t event;
	std::thread soon;
	int done = 0, after = 0, waited = 0;

#pragma omp parallel num_threads(1)
	{
#pragma omp task detach(event) shared(done)
		done++;
		omp_fulfill_event(event);
#pragma omp taskwait
#pragma omp taskgroup
		{
#pragma omp task detach(event) shared(done)
			done++;
			late = event;
			soon = std::thread(comes_late);
		}
		waited += came == 1;
		soon.join();
#pragma omp task detach(event) shared(done)
		done++;
		late = event;
		soon = std::thread(comes_late);
#pragma omp taskwait
		waited += came == 2;
		soon.join();
#pragma omp task detach(event) shared(done) depend(out : done)
		done++;
#pragma omp task shared(done, after) depend(in : done)
		after = done;
		check(!after, "who depends on an event waits for it");
		omp_fulfill_event(event);
#pragma omp taskwait
	}
	check(done == 4 && waited == 2 && after == 4, "detach in a team of one");
}

int main(int argc, char **argv)
{
	int rounds = argc > 2 ? atoi(argv[2]) : 1;

	members = argc > 1 ? atoi(argv[1]) : omp_get_max_threads();
	events_alone();
	for (int i = 0; i < rounds; i++) {
		regions();
		memory();
		events();
	}
	printf("%d members, all right\n", members);
	return 0;
}
