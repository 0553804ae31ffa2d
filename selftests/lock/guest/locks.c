// SPDX-License-Identifier: GPL-2.0
/*
 * Locks and a barrier in a file that programs of other instances map, too, by
 * libmios-lock alone.  An ordinary program: it knows nothing of instances.
 *
 * locks FILE COMMAND ARGUMENTS: see the table at the end.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "mios_anylock.h"
#include "mios_barrier.h"
#include "mios_lock.h"
#include "mios_reglock.h"

#define SEATS		16
#define MEMBERS		3
#define BARRIER_AT	16384
#define DATA_AT		32768
#define FILE_SIZE	65536
#define CALLS_MAX	64

/* What the lock is for: nothing here is changed by an atomic operation. */
struct data {
	uint64_t count;
	uint64_t twin;		/* the same, for who shares the lock */
	uint64_t ticket;	/* of who has it next, at least */
	uint32_t begin, end, let_go, ready;	/* under no lock */
	uint32_t calls;
	char call[CALLS_MAX];	/* who had it, in order */
};

static uint8_t *file;
static struct mios_lock_seat seat;
static struct mios_reglock reg;
static struct mios_anylock any;

static int fail(const char *what, int err)
{
	printf("%s: %s\n", what, strerrorname_np(-err));
	return 1;
}

static struct data *data(void)
{
	return (struct data *)(file + DATA_AT);
}

