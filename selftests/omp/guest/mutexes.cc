// SPDX-License-Identifier: GPL-2.0
/*
 * What C++ and C have to wait with, between members: each must sleep, and be woken by
 * one of another process.
 */
#include <omp.h>
#include <semaphore.h>
#include <threads.h>
#include <unistd.h>

#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <stdexcept>

enum { EACH = 40 };

static int members;
static std::mutex mutex;

static void check(bool good, const char *what)
{
	if (good)
		return;
	printf("WRONG: %s\n", what);
	exit(1);
}

/* One after the other, in the order of their numbers. */
static void turns()
{
	auto next = std::make_unique<std::condition_variable>();
	int turn = 0, wrong = 0;

#pragma omp parallel
	for (int i = 0; i < EACH; i++) {
		std::unique_lock<std::mutex> lock(mutex);

		next->wait(lock, [&] {
			return turn % members == omp_get_thread_num();
		});
		wrong += turn / members != i;
		turn++;
		usleep(100);
		next->notify_all();
	}
	check(!wrong && turn == EACH * members, "condition variables");
}

static void locks()
{
	std::recursive_mutex nested;
	std::shared_mutex readers;
	std::once_flag once;
	int count = 0, inside = 0, made = 0, tries = 0, wrong = 0;

#pragma omp parallel reduction(+ : wrong)
	for (int i = 0; i < EACH; i++) {
		{
			std::lock_guard<std::recursive_mutex> a(nested);
			std::lock_guard<std::recursive_mutex> b(nested);
			int before = count;

			usleep(50);
			count = before + 1;
		}
		if ((i + omp_get_thread_num()) % 4) {
			std::shared_lock<std::shared_mutex> read(readers);

			wrong += inside != 0;
		} else {
			std::unique_lock<std::shared_mutex> write(readers);

			inside++;
			usleep(50);
			inside--;
		}
	}
	check(count == EACH * members, "a mutex that may be locked twice");
	check(!wrong, "readers and writers");
#pragma omp parallel
	for (;;) {
		try {
			std::call_once(once, [&] {
				usleep(2000);
				if (++tries == 1)
					throw std::runtime_error("again");
				made++;
			});
		} catch (std::runtime_error &e) {
			continue;
		}
		if (made != 1)
			exit(1);
		break;
	}
	check(made == 1 && tries <= 2, "call_once");
}

/* As turns() has it, by what C has. */
static void turns_of_c()
{
	static once_flag once = ONCE_FLAG_INIT;
	static mtx_t lock;
	static cnd_t next;
	int turn = 0, wrong = 0;

#pragma omp parallel
	for (int i = 0; i < EACH; i++) {
		call_once(&once, [] {
			mtx_init(&lock, mtx_timed);
			cnd_init(&next);
		});
		mtx_lock(&lock);
		while (turn % members != omp_get_thread_num())
			cnd_wait(&next, &lock);
		wrong += turn / members != i;
		turn++;
		usleep(100);
		cnd_broadcast(&next);
		mtx_unlock(&lock);
	}
	check(!wrong && turn == EACH * members, "C's threads.h");
}

static void semaphores()
{
	sem_t full, empty;
	int slot = 0, sum = 0;

	sem_init(&full, 0, 0);
	sem_init(&empty, 0, 1);
#pragma omp parallel
	{
		if (!omp_get_thread_num())
			for (int i = 1; i <= EACH * (members - 1); i++) {
				sem_wait(&empty);
				slot = i;
				sem_post(&full);
			}
		else
			for (int i = 0; i < EACH; i++) {
				sem_wait(&full);
				sum += slot;
				sem_post(&empty);
			}
	}
	check(sum == EACH * (members - 1) * (EACH * (members - 1) + 1) / 2,
	      "semaphores");
}

int main(int argc, char **argv)
{
	int rounds = argc > 2 ? atoi(argv[2]) : 1;

	members = argc > 1 ? atoi(argv[1]) : omp_get_max_threads();
	for (int i = 0; i < rounds; i++) {
		turns();
		locks();
		turns_of_c();
		semaphores();
	}
	printf("%d members, all right\n", members);
	return 0;
}
