// SPDX-License-Identifier: GPL-2.0
/*
 * What programs that share memory ask of the kernel, in ticks of the time stamp
 * counter; under QEMU's -icount a tick is an instruction of any CPU:
 *   share		prints "NAME MEDIAN MIN" of each operation
 *   share echo FILE	wakes whoever wakes it, until its end is said
 *   share ping FILE	the same line: a wake, and the wake that answers it
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

#include "ticks.h"

#define SAMPLES	201
#define WARM	5
#define SIZE	65536
#define SHAPES	16		/* of a program */
#define LIMIT_S	60		/* for a wake to come */

enum { PING, PONG, END };	/* words of FILE, a line each */

static uint64_t ticks[SAMPLES];
static int segment;

static void need(int fine, const char *what)
{
	if (fine)
		return;
	perror(what);
	exit(1);
}

static long futex(uint32_t *word, int op, uint32_t value)
{
	static const struct timespec limit = { .tv_sec = LIMIT_S };

	return syscall(SYS_futex, word, op, value, &limit, NULL, 0);
}

static void wake_nobody(void)
{
	static uint32_t word;

	need(!futex(&word, FUTEX_WAKE_PRIVATE, 1), "futex");
}

static void wake_nobody_shared(void)
{
	static uint32_t *word;

	if (!word)
		word = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	need(!futex(word, FUTEX_WAKE, 1), "futex");
}

static void make_object(void)
{
	int fd = shm_open("/bench", O_CREAT | O_EXCL | O_RDWR, 0600);

	need(fd >= 0 && !ftruncate(fd, SIZE), "shm_open");
	close(fd);
	need(!shm_unlink("/bench"), "shm_unlink");
}

static void open_object(void)
{
	int fd = shm_open("/bench-there", O_CREAT | O_RDWR, 0600);

	need(fd >= 0, "shm_open");
	close(fd);
}

static void make_segment(void)
{
	int id = shmget(IPC_PRIVATE, SIZE, 0600);

	need(id >= 0 && !shmctl(id, IPC_RMID, NULL), "shmget");
}

static void attach(void)
{
	void *at = shmat(segment, NULL, 0);

	need(at != (void *)-1 && !shmdt(at), "shmat");
}

static void nothing(int i)
{
	(void)i;
}

/*
 * A program of another shape: where a node of the tree of its mappings is just
 * full, one more costs half as much again.
 */
static void map_another(int i)
{
	char *at = (char *)0x300000000000 + ((long)i << 32);

	if (i >= 0 && !(i % (SAMPLES / SHAPES)))
		need(mmap(at, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS |
			  MAP_FIXED_NOREPLACE, -1, 0) == at, "mmap");
}

static const struct {
	const char *name;
	void (*run)(void);
	void (*before)(int i);
} operations[] = {
	{ "futex-private", wake_nobody, nothing },
	{ "futex-own", wake_nobody_shared, nothing },
	{ "shm-make", make_object, nothing },
	{ "shm-open", open_object, nothing },
	{ "segment-make", make_segment, nothing },
	{ "segment-attach", attach, map_another },
};

static void measure(const char *name, void (*run)(void), void (*before)(int i))
{
	uint64_t start;
	int i;

	for (i = -WARM; i < SAMPLES; i++) {
		before(i);
		start = __rdtsc();
		run();
		if (i >= 0)
			ticks[i] = __rdtsc() - start;
	}
	ticks_print(name, ticks, SAMPLES);
}

static void measure_all(void)
{
	size_t i;

	segment = shmget(IPC_PRIVATE, SIZE, 0600);
	need(segment >= 0, "shmget");
	for (i = 0; i < sizeof(operations) / sizeof(*operations); i++)
		measure(operations[i].name, operations[i].run,
			operations[i].before);
	shmctl(segment, IPC_RMID, NULL);
	shm_unlink("/bench-there");
}

/* A cache line for each word. */
static uint32_t *words(const char *name)
{
	int fd = open(name, O_CREAT | O_RDWR, 0600);
	char *at;

	need(fd >= 0 && !ftruncate(fd, 4096), name);
	at = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	need(at != MAP_FAILED, name);
	return (uint32_t *)at;
}

static uint32_t *word(uint32_t *all, int which)
{
	return all + which * 16;
}

static void say(uint32_t *w, uint32_t value)
{
	__atomic_store_n(w, value, __ATOMIC_SEQ_CST);
	futex(w, FUTEX_WAKE, 1);
}

/* Until the word is no longer @old. */
static void hear(uint32_t *w, uint32_t old)
{
	while (__atomic_load_n(w, __ATOMIC_SEQ_CST) == old)
		need(!futex(w, FUTEX_WAIT, old) || errno != ETIMEDOUT, "futex");
}

static void echo(uint32_t *all)
{
	uint32_t turn;

	for (turn = 0; !__atomic_load_n(word(all, END), __ATOMIC_SEQ_CST);
	     turn++) {
		hear(word(all, PING), turn);
		say(word(all, PONG), turn + 1);
	}
}

static void ping(uint32_t *all)
{
	uint64_t start;
	uint32_t turn;

	for (turn = 0; turn < WARM + SAMPLES; turn++) {
		/* The other one sleeps by then. */
		usleep(1000);
		if (turn == WARM + SAMPLES - 1)
			*word(all, END) = 1;
		start = __rdtsc();
		say(word(all, PING), turn + 1);
		hear(word(all, PONG), turn);
		if (turn >= WARM)
			ticks[turn - WARM] = __rdtsc() - start;
	}
	ticks_print("ping", ticks, SAMPLES);
}

int main(int argc, char **argv)
{
	if (argc == 1)
		measure_all();
	else if (argc == 3 && !strcmp(argv[1], "echo"))
		echo(words(argv[2]));
	else if (argc == 3 && !strcmp(argv[1], "ping"))
		ping(words(argv[2]));
	else
		return 2;
	return 0;
}
