// SPDX-License-Identifier: GPL-2.0
/*
 * A process whose memory others copy from and to, and who does.
 *
 *	copies owner FILE [closed]	has the memory below, part of it in FILE;
 *					prints its PID, and does what is asked of it
 *					in its first word; closed: not dumpable
 *	copies try PID			what process_vm_readv() and _writev() say of
 *					each kind of memory, a line each: the same
 *					for a process of whichever kernel
 *	copies change PID		the owner changes its memory, and lastly its
 *					rights: what is read is always the new
 *	copies churn PID SECONDS KIND	it goes on changing: remap, fork or discard;
 *					reads meanwhile: how often, how many wrong
 *					words
 *	copies once PID PAGE		reads a word of that page; how long it took
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define BASE	0x200000000ul
#define MIB	(1ul << 20)
#define PAGE	4096ul
#define DATA	(BASE + PAGE)		/* 96 pages, then a hole */
#define DATA_SIZE (96 * PAGE)
#define HOLE	(DATA + DATA_SIZE)
#define READ_ONLY (BASE + 1 * MIB)
#define NONE	(BASE + 2 * MIB)
#define FRESH	(BASE + 3 * MIB)	/* 16 pages that nobody has touched */
#define SHARED	(BASE + 4 * MIB)	/* 4 pages of FILE */
#define CODE	(BASE + 5 * MIB)	/* of the program's own file */
#define CHURNED	(BASE + 8 * MIB)
#define CHURNED_SIZE (4 * MIB)

/* What is asked of the owner, and what he says that he has done. */
struct orders {
	_Atomic uint64_t ask;
	_Atomic uint64_t done;
	uint64_t seed;		/* of what stands in DATA */
};

enum order { REST, REMAP, COPY_ON_WRITE, DISCARD, PROTECT, OPEN, CLOSE, EXEC,
	     CHURN_REMAP, CHURN_FORK, CHURN_DISCARD };

static struct orders *orders = (void *)BASE;

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static void *map(uint64_t at, size_t size, int prot, int flags, int fd)
{
	void *p = mmap((void *)at, size, prot, flags | MAP_FIXED, fd, 0);

	if (p == MAP_FAILED)
		die("mmap");
	return p;
}

#define PRIVATE	(MAP_PRIVATE | MAP_ANONYMOUS)
#define RW	(PROT_READ | PROT_WRITE)

static uint64_t word(uint64_t seed, size_t i)
{
	return (seed << 32 | i) * 0x9e3779b97f4a7c15u;
}

static void fill(uint64_t at, size_t size, uint64_t seed)
{
	uint64_t *p = (void *)at;
	size_t i;

	for (i = 0; i < size / 8; i++)
		p[i] = word(seed, i);
}

/* --- the owner */

static void make(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT, 0600);
	int own = open("/proc/self/exe", O_RDONLY);

	if (fd < 0 || ftruncate(fd, 4 * PAGE))
		die(path);
	if (own < 0)
		die("/proc/self/exe");
	map(BASE, PAGE, RW, PRIVATE, -1);
	map(DATA, DATA_SIZE, RW, PRIVATE, -1);
	fill(DATA, DATA_SIZE, 1);
	orders->seed = 1;
	fill((uint64_t)map(READ_ONLY, PAGE, RW, PRIVATE, -1), PAGE, 2);
	mprotect((void *)READ_ONLY, PAGE, PROT_READ);
	map(NONE, PAGE, PROT_NONE, PRIVATE, -1);
	map(FRESH, 16 * PAGE, RW, PRIVATE, -1);
	fill((uint64_t)map(SHARED, 4 * PAGE, RW, MAP_SHARED, fd), 4 * PAGE, 3);
	map(CODE, 4 * PAGE, PROT_READ, MAP_PRIVATE, own);
	map(CHURNED, CHURNED_SIZE, RW, PRIVATE, -1);
	fill(CHURNED, CHURNED_SIZE, 4);
	close(fd);
	close(own);
}

/* Others get the pages at once: what is read there then is not the owner's. */
static void spoil(size_t size)
{
	char *p = mmap(NULL, size, RW, PRIVATE | MAP_POPULATE, -1, 0);

	if (p == MAP_FAILED)
		die("mmap");
	memset(p, 0xff, size);
	munmap(p, size);
}

