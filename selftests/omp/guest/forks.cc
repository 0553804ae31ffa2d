// SPDX-License-Identifier: GPL-2.0
/*
 * Children that a program forks, by main() and by members: each has a copy of
 * what there was, and what either side writes then is not the other's.
 */
#include <omp.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "check.h"

enum { WORDS = 20000, CHILDREN = 8 };

static int counter = 1;
static __thread int own = 1;

/* Writes over the stack that a child may still need. */
static int clobber(int depth)
{
	volatile int room[1000];

	for (int i = 0; i < 1000; i++)
		room[i] = ~depth;
	return depth ? clobber(depth - 1) + room[depth] : room[0];
}

static int status_of(pid_t pid)
{
	int status = -1;

	check(pid > 0 && waitpid(pid, &status, 0) == pid, "waitpid");
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

/* What a child sees and changes; it goes on for a while, as a server would. */
static int child(int *words, std::vector<std::string> &list, long &sum)
{
	int wrong = 0, threads = 0;

	usleep(20000);
	for (int i = 0; i < WORDS; i++)
		wrong += words[i] != i;
	wrong += counter != 1 || own != 1 || list[2] != "third";
	counter = own = 7;
	for (int i = 0; i < 500; i++)
		list.push_back(std::string(100, 'x'));
	for (int i = 0; i < WORDS; i++)
		words[i] = -1;
#pragma omp parallel reduction(+ : threads)
	threads++;
	sum = clobber(20);
	return wrong + (threads < 1);
}

static void copies()
{
	std::vector<std::string> list = { "first", "second", "third" };
	pthread_mutexattr_t attr;
	pthread_mutex_t mutex;
	int words[WORDS];
	long sum = 5;
	pid_t pid;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_ERRORCHECK);
	pthread_mutex_init(&mutex, &attr);
	for (int i = 0; i < WORDS; i++)
		words[i] = i;
	pthread_mutex_lock(&mutex);
	pid = fork();
	if (!pid)
		_exit(child(words, list, sum));
	clobber(20);
	check(!pthread_mutex_unlock(&mutex), "who a thread is, after fork()");
	check(status_of(pid) == 0, "what a child has");
	check(counter == 1 && own == 1 && list.size() == 3 && sum == 5,
	      "what the parent has after it");
	for (int i = 0; i < WORDS; i++)
		check(words[i] == i, "the parent's stack");
}

/* The words are gone as soon as fork() is back. */
static void programs()
{
	for (int i = 0; i < CHILDREN; i++) {
		char *word = strdup("exit 5");
		pid_t pid = fork();

		if (!pid) {
			execl("/bin/sh", "sh", "-c", word, NULL);
			_exit(100);
		}
		memset(word, 'x', 6);
		free(word);
		clobber(10);
		check(status_of(pid) == 5, "a program that a child has become");
	}
}

static void by_members(int members)
{
	int right = 0;

#pragma omp parallel reduction(+ : right)
	{
		int mine = omp_get_thread_num();
		pid_t pid = fork();

		if (!pid) {
			clobber(5);
			_exit(mine + 10);
		}
		clobber(10);
		right += status_of(pid) == mine + 10;
	}
	check(right == members, "children of members");
}

/* What others write to main()'s own variables while it forks is not lost. */
static void written_meanwhile(int members)
{
	static int ended;
	static long made;
	long count = 0;

#pragma omp parallel num_threads(members)
	if (!omp_get_thread_num()) {
		for (int i = 0; i < CHILDREN; i++) {
			pid_t pid = fork();

			if (!pid)
				_exit(0);
			check(status_of(pid) == 0, "a child while others write");
		}
#pragma omp atomic write
		ended = 1;
	} else {
		long own = 0;
		int over = 0;

		while (!over) {
#pragma omp atomic
			count++;
			own++;
#pragma omp atomic read
			over = ended;
		}
#pragma omp atomic
		made += own;
	}
	check(count == made, "what members have written meanwhile");
}

/* exit() in a child is its own, and so is a child of a child. */
static void grandchild()
{
	pid_t pid = fork();

	if (!pid) {
		pid = fork();
		if (!pid)
			_exit(counter++ + 3);
		exit(status_of(pid) + counter);
	}
	check(status_of(pid) == 5, "a child of a child");
}

int main(int argc, char **argv)
{
	int members = atoi(argv[1]);

	copies();
	programs();
	by_members(members);
	written_meanwhile(members);
	grandchild();
	printf("%d members, all right\n", members);
	return 0;
}
