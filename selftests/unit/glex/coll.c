// SPDX-License-Identifier: GPL-2.0
/*
 * libglex's collectives, under all that may come between.
 *
 *	coll [--break KNOB] WHAT MEMBERS SEED
 *
 *	right		calls drawn by lot, in processes: each result is compared with
 *			what all have contributed; the group is left and joined again
 *	threads		the same, the members are threads of one process
 *	kill		one is killed at some moment
 *	destroy		one destroys its endpoint between two calls
 *	slow		one does before all have seen that all have joined
 *	scribble	somebody writes anything over the files of all
 *	forged		packets that are not of this call, or changed on their way
 *	late		the sender gives up while its memory is copied
 *	operations	each one, of numbers of 32 and of 64 bits
 *	alone		who waits for one who does not come, and what is refused
 *
 * A call gives the right result or an error, and all of the others end.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "calls.h"
#include "../inject.h"

static uint32_t first, rounds = 60, limit = 100;
static void (*before_copy)(void);
static bool uneven;			/* some look seldom at who has joined */

ssize_t process_vm_readv(pid_t pid, const struct iovec *here, unsigned long nr,
			 const struct iovec *there, unsigned long nr_there,
			 unsigned long flags)
{
	if (before_copy)
		before_copy();
	return syscall(SYS_process_vm_readv, pid, here, nr, there, nr_there, flags);
}

/* --- members that are processes */

static void *all_right(void *arg)
{
	struct member *m = arg;

	check(calls(m, 0, rounds / 2) == rounds / 2, "no call fails");
	check(!glex_coll_leave(m->coll, -1), "leaves");
	member_joins(m, -1);
	check(calls(m, rounds / 2, rounds) == rounds, "no call fails");
	check(!glex_coll_leave(m->coll, -1), "leaves");
	glex_destroy_ep(m->ep);
	return NULL;
}

/* Until it fails, as it must, and goes on failing; then all end. */
static void *until_broken(void *arg)
{
	struct member *m = arg;
	struct glex_err_req error;
	uint32_t nr = 1;

	check(calls(m, 0, UINT32_MAX) < UINT32_MAX, "it breaks");
	check(!glex_poll_error_req(m->ep, &nr, &error) && nr == 1, "it says why");
	check(glex_coll_barrier(m->coll, -1) == GLEX_ACCESS_ERR, "it stays broken");
	check(!glex_coll_leave(m->coll, -1), "leaves what is broken");
	glex_destroy_ep(m->ep);
	return NULL;
}

/* Some scribbling changes nothing that anybody looks at. */
static void *maybe_broken(void *arg)
{
	struct member *m = arg;

	calls(m, 0, 20 * rounds);
	glex_coll_leave(m->coll, 1000);
	glex_destroy_ep(m->ep);
	return NULL;
}

static int joined[2];

static void one_process(uint32_t rank, void *(*does)(void *))
{
	struct member m = { .rank = rank };

	alarm(limit);
	look_ms = !uneven ? 0 : rank == 1 ? 100 : rank == 2 ? 250 : 0;
	member_begin(&m);
	member_joins(&m, -1);
	check(write(joined[1], "", 1) == 1, "it tells");
	does(&m);
	_exit(0);
}

static void begin_all(pid_t *pid, void *(*does)(void *), uint32_t but)
{
	uint32_t i;

	check(!pipe(joined), "a pipe");
	for (i = 0; i < members; i++) {
		pid[i] = i == but ? 0 : fork();
		if (!pid[i] && i != but)
			one_process(i, does);
	}
}

static void all_joined(void)
{
	uint32_t i;
	char byte;

	for (i = 0; i < members; i++)
		check(read(joined[0], &byte, 1) == 1, "all join");
}

static void end_all(const pid_t *pid, uint32_t but)
{
	uint32_t i, bad = 0;
	int status;

	for (i = 0; i < members; i++) {
		if (i == but)
			continue;
		waitpid(pid[i], &status, 0);
		if (WIFSIGNALED(status))
			printf("FAILED: member %u: %s\n", i, strsignal(WTERMSIG(status)));
		bad += !!status;
	}
	if (bad)
		exit(1);
}

