// SPDX-License-Identifier: GPL-2.0
/*
 * What sessions use, for mios top: a session is one task; but what a
 * launcher's daemon has started are tasks each, on CPUs that the launcher
 * has chosen.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "miosd.h"

#define MAX_LISTED	256	/* processes of one session */

/* Opens a file of the session's cgroup for reading by lines. */
static FILE *open_lines(const struct slot *s, const char *name)
{
	int fd = cgroup_open(s, name, O_RDONLY);

	return fd < 0 ? NULL : fdopen(fd, "r");
}

static uint64_t rss_of(pid_t pid)
{
	char path[64];
	unsigned long pages = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/statm", pid);
	f = fopen(path, "re");
	if (!f)
		return 0;
	if (fscanf(f, "%*u %lu", &pages) != 1)
		pages = 0;
	fclose(f);
	return (uint64_t)pages * sysconf(_SC_PAGESIZE);
}

/* The first MAX_LISTED processes; t->processes counts all. */
static void add_processes(const struct slot *s, struct mios_task *t,
			  pid_t *list)
{
	FILE *f = open_lines(s, "cgroup.procs");
	char line[32];
	pid_t pid;

	while (f && fgets(line, sizeof(line), f)) {
		pid = strtol(line, NULL, 10);
		if (t->processes < MAX_LISTED)
			list[t->processes] = pid;
		t->processes++;
		t->rss += rss_of(pid);
	}
	if (f)
		fclose(f);
}

static void add_cpu_time(const struct slot *s, struct mios_task *t)
{
	FILE *f = open_lines(s, "cpu.stat");
	char line[128];

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "usage_usec %" SCNu64, &t->cpu_usec) == 1)
			break;
	if (f)
		fclose(f);
}

/* Those that a process is bound to, if it is to some only. */
static void bound_cpus(pid_t pid, uint64_t cpus[MIOS_CPU_WORDS])
{
	size_t size = CPU_ALLOC_SIZE(MAX_CPUS);
	cpu_set_t *all = CPU_ALLOC(MAX_CPUS), *its = CPU_ALLOC(MAX_CPUS);
	unsigned int cpu;

	memset(cpus, 0, MIOS_CPU_WORDS * sizeof(*cpus));
	if (all && its && !sched_getaffinity(0, size, all) &&
	    !sched_getaffinity(pid, size, its) && !CPU_EQUAL_S(size, all, its))
		for (cpu = 0; cpu < MAX_CPUS; cpu++)
			if (CPU_ISSET_S(cpu, size, its))
				cpus[cpu / 64] |= 1ull << cpu % 64;
	CPU_FREE(all);
	CPU_FREE(its);
}

/* Name, CPU time and age of a process; false when it has ended. */
static bool read_stat(pid_t pid, struct mios_task *t)
{
	unsigned long long user, system, start;
	uint64_t tick = sysconf(_SC_CLK_TCK);
	char path[64], line[1024], *name, *end;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	f = fopen(path, "re");
	if (!f)
		return false;
	name = fgets(line, sizeof(line), f) ? strchr(line, '(') : NULL;
	fclose(f);
	end = name ? strrchr(name, ')') : NULL;
	if (!end || sscanf(end + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u "
			   "%*u %llu %llu %*d %*d %*d %*d %*d %*d %llu",
			   &user, &system, &start) != 3)
		return false;
	*end = '\0';
	snprintf(t->command, sizeof(t->command), "%s", name + 1);
	t->cpu_usec = (user + system) * 1000000 / tick;
	t->seconds = mios_now_ms() / 1000 - start / tick;
	return true;
}

static int send_task(struct mios_link *l, const struct mios_task *t)
{
	return link_send(l, MIOS_FRAME_TASK, 0, t, sizeof(*t));
}

static int send_each(struct mios_link *l, const pid_t *list, unsigned int nr,
		     struct mios_task t)
{
	unsigned int i;
	int err = 0;

	t.processes = 1;
	for (i = 0; i < nr && !err; i++) {
		t.pid = list[i];
		t.rss = rss_of(list[i]);
		bound_cpus(list[i], t.cpus);
		if (read_stat(list[i], &t))
			err = send_task(l, &t);
	}
	return err;
}

/* @t: what the table knows of the session. */
int usage_send(struct mios_link *l, const struct slot *s, bool launcher,
	       struct mios_task *t)
{
	pid_t list[MAX_LISTED];

	add_processes(s, t, list);
	add_cpu_time(s, t);
	if (launcher && t->processes && t->processes <= MAX_LISTED)
		return send_each(l, list, t->processes, *t);
	return send_task(l, t);
}