static bool is_set(uint32_t *word)
{
	return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

static void wait_for(uint32_t *word)
{
	while (!is_set(word))
		usleep(2000);
}

static void say(const char *word)
{
	puts(word);
	fflush(stdout);
}

/* 0, or -errno; one that died with it has left nothing half done here. */
static int locked(int err)
{
	if (err == -EOWNERDEAD) {
		say("EOWNERDEAD");
		err = 0;
	}
	return err;
}

static int sit(void)
{
	return mios_lock_attach(&seat, file, BARRIER_AT);
}

/* init: the caller is alone */
static int cmd_init(int nr, char **arg)
{
	int err;

	memset(data(), 0, sizeof(*data()));
	err = mios_lock_init(file, BARRIER_AT, SEATS);
	if (!err)
		err = mios_barrier_init(file + BARRIER_AT, DATA_AT - BARRIER_AT,
					MEMBERS);
	return err ? fail("init", err) : 0;
}

/* set begin|end|go */
static int cmd_set(int nr, char **arg)
{
	uint32_t *word = !strcmp(arg[0], "begin") ? &data()->begin :
			 !strcmp(arg[0], "end") ? &data()->end :
			 &data()->let_go;

	__atomic_store_n(word, 1, __ATOMIC_RELEASE);
	return 0;
}

/* A long way from the load to the store: others are let in if nothing bars it. */
static void add_one(void)
{
	volatile uint64_t *count = &data()->count, *twin = &data()->twin;
	uint64_t had = *count;
	volatile int i;

	for (i = 0; i < 2000; i++)
		;
	*count = had + 1;
	for (i = 0; i < 2000; i++)
		;
	*twin = had + 1;
}

/* Those who have the lock alone have it in the order of their tickets. */
static int in_order(void)
{
	uint64_t ticket = seat.opaque[2]; /* the library's: of struct mios_qlock */

	if (ticket < data()->ticket)
		return -EILSEQ;
	data()->ticket = ticket + 1;
	return 0;
}

/* From "begin" to "end", and says how often. */
static int adds(int err, int (*lock)(void), int (*unlock)(void))
{
	unsigned long times = 0;

	__atomic_add_fetch(&data()->ready, 1, __ATOMIC_SEQ_CST);
	wait_for(&data()->begin);
	while (!err && !is_set(&data()->end)) {
		err = locked(lock());
		if (err)
			break;
		add_one();
		times++;
		err = unlock();
	}
	if (err)
		return fail("add", err);
	printf("%lu\n", times);
	return 0;
}

static int queue_lock(void)
{
	return mios_lock(&seat);
}

static int queue_unlock(void)
{
	int err = in_order();

	return err ? err : mios_unlock(&seat);
}

/* add: under the queue lock */
static int cmd_add(int nr, char **arg)
{
	return adds(sit(), queue_lock, queue_unlock);
}

static int register_lock(void)
{
	return mios_reglock_lock(&reg);
}

static int register_unlock(void)
{
	return mios_reglock_unlock(&reg);
}

/* radd: under the register lock */
static int cmd_radd(int nr, char **arg)
{
	return adds(mios_reglock_open(&reg, NULL), register_lock,
		    register_unlock) || mios_reglock_close(&reg);
}

static int any_lock(void)
{
	return mios_anylock_lock(&any);
}

static int any_unlock(void)
{
	return mios_anylock_unlock(&any);
}

/* aadd PATH CONTENDERS: under the lock of that name */
static int cmd_aadd(int nr, char **arg)
{
	return adds(mios_anylock_open(&any, arg[0], atoi(arg[1])), any_lock,
		    any_unlock) || mios_anylock_close(&any);
}

/* any PATH CONTENDERS [share]: which it is, then what a try says, and one in time */
static int cmd_any(int nr, char **arg)
{
	const struct timespec past = { 0, 0 };
	int err = mios_anylock_open(&any, arg[0], atoi(arg[1]));

	if (err)
		return fail("any", err);
	say(mios_anylock_is_register(&any) ? "register" : "queue");
	err = nr > 2 ? mios_anylock_tryrdlock(&any) : mios_anylock_trylock(&any);
	say(err ? strerrorname_np(-err) : "locked");
	if (!err || err == -EOWNERDEAD)
		return mios_anylock_unlock(&any);
	err = nr > 2 ? mios_anylock_timedrdlock(&any, &past) :
		       mios_anylock_timedlock(&any, &past);
	say(strerrorname_np(-err));
	return 0;
}

/* Until "go". */
static int holds(int err, int (*unlock)(void))
{
	err = locked(err);
	if (err)
		return fail("hold", err);
	say("held");
	wait_for(&data()->let_go);
	err = unlock();
	return err ? fail("unlock", err) : 0;
}

/* ahold PATH CONTENDERS [share]: until "go" */
static int cmd_ahold(int nr, char **arg)
{
	int err = mios_anylock_open(&any, arg[0], atoi(arg[1]));

	if (!err)
		err = nr > 2 ? mios_anylock_rdlock(&any) :
			       mios_anylock_lock(&any);
	return holds(err, any_unlock);
}

/* From "begin" to "end", and says how often it was not whole. */
static int reads(int err, int (*lock)(void), int (*unlock)(void))
{
	unsigned long torn = 0, times = 0;

	__atomic_add_fetch(&data()->ready, 1, __ATOMIC_SEQ_CST);
	wait_for(&data()->begin);
	while (!err && !is_set(&data()->end)) {
		err = locked(lock());
		if (err)
			break;
		times++;
		torn += *(volatile uint64_t *)&data()->count !=
			*(volatile uint64_t *)&data()->twin;
		err = unlock();
	}
	if (err)
		return fail("read", err);
	printf("%s, torn %lu\n", times ? "some" : "none", torn);
	return 0;
}

static int register_share(void)
{
	return mios_reglock_rdlock(&reg);
}

/* rread: under shares of the register lock */
static int cmd_rread(int nr, char **arg)
{
	return reads(mios_reglock_open(&reg, NULL), register_share,
		     register_unlock) || mios_reglock_close(&reg);
}

static int any_share(void)
{
	return mios_anylock_rdlock(&any);
}

/* aread PATH CONTENDERS: under shares of the lock of that name */
static int cmd_aread(int nr, char **arg)
{
	return reads(mios_anylock_open(&any, arg[0], atoi(arg[1])), any_share,
		     any_unlock) || mios_anylock_close(&any);
}

/* rhold [share]: the register lock, until "go" */
static int cmd_rhold(int nr, char **arg)
{
	int err = mios_reglock_open(&reg, NULL);

	if (!err)
		err = nr ? mios_reglock_rdlock(&reg) : mios_reglock_lock(&reg);
	return holds(err, register_unlock);
}

/* rtake: the register alone, which nobody is told of, until "go" */
static int cmd_rtake(int nr, char **arg)
{
	int fd = open(MIOS_REGLOCK_PATH, O_RDWR);
	volatile uint32_t *word;
	uint32_t info[6];	/* struct mios_register_info */
	uint8_t *page;

	if (fd < 0 || read(fd, info, sizeof(info)) != sizeof(info))
		return fail("rtake", -errno);
	page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (page == MAP_FAILED)
		return fail("mmap", -errno);
	word = (uint32_t *)(page + info[2]);
	say(*word & 1 ? "taken before" : "held");
	wait_for(&data()->let_go);
	*word = 0;
	return 0;
}

/* rlock [MS]: what it says, within so long; it waits from when it says so */
static int cmd_rlock(int nr, char **arg)
{
	struct timespec until;
	int err = mios_reglock_open(&reg, NULL);

	if (err)
		return fail("rlock", err);
	say("waits");
	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += nr ? atol(arg[0]) / 1000 : 1000;
	err = mios_reglock_timedlock(&reg, &until);
	say(err ? strerrorname_np(-err) : "locked");
	return err && err != -EOWNERDEAD ? 0 : mios_reglock_unlock(&reg);
}

static int queue_share(void)
{
	return mios_rdlock(&seat);
}

static int share_unlock(void)
{
	return mios_unlock(&seat);
}

/* read: under shares of the queue lock */
static int cmd_read(int nr, char **arg)
{
	return reads(sit(), queue_share, share_unlock);
}

/* hold [share]: until "go" */
static int cmd_hold(int nr, char **arg)
{
	int err = sit();

	if (!err)
		err = nr ? mios_rdlock(&seat) : mios_lock(&seat);
	return holds(err, share_unlock);
}

/* queue LETTER [share]: has it, writes that down, and hands it on */
static int cmd_queue(int nr, char **arg)
{
	struct data *d = data();
	int err = sit();

	if (!err)
		err = locked(nr > 1 ? mios_rdlock(&seat) : mios_lock(&seat));
	if (err)
		return fail("queue", err);
	d->call[d->calls++ % CALLS_MAX] = arg[0][0];
	err = mios_unlock(&seat);
	return err ? fail("unlock", err) : 0;
}

/* try [share]: what it says */
static int cmd_try(int nr, char **arg)
{
	int err = sit();

	if (!err)
		err = nr ? mios_tryrdlock(&seat) : mios_trylock(&seat);
	say(err ? strerrorname_np(-err) : "locked");
	return err ? 0 : mios_unlock(&seat);
}

/* timed MS: what it says, and whether it took so long */
static int cmd_timed(int nr, char **arg)
{
	struct timespec until, now;
	long ms = atol(arg[0]);
	int err = sit();

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += (until.tv_nsec / 1000000 + ms) / 1000;
	until.tv_nsec = (until.tv_nsec / 1000000 + ms) % 1000 * 1000000;
	if (!err)
		err = mios_timedlock(&seat, &until);
	clock_gettime(CLOCK_MONOTONIC, &now);
	ms = (now.tv_sec - until.tv_sec) * 1000 +
	     (now.tv_nsec - until.tv_nsec) / 1000000;
	printf("%s %s\n", err ? strerrorname_np(-err) : "locked",
	       ms < 0 ? "early" : ms < 1000 ? "on time" : "late");
	return err ? 0 : mios_unlock(&seat);
}

/* meet MEMBER [ROUNDS]: add up; without ROUNDS until it fails, and say why */
static int cmd_meet(int nr, char **arg)
{
	unsigned long rounds = nr > 1 ? strtoul(arg[1], NULL, 0) : ~0ul, i;
	struct mios_barrier_seat member;
	uint64_t me = strtoul(arg[0], NULL, 0), sum;
	int err = mios_barrier_attach(&member, file + BARRIER_AT,
				      DATA_AT - BARRIER_AT, me);

	for (i = 1; !err && i <= rounds; i++) {
		sum = i * (me + 1);
		err = mios_barrier_reduce(&member, MIOS_BARRIER_UINT64,
					  MIOS_BARRIER_SUM, &sum);
		if (!err && sum != i * MEMBERS * (MEMBERS + 1) / 2)
			return fail("sum", -EILSEQ);
		if (i == 1 && nr == 1)
			say("met");
	}
	say(err ? strerrorname_np(-err) : "all rounds");
	if (!err)
		err = mios_barrier_wait(&member);
	return err && nr > 1 ? fail("wait", err) : 0;
}

/* show count|calls|ready */
static int cmd_show(int nr, char **arg)
{
	if (!strcmp(arg[0], "count"))
		printf("%llu\n", (unsigned long long)data()->count);
	else if (!strcmp(arg[0], "calls"))
		printf("%.*s\n", CALLS_MAX, data()->call);
	else
		printf("%u\n", data()->ready);
	return 0;
}

static const struct command {
	const char *name;
	int (*run)(int nr, char **arg);
	int nr;
} commands[] = {
	{ "init", cmd_init, 0 },
	{ "set", cmd_set, 1 },
	{ "add", cmd_add, 0 },
	{ "radd", cmd_radd, 0 },
	{ "aadd", cmd_aadd, 2 },
	{ "any", cmd_any, 2 },
	{ "ahold", cmd_ahold, 2 },
	{ "aread", cmd_aread, 2 },
	{ "rread", cmd_rread, 0 },
	{ "rhold", cmd_rhold, 0 },
	{ "rtake", cmd_rtake, 0 },
	{ "rlock", cmd_rlock, 0 },
	{ "read", cmd_read, 0 },
	{ "hold", cmd_hold, 0 },
	{ "queue", cmd_queue, 1 },
	{ "try", cmd_try, 0 },
	{ "timed", cmd_timed, 1 },
	{ "meet", cmd_meet, 1 },
	{ "show", cmd_show, 1 },
};

int main(int argc, char **argv)
{
	unsigned int i;
	int fd;

	if (argc < 3)
		return 2;
	fd = open(argv[1], O_RDWR);
	if (fd < 0)
		return fail(argv[1], -errno);
	file = mmap(NULL, FILE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (file == MAP_FAILED)
		return fail("mmap", -errno);
	for (i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		if (!strcmp(argv[2], commands[i].name) &&
		    argc - 3 >= commands[i].nr)
			return commands[i].run(argc - 3, argv + 3);
	return 2;
}
