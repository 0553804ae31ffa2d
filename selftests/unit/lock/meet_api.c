// SPDX-License-Identifier: GPL-2.0
/*
 * The barrier of libmios-lock as a program meets it: what is refused, what
 * processes make together, and that one of them which is killed breaks the same
 * round for all.
 */
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../../userspace/libmios-lock/mios_barrier.h"
#include "../test.h"

#define MEMBERS	4
#define ROUNDS	400
#define VICTIM	2

static size_t size;
static void *memory;
static struct shared {
	unsigned long rounds[MEMBERS];	/* that were over, own */
} *shared;

static void see(struct mios_barrier_seat *seat, unsigned int member)
{
	CHECK(!mios_barrier_attach(seat, memory, size, member));
}

static void refusals(void)
{
	struct mios_barrier_seat seat, other;
	double one = 1;
	int32_t number = -5;

	CHECK(!mios_barrier_size(0) && !mios_barrier_size(1025));
	CHECK(mios_barrier_init(memory, size - 1, MEMBERS) == -EINVAL);
	CHECK(mios_barrier_attach(&seat, memory, size, 0) == -EBADMSG);
	CHECK(!mios_barrier_init(memory, size, 1));
	CHECK(mios_barrier_attach(&seat, memory, size, 1) == -EINVAL);
	CHECK(mios_barrier_attach(&seat, memory, 128, 0) == -EBADMSG);
	see(&seat, 0);
	CHECK(mios_barrier_attach(&other, memory, size, 0) == -EBUSY);
	CHECK(!mios_barrier_wait(&seat));
	CHECK(mios_barrier_reduce(&seat, MIOS_BARRIER_DOUBLE, MIOS_BARRIER_AND,
				  &one) == -EINVAL);
	CHECK(!mios_barrier_reduce(&seat, MIOS_BARRIER_INT32, MIOS_BARRIER_SUM,
				   &number) && number == -5);
	CHECK(!mios_barrier_detach(&seat));
	CHECK(!mios_barrier_init(memory, size, MEMBERS));
}

static void make(struct mios_barrier_seat *seat, unsigned int member, int round)
{
	double half = round + member * 0.5, all = 0;
	int32_t least = round - (int)member;
	uint64_t bits = 1ull << (40 + member);
	int i;

	for (i = 0; i < MEMBERS; i++)
		all += round + i * 0.5;
	CHECK(!mios_barrier_reduce(seat, MIOS_BARRIER_DOUBLE, MIOS_BARRIER_SUM,
				   &half) && half == all);
	CHECK(!mios_barrier_reduce(seat, MIOS_BARRIER_INT32, MIOS_BARRIER_MIN,
				   &least) && least == round - MEMBERS + 1);
	CHECK(!mios_barrier_reduce(seat, MIOS_BARRIER_UINT64, MIOS_BARRIER_OR,
				   &bits) && bits == 15ull << 40);
	half = -round - 0.5 * member;
	CHECK(!mios_barrier_reduce(seat, MIOS_BARRIER_DOUBLE, MIOS_BARRIER_MAX,
				   &half) && half == -round);
	CHECK(!mios_barrier_wait(seat));
}

static void live(unsigned int member)
{
	struct mios_barrier_seat seat;
	int round, err;

	see(&seat, member);
	for (round = -ROUNDS / 2; round < ROUNDS / 2; round++)
		make(&seat, member, round);
	do {
		err = mios_barrier_wait(&seat);
		shared->rounds[member] += !err;
	} while (!err);
	CHECK(err == -EHOSTDOWN && mios_barrier_wait(&seat) == -EHOSTDOWN);
	CHECK(!mios_barrier_detach(&seat));
	exit(0);
}

static pid_t born(unsigned int member)
{
	pid_t pid = fork();

	CHECK(pid >= 0);
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		live(member);
	}
	return pid;
}

int main(void)
{
	pid_t pid[MEMBERS];
	int i, status;

	/* Whoever waits for the dead waits for ever. */
	alarm(60);
	size = mios_barrier_size(MEMBERS);
	memory = mmap(NULL, size + sizeof(*shared), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(memory != MAP_FAILED);
	shared = (void *)((char *)memory + size);
	refusals();
	for (i = 0; i < MEMBERS; i++)
		pid[i] = born(i);
	while (!*(volatile unsigned long *)&shared->rounds[VICTIM])
		usleep(1000);
	kill(pid[VICTIM], SIGKILL);
	for (i = 0; i < MEMBERS; i++) {
		CHECK(waitpid(pid[i], &status, 0) == pid[i]);
		CHECK(i == VICTIM || !status);
	}
	CHECK(shared->rounds[0] == shared->rounds[1]);
	CHECK(shared->rounds[0] == shared->rounds[3]);
	printf("%lu rounds, then a death\nall right\n", shared->rounds[0]);
	return 0;
}
