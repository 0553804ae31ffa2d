// SPDX-License-Identifier: GPL-2.0
/*
 * Round trips through two pipes between two processes, each bound to a CPU:
 *   roundtrip pipe|spin CPU CPU COUNT
 * prints "KIND COUNT MIN MEDIAN P99 MAX" in nanoseconds.  "spin" never
 * sleeps: both sides read again and again until a byte is there.  It stops
early after SPAN_NS.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "now.h"

#define COUNT_MAX	1000000
#define SPAN_NS		5000000000ull

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static void bind_to(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		die("sched_setaffinity");
}

static int get(int fd, char *data, size_t size)
{
	ssize_t n;

	do {
		n = read(fd, data, size);
	} while (n < 0 && errno == EAGAIN);
	return n == (ssize_t)size;
}

static void put(int fd, const char *data, size_t size)
{
	if (write(fd, data, size) != (ssize_t)size)
		die("write");
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

int main(int argc, char **argv)
{
	int there[2], back[2], spin, count, i;
	uint64_t begin;
	char data[8] = "message";	/* as long as struct mios_msg_echo */
	uint64_t *ns;
	pid_t pid;

	if (argc != 5)
		return 2;
	spin = !strcmp(argv[1], "spin") ? O_NONBLOCK : 0;
	count = atoi(argv[4]);
	if (count < 1 || count > COUNT_MAX)
		return 2;
	ns = calloc(count, sizeof(*ns));
	if (!ns || pipe2(there, spin) || pipe2(back, spin))
		die("pipe");
	pid = fork();
	if (pid < 0)
		die("fork");
	if (!pid) {
		bind_to(atoi(argv[3]));
		while (get(there[0], data, sizeof(data)))
			put(back[1], data, sizeof(data));
		return 0;
	}
	bind_to(atoi(argv[2]));
	begin = now_ns();
	for (i = 0; i < count && now_ns() - begin < SPAN_NS; i++) {
		uint64_t start = now_ns();

		put(there[1], data, sizeof(data));
		if (!get(back[0], data, sizeof(data)))
			die("read");
		ns[i] = now_ns() - start;
	}
	kill(pid, SIGKILL);
	count = i;
	qsort(ns, count, sizeof(*ns), compare);
	printf("%s %d %llu %llu %llu %llu\n", argv[1], count,
	       (unsigned long long)ns[0], (unsigned long long)ns[count / 2],
	       (unsigned long long)ns[(uint64_t)count * 99 / 100],
	       (unsigned long long)ns[count - 1]);
	return 0;
}