static void right(void)
{
	pid_t pid[MEMBERS];

	begin_all(pid, all_right, members);
	end_all(pid, members);
}

static void kills(void)
{
	uint64_t lots = seed;
	uint32_t victim = lot(&lots, members);
	pid_t pid[MEMBERS];

	begin_all(pid, until_broken, members);
	all_joined();
	usleep(lot(&lots, 100000));
	kill(pid[victim], SIGKILL);
	waitpid(pid[victim], NULL, 0);
	end_all(pid, victim);
}

static void destroys(void)
{
	uint64_t lots = seed;
	uint32_t victim = lot(&lots, members);
	struct member m = { .rank = victim };
	pid_t pid[MEMBERS];

	begin_all(pid, until_broken, victim);
	member_begin(&m);
	member_joins(&m, -1);
	calls(&m, 0, lot(&lots, 20));
	glex_destroy_ep(m.ep);
	end_all(pid, victim);
}

/*
 * The last to come finds all others there, calls, and ends his endpoint; who was
 * there before him, and has not looked yet, finds the group broken, and joins it.
 */
static void slow(void)
{
	struct member m = { .rank = 0 };
	pid_t pid[MEMBERS];

	uneven = true;
	limit = 20;
	begin_all(pid, until_broken, 0);
	member_begin(&m);
	member_joins(&m, -1);
	glex_destroy_ep(m.ep);
	end_all(pid, 0);
}

/* Of a header's few words as often as of all else. */
static void scribble_one(const struct file *f, uint64_t *lots)
{
	uint64_t word = (uint64_t)lot(lots, UINT32_MAX) << 32 | lot(lots, UINT32_MAX);
	size_t size = lot(lots, 2) ? sizeof(struct header) : f->size;
	size_t at = lot(lots, size / 8) * 8;

	*(volatile uint64_t *)((char *)f->header + at) = word;
}

static void scribbles(void)
{
	struct file file[MEMBERS];
	uint64_t lots = seed;
	pid_t pid[MEMBERS];
	uint32_t i;

	begin_all(pid, maybe_broken, members);
	all_joined();
	for (i = 0; i < members; i++)
		check(!file_open(&file[i], address[i]), "a file");
	for (i = 0; i < 1000; i++) {
		scribble_one(&file[lot(&lots, members)], &lots);
		usleep(50);
	}
	end_all(pid, members);
}

/* --- members that are threads */

static void *thread_joins(void *arg)
{
	member_joins(arg, -1);
	return NULL;
}

static void in_threads(struct member *m, void *(*does)(void *))
{
	pthread_t thread[MEMBERS];
	uint32_t i;

	for (i = 0; i < members; i++)
		pthread_create(&thread[i], NULL, does, &m[i]);
	for (i = 0; i < members; i++)
		pthread_join(thread[i], NULL);
}

static void all_begin(struct member *m)
{
	uint32_t i;

	for (i = 0; i < members; i++) {
		m[i] = (struct member){ .rank = i };
		member_begin(&m[i]);
	}
	in_threads(m, thread_joins);
}

static void threads(void)
{
	struct member m[MEMBERS];

	all_begin(m);
	in_threads(m, all_right);
}

/* As 0 would send it to 1, of so many calls ago, then changed or not. */
static void forge(struct member *m, uint32_t ago, bool change, uint64_t value)
{
	struct glex_coll *coll = m[1].coll;
	struct coll_packet packet = {
		.group = coll->group, .len = 8, .sequence = coll->sequence - ago,
		.shape = 2, .from = 0, .phase = COLL_DOWN, .way = COLL_FAST,
	};
	struct glex_imm_mp_req req = {
		.rmt_ep_addr = address[1], .data = &packet, .len = sizeof(packet),
	};

	memcpy(packet.data, &value, sizeof(value));
	packet.check = coll_check_of(&packet);
	if (change)
		packet.data[0]++;
	check(!glex_send_imm_mp(m[0].ep, &req, NULL), "a packet is sent");
}

