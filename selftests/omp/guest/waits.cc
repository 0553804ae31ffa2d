// SPDX-License-Identifier: GPL-2.0
/*
 * What C++20 has to wait with, between members: each must sleep, and be woken by one
 * of another process.
 *	waits MEMBERS
 */
#include <atomic>
#include <barrier>
#include <cstdlib>
#include <latch>
#include <omp.h>
#include <semaphore>

#include "check.h"

enum { EACH = 20, PAUSE = 500 };	// us

static int members;

// One after the other, in the order of their numbers.
template <typename T> static bool turns()
{
	std::atomic<T> turn = 0;
	int wrong = 0;

#pragma omp parallel reduction(+ : wrong)
	for (int i = 0; i < EACH; i++) {
		T mine = i * members + omp_get_thread_num(), now;

		while ((now = turn.load()) != mine)
			turn.wait(now);
		usleep(PAUSE);
		wrong += turn.exchange(mine + 1) != mine;
		turn.notify_all();
	}
	return !wrong && turn.load() == EACH * members;
}

static void others()
{
	std::counting_semaphore<> full(0), empty(1);
	std::barrier<> all(members);
	std::latch begin(members);
	std::atomic<int> inside = 0;
	int slot = 0, sum = 0, wrong = 0, most = EACH * (members - 1);

#pragma omp parallel reduction(+ : wrong)
	{
		usleep(PAUSE * omp_get_thread_num());
		begin.arrive_and_wait();
		for (int i = 0; i < EACH; i++) {
			inside++;
			usleep(PAUSE * (omp_get_thread_num() == i % members));
			all.arrive_and_wait();
			wrong += inside != members * (i + 1);
			all.arrive_and_wait();
		}
		for (int i = 1; !omp_get_thread_num() && i <= most; i++) {
			empty.acquire();
			slot = i;
			full.release();
		}
		for (int i = 0; omp_get_thread_num() && i < EACH; i++) {
			full.acquire();
			sum += slot;
			empty.release();
		}
	}
	check(!wrong, "std::latch, std::barrier");
	check(sum == most * (most + 1) / 2, "std::counting_semaphore");
}

int main(int, char **argv)
{
	members = atoi(argv[1]);
	check(turns<int>(), "std::atomic<int>::wait");
	check(turns<long>(), "std::atomic<long>::wait");
	others();
	printf("%d members, all right\n", members);
	return 0;
}