static void remap(uint64_t at, size_t size, uint64_t seed)
{
	munmap((void *)at, size);
	spoil(size);
	map(at, size, RW, PRIVATE, -1);
	fill(at, size, seed);
}

/* A child keeps the pages, we get others. */
static void copy_on_write(uint64_t at, size_t size, uint64_t seed)
{
	pid_t child = fork();

	if (child < 0)
		die("fork");
	if (!child) {
		fill(at, size, ~0u);
		usleep(1000);
		_exit(0);
	}
	fill(at, size, seed);
	waitpid(child, NULL, 0);
}

static void discard(uint64_t at, size_t size, uint64_t seed)
{
	madvise((void *)at, size, MADV_DONTNEED);
	spoil(size);
	fill(at, size, seed);
}

/* Half of the words are of one seed, then all are of the next. */
static void churn(enum order how)
{
	uint64_t seed = 4;

	while (orders->ask == how) {
		if (how == CHURN_REMAP)
			remap(CHURNED, CHURNED_SIZE, seed);
		else if (how == CHURN_FORK)
			copy_on_write(CHURNED, CHURNED_SIZE, seed);
		else
			discard(CHURNED, CHURNED_SIZE, seed);
		orders->done = how;
	}
}

static void obey(enum order order, char **argv)
{
	uint64_t seed = orders->seed + 1;

	if (order == REMAP)
		remap(DATA, DATA_SIZE, seed);
	else if (order == COPY_ON_WRITE)
		copy_on_write(DATA, DATA_SIZE, seed);
	else if (order == DISCARD)
		discard(DATA, DATA_SIZE, seed);
	else if (order == PROTECT)
		mprotect((void *)DATA, DATA_SIZE, PROT_NONE);
	else if (order == OPEN)
		mprotect((void *)DATA, DATA_SIZE, RW);
	else if (order == CLOSE)
		prctl(PR_SET_DUMPABLE, 0);
	else if (order == EXEC)
		execv("/proc/self/exe", argv);
	else
		churn(order);
	if (order <= DISCARD)
		orders->seed = seed;
}

static void owner(char **argv)
{
	uint64_t order;

	make(argv[2]);
	if (argv[3])
		prctl(PR_SET_DUMPABLE, 0);
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
	printf("%d\n", getpid());
	fflush(stdout);
	for (;;) {
		order = orders->ask;
		if (order != orders->done) {
			obey(order, argv);
			orders->done = order;
		}
		usleep(500);
	}
}

/* --- who copies */

static uint64_t buffer[DATA_SIZE / 8] __attribute__((aligned(4096)));
static pid_t pid;

static ssize_t far(void *at, size_t size, uint64_t remote, size_t far_size,
		   int write)
{
	struct iovec own = { at, size }, other = { (void *)remote, far_size };

	return write ? process_vm_writev(pid, &own, 1, &other, 1, 0) :
		       process_vm_readv(pid, &own, 1, &other, 1, 0);
}

static uint32_t sum(const void *at, size_t size)
{
	const unsigned char *p = at;
	uint32_t s = 1;

	while (size--)
		s = s * 31 + *p++;
	return s;
}

static void said(const char *what, ssize_t result, const void *at)
{
	if (result < 0)
		printf("%s: %s\n", what, strerrorname_np(errno));
	else
		printf("%s: %zd, %08x\n", what, result,
		       at ? sum(at, result) : 0);
}

static void reads(const char *what, uint64_t remote, size_t size)
{
	memset(buffer, 0, sizeof(buffer));
	said(what, far(buffer, size, remote, size, 0), buffer);
}

static void writes(const char *what, uint64_t remote, size_t size)
{
	fill((uint64_t)buffer, (size + 7) & ~7ul, 9);
	said(what, far(buffer, size, remote, size, 1), NULL);
	reads("and what is there then", remote, size);
}