static void forged_one(uint32_t ago, bool change, bool goes)
{
	struct member m[MEMBERS];
	uint64_t value = 0;
	glex_ret_t ret;

	members = 2;
	all_begin(m);
	forge(m, ago, change, 5);
	ret = glex_coll_bcast(m[1].coll, 0, &value, sizeof(value), 5000);
	check(ret || value == 5, "a wrong value");
	check(!ret == goes, "a packet of another call");
	glex_destroy_ep(m[0].ep);
	glex_destroy_ep(m[1].ep);
}

static void forged(void)
{
	forged_one(0, false, true);
	forged_one(1, false, false);
	forged_one(-2, false, false);
	forged_one(0, true, false);
}

static uint64_t late_data[1024];
static struct member late_member[MEMBERS];

/* The copy comes when the sender has given up, and uses its memory otherwise. */
static void sender_gives_up(void)
{
	before_copy = NULL;
	check(!coll_break(late_member[0].coll, 1, GLEX_ERR_STATUS_CONNECTION_MAX_RETRY),
	      "it breaks");
	memset(late_data, 7, sizeof(late_data));
}

static void *sends_long(void *arg)
{
	struct member *m = arg;

	glex_coll_bcast(m->coll, 0, late_data, sizeof(late_data), 200);
	return NULL;
}

static void late(void)
{
	uint64_t data[1024] = { 0 };
	pthread_t thread;
	glex_ret_t ret;

	members = 2;
	all_begin(late_member);
	before_copy = sender_gives_up;
	pthread_create(&thread, NULL, sends_long, &late_member[0]);
	ret = glex_coll_bcast(late_member[1].coll, 0, data, sizeof(data), 5000);
	check(ret == GLEX_ACCESS_ERR, "it is told that it has what was not sent");
	pthread_join(thread, NULL);
}

/* Of 6, or -6 where there is a sign, and 3, whose location is the lower one. */
static void operation(enum glex_coll_reduce_op op, bool wide, int64_t expected,
		      uint32_t location)
{
	int32_t six = op >= GLEX_COLL_REDUCE_SUM_UNSIGNED ? 6 : -6;
	union glex_coll_data_loc a = { 0 }, b = { 0 };
	bool is_float = op <= GLEX_COLL_REDUCE_MINLOC_FLOAT;
	int64_t is;

	if (wide) {
		a.int64_s.location = 9;
		b.int64_s.location = 4;
	} else {
		a.int32_s.location = 9;
		b.int32_s.location = 4;
	}
	if (is_float && wide) {
		a.double_s.data = six;
		b.double_s.data = 3;
	} else if (is_float) {
		a.float_s.data = six;
		b.float_s.data = 3;
	} else if (wide) {
		a.int64_s.data = six;
		b.int64_s.data = 3;
	} else {
		a.int32_s.data = six;
		b.int32_s.data = 3;
	}
	coll_combine(&a, &b, 1, wide, op);
	if (is_float)
		is = wide ? a.double_s.data : a.float_s.data;
	else
		is = wide ? a.int64_s.data : a.int32_s.data;
	if (is != expected)
		printf("operation %d, %d: %ld\n", op, wide, is);
	check(is == expected, "an operation");
	check((wide ? a.int64_s.location : a.int32_s.location) == location,
	      "its location");
}

static void operations(void)
{
	static const struct {
		int8_t is, location;
	} expected[] = {
		{ -3, 9 }, { 3, 4 }, { -6, 9 },	/* of floats: sum, most, least */
		{ -3, 9 }, { 3, 4 }, { -6, 9 },	/* signed */
		{ 9, 9 }, { 6, 9 }, { 3, 4 },	/* unsigned */
		{ 1, 9 }, { 1, 9 }, { 0, 9 },	/* and, or, exclusive or */
		{ 2, 9 }, { 7, 9 }, { 5, 9 },	/* the same of bits */
	};
	union glex_coll_data_loc a = { .double_s = { 1, 5 } };
	union glex_coll_data_loc b = { .double_s = { 1, 2 } };
	uint32_t op;

	for (op = 0; op <= GLEX_COLL_REDUCE_BXOR; op++) {
		operation(op, false, expected[op].is, expected[op].location);
		operation(op, true, expected[op].is, expected[op].location);
	}
	coll_combine(&a, &b, 1, true, GLEX_COLL_REDUCE_MAXLOC_FLOAT);
	check(a.double_s.location == 2, "of equal ones the lower location");
}

