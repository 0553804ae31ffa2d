// SPDX-License-Identifier: GPL-2.0
/*
 * Shares by lot with programs of other instances, which may die at any
 * instruction: a robust mutex, a semaphore, System V segments, and names of
 * FOLDER, a /dev/shm.  Meanwhile it has memory that has no name any more.
 *   shares FOLDER make         once, before: what is in the second page of the
 *                              file FOLDER/state
 *   shares FOLDER              looks, once nobody works: the sum is right, and no
 *                              segment is attached
 *   shares FOLDER SELF SEED    works until word 63 of FOLDER/state is not 0; word
 *                              SELF of it counts
 * Exit status: 0, or 1 with a line that says what is wrong.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <time.h>
#include <unistd.h>

#define PAGE		4096ul
#define STOP		63
#define INSTANCES	3
#define KEY		0x4d100000
#define KEYS		6
#define NAMES		5
#define PAGES		4ul	/* of a segment, of a file */
#define BOUND		60	/* seconds: above all that is promised */

/* The second page of the state. */
struct shared {
	pthread_mutex_t lock;
	sem_t token;
	uint64_t part[INSTANCES];
	uint64_t sum;
	uint64_t deaths;
};

static uint64_t seed;
static unsigned long self;
static volatile uint64_t *state;
static struct shared *shared;

static void die(const char *what, int err)
{
	printf("FAILED: %s: %s\n", what, strerror(err));
	exit(1);
}

static unsigned long draw(unsigned long below)
{
	seed = seed * 6364136223846793005ull + 1442695040888963407ull;
	return (seed >> 33) % below;
}

static void state_map(const char *folder)
{
	char name[256];
	char *map;
	int fd;

	snprintf(name, sizeof(name), "%s/state", folder);
	fd = open(name, O_RDWR);
	map = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (fd < 0 || map == MAP_FAILED)
		die(name, errno);
	state = (uint64_t *)map;
	shared = (struct shared *)(map + PAGE);
}

static void shared_make(void)
{
	pthread_mutexattr_t attr;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
	if (pthread_mutex_init(&shared->lock, &attr) ||
	    sem_init(&shared->token, 1, 0))
		die("no lock", errno);
}

/* --- the lock: the sum is that of the parts, but where a holder died */

static void sum_up(void)
{
	int i;

	shared->sum = 0;
	for (i = 0; i < INSTANCES; i++)
		shared->sum += shared->part[i];
}

static void lock(void)
{
	struct timespec end;
	int err;

	clock_gettime(CLOCK_REALTIME, &end);
	end.tv_sec += BOUND;
	err = pthread_mutex_timedlock(&shared->lock, &end);
	if (err == EOWNERDEAD) {
		shared->deaths++;
		sum_up();
		err = pthread_mutex_consistent(&shared->lock);
	}
	if (err)
		die("the lock of all", err);
}

static void sum_check(void)
{
	uint64_t was = shared->sum;

	sum_up();
	if (was == shared->sum)
		return;
	printf("FAILED: the sum is %lu, not %lu, and no holder died\n",
	       (long)was, (long)shared->sum);
	exit(1);
}

static void add(void)
{
	lock();
	sum_check();
	shared->part[self]++;
	/* So that others wait, and some die here. */
	if (!draw(2))
		usleep(2000);
	shared->sum++;
	pthread_mutex_unlock(&shared->lock);
}

/* --- a semaphore: whoever waits is woken by another one, or is late */

static void pass(void)
{
	struct timespec end;

	if (sem_post(&shared->token))
		die("sem_post", errno);
	clock_gettime(CLOCK_REALTIME, &end);
	end.tv_nsec += 20000000;
	end.tv_sec += end.tv_nsec / 1000000000;
	end.tv_nsec %= 1000000000;
	while (draw(2) && !sem_timedwait(&shared->token, &end))
		;
}

/* --- memory: a page's first word is 0, or says whose and which page it is */

static void use(uint64_t *at, uint64_t tag, const char *what)
{
	unsigned long i, step = PAGE / sizeof(*at);

	for (i = 0; i < PAGES; i++) {
		uint64_t stamp = tag << 8 | (i + 1), got;

		got = ((volatile uint64_t *)at)[i * step];
		if (got && got != stamp) {
			printf("FAILED: %s: page %lu has %lx, not %lx\n", what,
			       i, (long)got, (long)stamp);
			exit(1);
		}
		if (draw(2))
			((volatile uint64_t *)at)[i * step] = stamp;
	}
}

