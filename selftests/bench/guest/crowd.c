// SPDX-License-Identifier: GPL-2.0
/*
 * What a page fault costs when several CPUs of one kernel fault at once, in ticks
 * of the time stamp counter for each page; under QEMU's -icount a tick is an
 * instruction of any of them, so that who waits for another one costs more:
 *   crowd FOLDER CPUS		prints "NAME MEDIAN MIN" of
 *     own	first stores to pages of files, each CPU to one of its own
 *     one	the same, to every eighth page of one file, beside each other
 *     again	stores of all CPUs to the same pages of a file, which are there
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <x86intrin.h>

#include "ticks.h"

#define SAMPLES	21
#define PAGE	4096ul
#define PAGES	500ul	/* of each CPU */
#define CPUS	8
#define LIMIT	60	/* s, of those who wait for one that has failed */

/* All of a crowd write it: when the last one has come, and when each has ended. */
struct crowd {
	unsigned int come;
	volatile uint64_t start;
	uint64_t end[CPUS];
};

enum how { OWN, ONE, AGAIN };

static const char *const names[] = { "own", "one", "again" };

static struct crowd *crowd;
static uint64_t ticks[SAMPLES];
static unsigned int cpus;
static int ended[2];	/* a pipe, a byte for each that has ended */

static void need(int fine, const char *what)
{
	if (fine)
		return;
	perror(what);
	exit(1);
}

static void stay_on(unsigned int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	need(!sched_setaffinity(0, sizeof(set), &set), "sched_setaffinity");
}

static char *map(const char *name, unsigned long pages, int flags)
{
	int fd = open(name, O_CREAT | O_RDWR | flags, 0600);
	char *memory;

	need(fd >= 0 && !ftruncate(fd, pages * PAGE), name);
	memory = mmap(NULL, pages * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED,
		      fd, 0);
	need(memory != MAP_FAILED, "mmap");
	close(fd);
	return memory;
}

/*
 * One of the crowd: begins when all have come, and stays when it has ended, so that
 * nobody pays for its exit.
 */
static void run(unsigned int who, enum how how)
{
	unsigned long page = how == ONE ? who : 0;
	unsigned long step = how == ONE ? CPUS : 1;
	char name[] = "own0", *memory;
	unsigned long i;

	alarm(LIMIT);
	stay_on(who);
	name[3] += who;
	memory = how == OWN ? map(name, PAGES, O_TRUNC) :
		 map("all", PAGES * CPUS, 0);
	if (__atomic_add_fetch(&crowd->come, 1, __ATOMIC_SEQ_CST) == cpus)
		crowd->start = __rdtsc();
	while (!crowd->start)
		;
	for (i = 0; i < PAGES; i++, page += step)
		memory[page * PAGE] = 1;
	crowd->end[who] = __rdtsc();
	need(write(ended[1], "", 1) == 1, "write");
	pause();
	_exit(1);
}

static uint64_t sample(enum how how)
{
	unsigned int who, nr = 0;
	uint64_t end = 0;
	pid_t pid[CPUS];
	char byte;

	crowd->come = 0;
	crowd->start = 0;
	if (how == ONE)
		munmap(map("all", PAGES * CPUS, O_TRUNC), PAGES * CPUS * PAGE);
	for (who = 0; who < cpus; who++) {
		pid[who] = fork();
		need(pid[who] >= 0, "fork");
		if (!pid[who])
			run(who, how);
	}
	while (nr < cpus)
		nr += read(ended[0], &byte, 1) == 1;
	for (who = 0; who < cpus; who++)
		kill(pid[who], SIGKILL);
	while (wait(NULL) > 0)
		;
	for (who = 0; who < cpus; who++)
		if (crowd->end[who] > end)
			end = crowd->end[who];
	return (end - crowd->start) / (PAGES * cpus);
}

int main(int argc, char **argv)
{
	enum how how;
	int i;

	alarm(10 * LIMIT);
	cpus = argc == 3 ? atoi(argv[2]) : 0;
	if (!cpus || cpus > CPUS) {
		fprintf(stderr, "usage: crowd FOLDER CPUS\n");
		return 1;
	}
	need(!chdir(argv[1]), argv[1]);
	need(!pipe(ended), "pipe");
	crowd = mmap(NULL, sizeof(*crowd), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	need(crowd != MAP_FAILED, "mmap");
	for (how = OWN; how <= AGAIN; how++) {
		for (i = 0; i < SAMPLES; i++)
			ticks[i] = sample(how);
		ticks_print(names[how], ticks, SAMPLES);
	}
	return 0;
}
