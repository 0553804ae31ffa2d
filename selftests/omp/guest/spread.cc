// SPDX-License-Identifier: GPL-2.0
/*
 * An OpenMP program as any other, which says where its members were: a line
 * for each, with the name of its host.  "spread MODE", of
 *
 *	sum	data of each kind, filled by all and read by main()
 *	exit N	a member other than the first ends the program, with status N
 *	_exit N	main() does, without what exit() does
 *	wait	regions one after the other until somebody ends it
 *	abort	a member other than the first aborts
 *	deep	200 MiB of stack for each
 *	eat	more memory than there is
 *	places	the place of each member, and on how many CPUs it may run
 *	maps	what the first process has mapped
 *	last	who says what when main() has returned, or "last N" has ended it as exit
 *	leave	main() calls pthread_exit()
 *	break	a member other than the first frees what is none, main() reads
 *	streams	input, output of each member, directory, arguments
 */
#include <omp.h>
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

enum { N = 3000 };

static double squares[N];
static std::vector<std::string> hosts;

static std::string host()
{
	char name[64] = "";

	gethostname(name, sizeof(name) - 1);
	return name;
}

static int sum()
{
	int on_stack[N], members = 0, right = 0;
	std::vector<long> numbers(N);
	long total = 0;

#pragma omp parallel
	{
#pragma omp critical
		{
			members++;
			hosts.push_back(host());
		}
#pragma omp for reduction(+ : total)
		for (int i = 0; i < N; i++) {
			squares[i] = (double)i * i;
			on_stack[i] = i;
			numbers[i] = 2 * i;
			total += i;
		}
	}
	for (int i = 0; i < N; i++)
		right += squares[i] == (double)i * i && on_stack[i] == i &&
			 numbers[i] == 2 * i;
	for (int i = 0; i < members; i++)
		std::cout << "member of " << hosts[i] << '\n';
	std::cout << members << " members, " << right << " right, total " <<
		total << std::endl;
	return !(right == N && total == (long)N * (N - 1) / 2);
}

static int deep()
{
	int sum = 0;

#pragma omp parallel reduction(+ : sum)
	{
		volatile char room[200 << 20];

		room[0] = room[sizeof(room) - 1] = 1;
		sum += room[0] + room[sizeof(room) - 1];
	}
	return sum != 2 * omp_get_max_threads();
}

static int eat()
{
	for (;;) {
#pragma omp parallel
#pragma omp critical
		hosts.push_back(std::string(1 << 20, 'x'));
	}
}

static int streams(int argc, char **argv)
{
	std::string word;
	char dir[256];

	std::ios::sync_with_stdio(false);
	std::cin >> word;
#pragma omp parallel
#pragma omp critical
	std::cout << "read " << word << ", in " << getcwd(dir, sizeof(dir)) <<
		", last argument " << argv[argc - 1] << std::endl;
	return 0;
}

static int places()
{
#pragma omp parallel
#pragma omp critical
	{
		int place = omp_get_place_num(), id = -1;
		cpu_set_t cpus;

		sched_getaffinity(0, sizeof(cpus), &cpus);
		if (omp_get_place_num_procs(place) == 1)
			omp_get_place_proc_ids(place, &id);
		std::cout << "place " << place << " of " <<
			omp_get_num_places() << (CPU_COUNT(&cpus) == 1 &&
			CPU_ISSET(id, &cpus) ? " on its CPU" : "") << std::endl;
	}
	return 0;
}

static int more()
{
	int threads = 0;

	for (int i = 0; i < 2; i++) {
#pragma omp parallel num_threads(9) reduction(+ : threads)
		threads++;
	}
	std::cout << threads << " in two regions" << std::endl;
	return 0;
}

struct Last {
	const char *what;
	int us;
	~Last()
	{
		usleep(us);
		std::cout << what << std::endl;
	}
};

static int exits(int status)
{
#pragma omp parallel
	if (omp_get_thread_num() == omp_get_num_threads() - 1)
		exit(status);
	return 1;
}

static int last(int argc, char **argv)
{
	static Last late = { "static", 0 };
	thread_local Last early = { "thread_local", 50000 };

	if (argc > 2)
		exits(atoi(argv[2]));
	return late.what == early.what;
}

static int breaks()
{
	void *volatile none;

	hosts.resize(2);
	none = &hosts[1];
#pragma omp parallel
	if (!omp_get_thread_num())
		std::cin.get();
	else if (omp_get_thread_num() == omp_get_num_threads() - 1) {
		usleep(100000);
		free(none);
	}
	return 0;
}

int main(int argc, char **argv)
{
	std::string mode = argc > 1 ? argv[1] : "sum";

	if (mode == "streams")
		return streams(argc, argv);
	if (mode == "maps") {
		std::cout << std::ifstream("/proc/self/maps").rdbuf();
		return 0;
	}
	if (mode == "places")
		return places();
	if (mode == "more")
		return more();
	if (mode == "deep")
		return deep();
	if (mode == "last")
		return last(argc, argv);
	if (mode == "leave")
		pthread_exit(NULL);
	if (mode == "break")
		return breaks();
	if (mode == "_exit")
		_exit(atoi(argv[2]));
	if (mode == "eat")
		return eat();
	if (mode == "exit")
		return exits(atoi(argv[2]));
	if (mode == "abort") {
#pragma omp parallel
		if (omp_get_thread_num() == omp_get_num_threads() - 1)
			abort();
		return 1;
	}
	for (volatile long i = 0; mode == "wait"; i = i + 1) {
#pragma omp parallel
		squares[omp_get_thread_num()] += 1;
		usleep(10000);
		if (i == 10)
			std::cout << "begun" << std::endl;
	}
	return sum();
}