static void kinds(void)
{
	reads("one byte", DATA + 77, 1);
	reads("a page", DATA, PAGE);
	reads("64 KiB", DATA + 3 * PAGE, 65536);
	reads("all, from an odd address", DATA + 13, DATA_SIZE - 13);
	reads("into a hole", HOLE - 5000, 20000);
	reads("a hole", HOLE, 100);
	reads("what may be read only", READ_ONLY, PAGE);
	writes("what may be read only, written", READ_ONLY, 8);
	reads("what nobody may", NONE, 8);
	writes("what nobody may, written", NONE, 8);
	reads("what nobody has touched", FRESH, 5 * PAGE);
	writes("what nobody has touched, written", FRESH + 4 * PAGE + 100, 30000);
	reads("of a shared file", SHARED, 4 * PAGE);
	writes("of a shared file, written", SHARED + 5000, 5000);
	reads("of the program", CODE, PAGE);
	writes("of the program, written", CODE, 8);
	reads("of the kernel", 0xffff888000000000ul, 8);
	reads("beyond what there is", 0x7ffffffff000ul, 8192);
	reads("at no address", 0, 8);
}

static void vectors(void)
{
	char *b = (char *)buffer;
	struct iovec own[3] = { { b, 10 }, { b + 20, 0 }, { b + 100, 9000 } };
	struct iovec other[4] = { { (void *)(DATA + 4090), 12 },
				  { (void *)HOLE, 0 }, { (void *)DATA, 3000 },
				  { (void *)HOLE, 100 } };
	static struct iovec many[2000];

	memset(buffer, 0, sizeof(buffer));
	said("pieces", process_vm_readv(pid, own, 3, other, 3, 0), NULL);
	printf("and what is there then: %08x\n", sum(buffer, 10000));
	said("pieces, and a hole",
	     process_vm_readv(pid, own, 3, other, 4, 0), NULL);
	said("a hole first",
	     process_vm_readv(pid, own, 3, other + 3, 1, 0), NULL);
	said("no pieces", process_vm_readv(pid, own, 0, other, 1, 0), NULL);
	said("of nothing", process_vm_readv(pid, own, 1, other, 0, 0), NULL);
	said("too many pieces", process_vm_readv(pid, own, 1, many, 2000, 0), NULL);
	said("an odd flag", process_vm_readv(pid, own, 1, other, 1, 1), NULL);
	said("to no address", far(NULL, 100, DATA, 100, 0), NULL);
	said("from no address", far(NULL, 100, FRESH, 100, 1), NULL);
}

/* The own memory ends, or is not there yet, or is a file's. */
static void own_memory(const char *path)
{
	char *p = mmap(NULL, 32 * PAGE, RW, PRIVATE, -1, 0);
	int fd = open(path, O_RDWR);

	munmap(p + 20 * PAGE, 12 * PAGE);
	said("into own fresh memory", far(p, 12 * PAGE, DATA, 12 * PAGE, 0), p);
	said("beyond own memory", far(p + 15 * PAGE + 8, 9 * PAGE, DATA + 8,
				      9 * PAGE, 0), p + 15 * PAGE + 8);
	if (fd < 0)
		return;
	p = mmap(NULL, 4 * PAGE, RW, MAP_SHARED, fd, 0);
	said("into a shared file", far(p + 8000, 8000, DATA, 8000, 0), p + 8000);
	said("from a shared file", far(p + 8000, 8000, FRESH, 8000, 1), NULL);
	fill((uint64_t)p, 4 * PAGE, 3);
}

static void nobody(void)
{
	pid_t good = pid;

	pid = 0;
	reads("of process 0", DATA, 8);
	pid = -1;
	reads("of process -1", DATA, 8);
	pid = good / 65536 * 65536 + 32767;
	reads("of no process", DATA, 8);
	pid = 0x7fffffff;
	reads("of none at all", DATA, 8);
	said("nothing of none at all", far(buffer, 0, DATA, 0, 0), NULL);
	pid = good;
}

static void tries(const char *path)
{
	kinds();
	vectors();
	own_memory(path);
	nobody();
	/* As it was, for the next who tries. */
	memset(buffer, 0, 16 * PAGE);
	said("as before", far(buffer, 16 * PAGE, FRESH, 16 * PAGE, 1), NULL);
	fill((uint64_t)buffer, 4 * PAGE, 3);
	said("as before", far(buffer, 4 * PAGE, SHARED, 4 * PAGE, 1), NULL);
}

/* --- changes */