static void alone(void)
{
	struct member m = { 0 };
	union glex_coll_data_loc number = { 0 };
	struct glex_err_req error;
	uint64_t words[16];
	glex_ep_addr_t from;
	uint32_t nr = 1;

	members = 2;
	member_begin(&m);
	check(glex_coll_join(m.ep, address, members, 50, &m.coll) == GLEX_ACCESS_ERR &&
	      !glex_poll_error_req(m.ep, &nr, &error) && nr == 1 &&
	      error.status == GLEX_ERR_STATUS_DEST_VP_STOP &&
	      error.rmt_ep_num == first + 1, "who is missing");
	check(glex_coll_join(m.ep, address + 1, 1, 0, &m.coll) == GLEX_INVALID_PARAM,
	      "a group of others");
	address[1] = address[0];
	check(glex_coll_join(m.ep, address, 2, 0, &m.coll) == GLEX_INVALID_PARAM,
	      "one who is there twice");
	members = 1;
	member_joins(&m, 0);
	check(glex_coll_join(m.ep, address, 1, 0, &m.coll) == GLEX_BUSY,
	      "two groups of an endpoint");
	check(glex_receive_mp(m.ep, 0, &from, words, &nr) == GLEX_INVALID_PARAM,
	      "packets of the group");
	check(glex_coll_bcast(m.coll, 1, words, 8, 0) == GLEX_INVALID_PARAM, "no root");
	check(glex_coll_allreduce(m.coll, &number, &number, 1, 0, 15, 0) ==
	      GLEX_INVALID_PARAM, "no operation");
	check(!glex_coll_barrier(m.coll, 0), "a barrier of one");
	check(!glex_coll_leave(m.coll, 0), "leaves");
	glex_destroy_ep(m.ep);
}

static const struct {
	const char *name;
	void (*does)(void);
} parts[] = {
	{ "right", right }, { "threads", threads }, { "kill", kills },
	{ "destroy", destroys }, { "slow", slow }, { "scribble", scribbles }, { "forged", forged },
	{ "late", late }, { "operations", operations }, { "alone", alone },
};

static void part(const char *name)
{
	uint32_t i;

	for (i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		if (!strcmp(name, parts[i].name))
			parts[i].does();
	puts("ok");
	exit(0);
}

/* Whoever was killed has left his file. */
static void sweep(void)
{
	char path[64];
	uint32_t i;

	for (i = 0; i < MEMBERS; i++) {
		snprintf(path, sizeof(path), "/dev/shm/glex-%u-0-%u", getuid(), first + i);
		unlink(path);
	}
}

int main(int argc, char **argv)
{
	int status = 1;
	uint32_t i;

	if (argc > 2 && !strcmp(argv[1], "--break")) {
		check(inject_on(argv[2], -1), "no such knob");
		limit = 5;	/* who hangs then */
		argv += 2;
		argc -= 2;
	}
	check(argc > 3, "WHAT MEMBERS SEED");
	members = atoi(argv[2]);
	seed = atoi(argv[3]);
	check(members && members <= MEMBERS, "so many members");
	if (argc > 4)
		rounds = atoi(argv[4]);
	/* Numbers that nobody else of this user has, whoever runs it beside this. */
	first = 32 + getpid() % 2040 * MEMBERS * 2;
	for (i = 0; i < MEMBERS; i++)
		address[i].ep_num = first + i;
	if (!fork())
		part(argv[1]);
	wait(&status);
	sweep();
	return !!status;
}
