// SPDX-License-Identifier: GPL-2.0
/*
 * Do page faults of a thread wait for another one that changes mappings, which has
 * the lock of the address space most of the time?
 *   threads [FILE]	prints how often it slept in faults on pages of the file, or
 *			of a segment, that are there, and in those on new ones
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <unistd.h>

#define PAGE	4096ul
#define PAGES	256ul
#define ROUNDS	20
#define OTHER	(32ul << 20)	/* bytes whose protection is changed */

static volatile int stop;
static volatile unsigned long changes;

static void need(int fine, const char *what)
{
	if (fine)
		return;
	perror(what);
	exit(1);
}

static void stay_on(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	need(!sched_setaffinity(0, sizeof(set), &set), "two CPUs");
}

static void *change(void *unused)
{
	char *other = mmap(NULL, OTHER, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	need(other != MAP_FAILED, "mmap");
	stay_on(1);
	memset(other, 1, OTHER);
	for (; !stop; changes++)
		need(!mprotect(other, OTHER, changes & 1 ? PROT_READ :
			       PROT_READ | PROT_WRITE), "mprotect");
	return NULL;
}

static long sleeps(void)
{
	struct rusage usage;

	need(!getrusage(RUSAGE_THREAD, &usage), "getrusage");
	return usage.ru_nvcsw;
}

/* Stores to all pages; how often it slept. */
static long touch(char *memory)
{
	long before = sleeps();
	unsigned long page;

	for (page = 0; page < PAGES; page++)
		memory[page * PAGE] = 1;
	return sleeps() - before;
}

static char *map(const char *name)
{
	int fd = open(name, O_CREAT | O_RDWR, 0600);
	char *memory;

	need(fd >= 0 && !ftruncate(fd, PAGES * PAGE), name);
	memory = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED,
		      fd, 0);
	need(memory != MAP_FAILED, "mmap");
	return memory;
}

static char *attach(void)
{
	int id = shmget(IPC_PRIVATE, PAGES * PAGE, IPC_CREAT | 0600);
	char *memory;

	need(id >= 0, "shmget");
	memory = shmat(id, NULL, 0);
	need(memory != (void *)-1, "shmat");
	need(!shmctl(id, IPC_RMID, NULL), "shmctl");
	return memory;
}

int main(int argc, char **argv)
{
	char *memory = argc == 2 ? map(argv[1]) : attach();
	long new = 0, there = 0;
	pthread_t thread;
	int i;

	stay_on(0);
	need(!pthread_create(&thread, NULL, change, NULL), "pthread_create");
	while (changes < 4)
		usleep(1000);
	for (i = 0; i < ROUNDS; i++) {
		need(!madvise(memory, PAGES * PAGE, MADV_REMOVE), "remove");
		new += touch(memory);
		need(!madvise(memory, PAGES * PAGE, MADV_DONTNEED), "madvise");
		there += touch(memory);
	}
	stop = 1;
	pthread_join(thread, NULL);
	printf("%ld %ld\n", there, new);
	return 0;
}
