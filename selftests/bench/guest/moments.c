// SPDX-License-Identifier: GPL-2.0
/*
 * Takes the moments of an instance's death, by the time stamp counter, which
 * all instances of a machine share:
 *   moments rate          ticks in a second
 *   moments watch N       until this kernel has news of instance N's state
 *   moments log TEXT      until this kernel logs a line with TEXT
 *   moments end HOW       ends this instance by panic or silent, its
 *                         interrupts off; its log has the moment before
 *   moments then COMMAND  prints the moment and becomes the command
 *   moments gap SECONDS   computes; prints the longest time, in ns, that it
 *                         could not, and the doorbells that came meanwhile
 * watch and log print "ready" when they look, then the moment.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <x86intrin.h>

#include "now.h"

#define LIMIT_MS	120000
#define LINE_LEN	8192

static int fail(const char *what)
{
	fprintf(stderr, "moments: %s: %s\n", what, strerror(errno));
	return 1;
}

static void say_ready(void)
{
	printf("ready\n");
	fflush(stdout);
}

static int say_moment(uint64_t ticks)
{
	printf("%llu\n", (unsigned long long)ticks);
	return fflush(stdout) ? 1 : 0;
}

static int rate(void)
{
	uint64_t ns = now_ns(), ticks = __rdtsc();

	sleep(1);
	ticks = __rdtsc() - ticks;
	ns = now_ns() - ns;
	return say_moment(ticks * 1e9 / ns);
}

static int watch(const char *instance)
{
	struct pollfd p = { .events = POLLPRI };
	char path[80], text[16];
	uint64_t ticks;

	snprintf(path, sizeof(path), "/sys/kernel/mios/instance%s/state",
		 instance);
	p.fd = open(path, O_RDONLY);
	/* Reading is what makes poll wait for the next change. */
	if (p.fd < 0 || read(p.fd, text, sizeof(text)) < 0)
		return fail(path);
	say_ready();
	if (poll(&p, 1, LIMIT_MS) <= 0)
		return fail("no news");
	ticks = __rdtsc();
	return say_moment(ticks);
}

static int watch_log(const char *word)
{
	struct pollfd p = { .events = POLLIN };
	static char line[LINE_LEN];
	uint64_t ticks;
	ssize_t size;

	p.fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK);
	if (p.fd < 0 || lseek(p.fd, 0, SEEK_END) < 0)
		return fail("/dev/kmsg");
	say_ready();
	while (poll(&p, 1, LIMIT_MS) > 0) {
		ticks = __rdtsc();
		size = read(p.fd, line, sizeof(line) - 1);
		if (size < 0 && errno != EPIPE && errno != EAGAIN)
			return fail("/dev/kmsg");
		line[size < 0 ? 0 : size] = 0;
		if (strstr(line, word))
			return say_moment(ticks);
	}
	return fail("no such line");
}

/* The last step is one system call away from the moment in the log. */
static int end(const char *how)
{
	const char *path = "/proc/sysrq-trigger", *word = "c";
	int log = open("/dev/kmsg", O_WRONLY), fd, size;
	char line[64];

	if (!strcmp(how, "silent")) {
		path = "/sys/kernel/debug/provoke-crash/DIRECT";
		word = "HARDLOCKUP";
	}
	fd = open(path, O_WRONLY);
	if (log < 0 || fd < 0)
		return fail(path);
	/* Not by dprintf(), which wants to know where in the file it is. */
	size = snprintf(line, sizeof(line), "<4>bench: moment %llu\n",
			(unsigned long long)__rdtsc());
	if (write(log, line, size) != size)
		return fail("/dev/kmsg");
	if (write(fd, word, strlen(word)) < 0)
		return fail(path);
	return fail(how);
}

static int then(char **command)
{
	say_moment(__rdtsc());
	execvp(command[0], command);
	return fail(command[0]);
}

/* How many doorbells this kernel has been sent. */
static uint64_t doorbells(void)
{
	FILE *file = fopen("/proc/interrupts", "r");
	static char line[LINE_LEN];
	uint64_t sum = 0;
	char *at, *next;

	while (file && fgets(line, sizeof(line), file)) {
		at = strstr(line, "PLT:");
		if (!at)
			continue;
		for (at += 4; ; at = next) {
			uint64_t value = strtoull(at, &next, 10);

			if (next == at)
				break;
			sum += value;
		}
	}
	if (file)
		fclose(file);
	return sum;
}

static int gap(int seconds)
{
	uint64_t bells = doorbells(), ns = now_ns();
	uint64_t begin = __rdtsc(), last = begin, now, longest = 0, looks;
	uint64_t stop = ns + seconds * 1000000000ull;

	do {
		/* The clock costs more than the counter: asked for rarely. */
		for (looks = 0; looks < 10000; looks++) {
			now = __rdtsc();
			if (now - last > longest)
				longest = now - last;
			last = now;
		}
	} while (now_ns() < stop);
	ns = now_ns() - ns;
	bells = doorbells() - bells;
	printf("%.0f %llu\n", (double)longest * ns / (last - begin),
	       (unsigned long long)bells);
	return 0;
}

int main(int argc, char **argv)
{
	const char *word = argc == 3 ? argv[2] : "";

	if (argc == 2 && !strcmp(argv[1], "rate"))
		return rate();
	if (argc == 3 && !strcmp(argv[1], "watch"))
		return watch(word);
	if (argc == 3 && !strcmp(argv[1], "log"))
		return watch_log(word);
	if (argc == 3 && !strcmp(argv[1], "end"))
		return end(word);
	if (argc > 2 && !strcmp(argv[1], "then"))
		return then(argv + 2);
	if (argc == 3 && !strcmp(argv[1], "gap") && atoi(word) > 0)
		return gap(atoi(word));
	fprintf(stderr, "usage: moments rate | watch N | log TEXT | end HOW | "
		"then COMMAND... | gap SECONDS\n");
	return 2;
}
