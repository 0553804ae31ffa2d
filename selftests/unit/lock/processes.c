// SPDX-License-Identifier: GPL-2.0
/*
 * Processes with one lock in memory that they share.  One after another is
 * killed wherever it may be, buried by two at once, and born again in the next
 * epoch.  One has the lock at a time, a counter that two words make up is whole
 * unless its holder died, and whoever sleeps is woken: nobody has a time limit.
 */
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>

#include "futex.h"

#define PROCESSES	4
#define UNDERTAKER	PROCESSES

static struct shared {
	u8 memory[2 * MIOS_LOCK_LINE + 16 * MIOS_LOCK_LINE];
	unsigned long count, half, told;
	unsigned long done[PROCESSES];	/* own process */
	u32 holder;			/* who has the lock: seat + 1 */
	bool stop;			/* parent */
} *shared;

static bool never_late(void *ctx)
{
	(void)ctx;
	return false;
}

static const struct mios_lock_wait for_ever = {
	.spins = 10, .pause = futex_pause, .sleep = futex_sleep,
	.wake = futex_wake, .late = never_late,
};

static void attach(struct mios_qlock *lock, u32 seat, u32 epoch)
{
	CHECK(!mios_qlock_attach(lock, shared->memory, sizeof(shared->memory),
				 seat, epoch));
	lock->wait = &for_ever;
}

static void inside(u32 seat, int err)
{
	volatile unsigned long *count = &shared->count, *half = &shared->half;

	CHECK(!err || err == -EOWNERDEAD);
	if (err) {
		*half = *count;
		shared->told++;
	} else {
		CHECK(!__atomic_load_n(&shared->holder, __ATOMIC_RELAXED));
	}
	__atomic_store_n(&shared->holder, seat + 1, __ATOMIC_RELAXED);
	CHECK(*half == *count);
	++*count;
	CHECK(__atomic_load_n(&shared->holder, __ATOMIC_RELAXED) == seat + 1);
	++*half;
	__atomic_store_n(&shared->holder, 0, __ATOMIC_RELAXED);
}

static void inside_shared(int err)
{
	volatile unsigned long *count = &shared->count, *half = &shared->half;

	CHECK(err == -EOWNERDEAD || !err);
	CHECK(err || *half == *count);
	CHECK(err || !__atomic_load_n(&shared->holder, __ATOMIC_RELAXED));
}

static void live(u32 seat, u32 epoch)
{
	u64 seed = seat + epoch * PROCESSES;
	struct mios_qlock lock;

	attach(&lock, seat, epoch);
	while (!__atomic_load_n(&shared->stop, __ATOMIC_RELAXED)) {
		if (test_random(&seed) % 2)
			inside(seat, mios_qlock_lock(&lock, false));
		else
			inside_shared(mios_qlock_lock(&lock, true));
		CHECK(!mios_qlock_unlock(&lock));
		__atomic_fetch_add(&shared->done[seat], 1, __ATOMIC_RELAXED);
	}
	exit(0);
}

static pid_t born(u32 seat, u32 epoch)
{
	pid_t pid = fork();

	CHECK(pid >= 0);
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		live(seat, epoch);
	}
	return pid;
}

static void reap(pid_t pid, bool killed)
{
	int status;

	CHECK(waitpid(pid, &status, 0) == pid);
	CHECK(killed ? WIFSIGNALED(status) : WIFEXITED(status));
	CHECK(killed || !WEXITSTATUS(status));
}

static void bury(u32 seat, u32 epoch)
{
	struct mios_qlock lock;
	pid_t pid = fork();

	CHECK(pid >= 0);
	attach(&lock, UNDERTAKER + !pid, 1);
	mios_qlock_recover(&lock, seat, epoch);
	if (!pid)
		exit(0);
	reap(pid, false);
}

static unsigned long done_by(u32 seat)
{
	return __atomic_load_n(&shared->done[seat], __ATOMIC_RELAXED);
}

/* All others get the lock again. */
static void all_go_on(u32 but)
{
	struct timespec ms = { 0, 1000000 };
	unsigned long was[PROCESSES];
	u32 i;

	for (i = 0; i < PROCESSES; i++)
		was[i] = done_by(i);
	for (i = 0; i < PROCESSES; i++)
		while (i != but && was[i] == done_by(i))
			nanosleep(&ms, NULL);
}

void test_processes(u64 seed, unsigned long kills)
{
	u32 epoch[PROCESSES], seat, i;
	pid_t pid[PROCESSES];
	struct timespec wait = { };

	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(shared != MAP_FAILED);
	CHECK(!mios_qlock_format(shared->memory, 16));
	fflush(stdout);
	for (i = 0; i < PROCESSES; i++) {
		epoch[i] = 1;
		pid[i] = born(i, 1);
	}
	while (kills--) {
		seat = test_random(&seed) % PROCESSES;
		wait.tv_nsec = test_random(&seed) % 2000000;
		nanosleep(&wait, NULL);
		kill(pid[seat], SIGKILL);
		reap(pid[seat], true);
		bury(seat, epoch[seat]++);
		all_go_on(seat);
		pid[seat] = born(seat, epoch[seat]);
	}
	__atomic_store_n(&shared->stop, true, __ATOMIC_RELAXED);
	for (i = 0; i < PROCESSES; i++)
		reap(pid[i], false);
	printf("processes: %lu times, %lu deaths with the lock\n",
	       shared->count, shared->told);
	CHECK(shared->count == shared->half);
	munmap(shared, sizeof(*shared));
}