static struct orders look(void)
{
	struct orders o = { 0 };

	if (far(&o, sizeof(o), BASE, sizeof(o), 0) != sizeof(o))
		die("orders");
	return o;
}

static void order(uint64_t what)
{
	if (far(&what, 8, BASE, 8, 1) != 8)
		die("order");
}

/* Until it is done; reading all the time, so that nothing is new to anybody. */
static void ordered(uint64_t what)
{
	order(what);
	while (look().done != what)
		far(buffer, DATA_SIZE, DATA, DATA_SIZE, 0);
}

static size_t wrong(const uint64_t *p, size_t words, uint64_t seed, size_t first)
{
	size_t bad = 0, i;

	for (i = 0; i < words; i++)
		bad += p[i] != word(seed, first + i);
	return bad;
}

static void changed(const char *what, uint64_t how)
{
	uint64_t seed = look().seed;
	ssize_t got;

	ordered(how);
	got = far(buffer, DATA_SIZE, DATA, DATA_SIZE, 0);
	printf("%s: %zd, %zu wrong\n", what, got,
	       wrong(buffer, DATA_SIZE / 8, seed + 1, 0));
}

static void changes(void)
{
	struct orders o;

	changed("remapped", REMAP);
	changed("forked and written", COPY_ON_WRITE);
	changed("discarded", DISCARD);
	ordered(PROTECT);
	reads("protected", DATA, 8);
	ordered(OPEN);
	reads("no more", DATA, 8);
	far(buffer, DATA_SIZE, DATA, DATA_SIZE, 0);
	order(EXEC);
	/* The new one says its first seed when all is there. */
	while (far(&o, sizeof(o), BASE, sizeof(o), 0) != sizeof(o) || o.seed != 1)
		far(buffer, 8, DATA, 8, 0);
	reads("another program", DATA, DATA_SIZE);
	/* What was told before is forgotten by then; what is told now is not. */
	sleep(2);
	far(buffer, DATA_SIZE, DATA, DATA_SIZE, 0);
	order(CLOSE);
	while (far(buffer, 16, BASE, 16, 0) == 16 && buffer[1] != CLOSE)
		;
	reads("closed", DATA, 8);
	reads("and its orders", BASE, 8);
}

static void churns(int seconds, const char *how)
{
	uint64_t what = !strcmp(how, "remap") ? CHURN_REMAP :
			!strcmp(how, "fork") ? CHURN_FORK : CHURN_DISCARD;
	size_t reads = 0, bad = 0, first, i;
	time_t end = time(NULL) + seconds;
	ssize_t got;

	order(what);
	while (time(NULL) < end) {
		first = (size_t)rand() % (CHURNED_SIZE / 8 - 8192);
		got = far(buffer, 65536, CHURNED + 8 * first, 65536, 0);
		/* A page that is new holds zeros until it is written. */
		for (i = 0; got > 0 && i < (size_t)got / 8; i++)
			bad += buffer[i] && buffer[i] != word(4, first + i);
		reads += got > 0;
	}
	order(REST);
	printf("reads %zu, wrong words %zu\n", reads, bad);
}

static void once(size_t page)
{
	struct timespec from, to;
	uint64_t got;
	ssize_t size;

	clock_gettime(CLOCK_MONOTONIC, &from);
	size = far(&got, 8, DATA + page * PAGE, 8, 0);
	clock_gettime(CLOCK_MONOTONIC, &to);
	printf("%zd bytes in %ld ms\n", size,
	       (to.tv_sec - from.tv_sec) * 1000 +
	       (to.tv_nsec - from.tv_nsec) / 1000000);
}

int main(int argc, char **argv)
{
	if (argc > 2 && !strcmp(argv[1], "owner"))
		owner(argv);
	if (argc < 3)
		return 2;
	pid = atoi(argv[2]);
	if (!strcmp(argv[1], "try"))
		tries(argc > 3 ? argv[3] : "");
	else if (!strcmp(argv[1], "change"))
		changes();
	else if (!strcmp(argv[1], "churn") && argc > 4)
		churns(atoi(argv[3]), argv[4]);
	else if (!strcmp(argv[1], "once") && argc > 3)
		once(atoi(argv[3]));
	else
		return 2;
	return 0;
}