/* Another one may remove it in the middle of anything. */
static void segment(void)
{
	int id = shmget(KEY + draw(KEYS), PAGES * PAGE, IPC_CREAT | 0600);
	void *at;

	if (id < 0)
		die("shmget", errno);
	at = shmat(id, NULL, 0);
	if (at == (void *)-1) {
		if (errno != EINVAL && errno != EIDRM)
			die("shmat", errno);
		return;
	}
	use(at, id, "a segment");
	if (!draw(4) && shmctl(id, IPC_RMID, NULL) && errno != EINVAL &&
	    errno != EIDRM)
		die("IPC_RMID", errno);
	use(at, id, "a segment");
	if (shmdt(at))
		die("shmdt", errno);
}

static void name(const char *folder)
{
	unsigned long which = draw(NAMES);
	char path[256];
	void *at;
	int fd;

	snprintf(path, sizeof(path), "%s/name%lu", folder, which);
	fd = open(path, O_RDWR | O_CREAT, 0600);
	if (fd < 0 || ftruncate(fd, PAGES * PAGE))
		die(path, errno);
	at = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (at == MAP_FAILED)
		die(path, errno);
	close(fd);
	use(at, 1000 + which, path);
	if (!draw(3) && unlink(path) && errno != ENOENT)
		die(path, errno);
	use(at, 1000 + which, path);
	munmap(at, PAGES * PAGE);
}

/* --- memory without a name: it is there as long as somebody has it */

static uint64_t *kept[2];

static uint64_t kept_word(unsigned long which, unsigned long page)
{
	return (uint64_t)getpid() << 16 | which << 8 | (page + 1);
}

static void keep(const char *folder)
{
	int id = shmget(IPC_PRIVATE, PAGES * PAGE, 0600);
	unsigned long i, page;
	char path[256];
	int fd;

	kept[0] = shmat(id, NULL, 0);
	if (id < 0 || kept[0] == (void *)-1 || shmctl(id, IPC_RMID, NULL))
		die("a segment to keep", errno);
	snprintf(path, sizeof(path), "%s/kept%lu", folder, self);
	fd = open(path, O_RDWR | O_CREAT, 0600);
	if (fd < 0 || ftruncate(fd, PAGES * PAGE) || unlink(path))
		die(path, errno);
	kept[1] = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (kept[1] == MAP_FAILED)
		die(path, errno);
	close(fd);
	for (i = 0; i < 2; i++)
		for (page = 0; page < PAGES; page++)
			kept[i][page * PAGE / 8] = kept_word(i, page);
}

static void kept_check(void)
{
	unsigned long i, page;
	uint64_t got;

	for (i = 0; i < 2; i++) {
		for (page = 0; page < PAGES; page++) {
			got = ((volatile uint64_t *)kept[i])[page * PAGE / 8];
			if (got == kept_word(i, page))
				continue;
			printf("FAILED: %s that has no name: page %lu has %lx, not %lx\n",
			       i ? "a file" : "a segment", page, (long)got,
			       (long)kept_word(i, page));
			exit(1);
		}
	}
}

static void work(const char *folder)
{
	keep(folder);
	while (!state[STOP]) {
		add();
		pass();
		segment();
		name(folder);
		kept_check();
		/* Who works all the time makes the test's own steps slow. */
		if (!(++state[self] % 8))
			usleep(3000);
	}
}

/* --- afterwards */

static void look(void)
{
	struct shmid_ds ds;
	int i, id;

	lock();
	sum_check();
	pthread_mutex_unlock(&shared->lock);
	for (i = 0; i < KEYS; i++) {
		id = shmget(KEY + i, 0, 0);
		if (id < 0 && errno == ENOENT)
			continue;
		if (id < 0 || shmctl(id, IPC_STAT, &ds))
			die("a segment that is there", errno);
		if (ds.shm_nattch) {
			printf("FAILED: %lu have segment %d attached\n",
			       (long)ds.shm_nattch, id);
			exit(1);
		}
	}
}

int main(int argc, char **argv)
{
	if (argc < 2 || argc > 4)
		return 2;
	state_map(argv[1]);
	if (argc == 3)
		return shared_make(), 0;
	if (argc == 2)
		return look(), 0;
	self = strtoul(argv[2], NULL, 10);
	if (self >= INSTANCES)
		return 2;
	seed = strtoul(argv[3], NULL, 10) * 64 + self;
	work(argv[1]);
	return 0;
}
