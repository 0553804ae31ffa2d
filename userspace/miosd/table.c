// SPDX-License-Identifier: GPL-2.0
/*
 * The table of connections, shared by miosd's processes: bounds what one
 * user may hold, gives tasks CPUs of their own, feeds mios top.  The main
 * process alone takes and frees slots; CPU counts are atomic.
 */
#include <errno.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "miosd.h"

static struct table {
	struct slot slots[MAX_SLOTS];
	atomic_uint users[MAX_CPUS];	/* tasks bound to each CPU */
	unsigned int serial;
} *table;

/* struct said of each slot, at the begin of a page of its own. */
static char *pages;
static size_t page;

static cpu_set_t *online;	/* CPUs of this instance that miosd may use */

int table_init(void)
{
	table = mmap(NULL, sizeof(*table), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (table == MAP_FAILED)
		return -errno;
	page = sysconf(_SC_PAGESIZE);
	pages = mmap(NULL, MAX_SLOTS * page, PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (pages == MAP_FAILED)
		return -errno;
	online = CPU_ALLOC(MAX_CPUS);
	if (!online)
		return -ENOMEM;
	return 0;
}

struct slot *slot_at(unsigned int index)
{
	return index < MAX_SLOTS ? &table->slots[index] : NULL;
}

static struct said *said_of(const struct slot *s)
{
	return (struct said *)(pages + (s - table->slots) * page);
}

struct slot *slot_find(pid_t pid)
{
	unsigned int i;

	for (i = 0; i < MAX_SLOTS; i++)
		if (table->slots[i].pid == pid && !table->slots[i].ending)
			return &table->slots[i];
	return NULL;
}

struct slot *slot_take(int peer, unsigned int incarnation)
{
	struct slot *s = slot_find(0);

	if (!s)
		return NULL;
	memset(s, 0, sizeof(*s));
	memset(said_of(s), 0, sizeof(struct said));
	s->peer = peer;
	s->incarnation = incarnation;
	s->serial = table->serial++;
	return s;
}

void slot_free(struct slot *s)
{
	unsigned int cpu;

	for (cpu = 0; cpu < MAX_CPUS; cpu++)
		if (s->cpus[cpu / 64] & 1ull << cpu % 64)
			atomic_fetch_sub(&table->users[cpu], 1);
	memset(s, 0, sizeof(*s));
}

unsigned int slots_of_user(uid_t uid, bool relay)
{
	unsigned int i, n = 0;

	for (i = 0; i < MAX_SLOTS; i++)
		if (table->slots[i].pid && table->slots[i].identified &&
		    table->slots[i].uid == uid &&
		    table->slots[i].relay == relay)
			n++;
	return n;
}

/* Users together must not shut root out. */
bool slots_full(uid_t uid)
{
	unsigned int i, n = 0;

	for (i = 0; uid && i < MAX_SLOTS; i++)
		n += !!table->slots[i].pid;
	return n > MAX_SLOTS - ROOT_SLOTS;
}

/* The CPU that the fewest tasks are bound to and that @s has not yet. */
static int least_used(const struct slot *s)
{
	size_t size = CPU_ALLOC_SIZE(MAX_CPUS);
	unsigned int cpu, n, least = -1;
	int best = -1;

	for (cpu = 0; cpu < MAX_CPUS; cpu++) {
		if (!CPU_ISSET_S(cpu, size, online) ||
		    s->cpus[cpu / 64] & 1ull << cpu % 64)
			continue;
		n = atomic_load(&table->users[cpu]);
		if (n < least) {
			least = n;
			best = cpu;
		}
	}
	return best;
}

/*
 * Who places tasks goes by the CPUs that the instance has.  Where miosd may use
 * only some, two tasks of a job would get one: then -EUSERS.
 */
int slot_bind_cpus(struct slot *s, unsigned int count)
{
	size_t size = CPU_ALLOC_SIZE(MAX_CPUS);
	bool some;
	unsigned int n;
	int cpu;

	/* CPUs come and go: ask anew. */
	if (sched_getaffinity(0, size, online))
		return -errno;
	some = CPU_COUNT_S(size, online) < sysconf(_SC_NPROCESSORS_ONLN);
	while (count--) {
		do {
			cpu = least_used(s);
			if (cpu < 0)
				return some ? -EUSERS : -EBUSY;
			n = atomic_load(&table->users[cpu]);
			if (n && some)
				return -EUSERS;
		} while (!atomic_compare_exchange_strong(&table->users[cpu],
							 &n, n + 1));
		s->cpus[cpu / 64] |= 1ull << cpu % 64;
	}
	return 0;
}

/*
 * A process that turns into a user must not keep the table.  Of the pages it
 * keeps the one of its slot, if it has one.
 */
struct said *table_detach(const struct slot *own)
{
	size_t before = own ? (own - table->slots) * page : 0;
	size_t kept = own ? page : 0;

	munmap(table, sizeof(*table));
	table = NULL;
	if (before)
		munmap(pages, before);
	if (before + kept < MAX_SLOTS * page)
		munmap(pages + before + kept, MAX_SLOTS * page - before - kept);
	return own ? (struct said *)(pages + before) : NULL;
}

/*
 * Does its session go on without the caller?  Its supervisor says so, who has
 * the caller's rights alone: it is his own session that stays.
 */
bool table_detached(const struct slot *s)
{
	return said_of(s)->detached;
}

static int64_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec;
}

/* TASK frames for every session. */
int table_report(struct mios_link *l)
{
	const struct said *said;
	struct mios_task t;
	struct slot *s;
	unsigned int i;
	int err;

	for (i = 0; i < MAX_SLOTS; i++) {
		s = &table->slots[i];
		said = said_of(s);
		if (!s->pid || !s->task || !said->running)
			continue;
		memset(&t, 0, sizeof(t));
		t.uid = s->uid;
		t.pid = s->task;
		t.from = s->peer;
		t.seconds = now() - s->started;
		memcpy(t.cpus, s->cpus, sizeof(t.cpus));
		memcpy(t.command, said->command, sizeof(t.command));
		t.command[sizeof(t.command) - 1] = '\0';
		err = usage_send(l, s, said->launcher, &t);
		if (err)
			return err;
	}
	return 0;
}
