// SPDX-License-Identifier: GPL-2.0
/*
 * Page faults of many CPUs while pages are cut from under them: two files, each
 * page of which says which one it is, or is zero.
 *   faults FOLDER SELF ROUNDS	as number SELF, 1 to 400
 * In each round 400 pages are touched, some of them after they have been let go;
 * then a file is made shorter and longer again, or a hole is made in it, or a page
 * is read, or all that the pool has left becomes another file for a while.
 * Exit status: 0, or 1 with a line that says which page was another one.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define FILES	2
#define PAGES	96
#define PAGE	4096l
#define WORDS	(PAGE / 8)
#define MARK	500		/* the word that says which page it is */
#define HOLE	8		/* pages */
#define TOUCHES	400
#define POOL	(1l << 30)	/* more than there is */

struct file {
	char name[256];
	int fd;
	volatile uint64_t *memory;
};

static struct file files[FILES];
static sigjmp_buf cut_off;
static volatile unsigned long signals, touched, full;

static void need(int fine, const char *what)
{
	if (fine)
		return;
	perror(what);
	exit(1);
}

static uint64_t mark_of(int file, int page)
{
	return 1000 * (file + 1) + page;
}

static void look(int file, int page, uint64_t mark, const char *how)
{
	if (!mark || mark == mark_of(file, page))
		return;
	printf("page %d of file %d, %s, is another one: %llu\n", page, file,
	       how, (unsigned long long)mark);
	exit(1);
}

static void beyond(int signal)
{
	(void)signal;
	signals++;
	siglongjmp(cut_off, 1);
}

static void touch(int file, int self, unsigned int *seed)
{
	int page = rand_r(seed) % PAGES;
	volatile uint64_t *word = files[file].memory + page * WORDS;

	if (sigsetjmp(cut_off, 1))
		return;
	look(file, page, word[MARK], "mapped");
	word[MARK] = mark_of(file, page);
	word[self]++;
	touched++;
	if (rand_r(seed) % 16 == 0)
		need(!madvise((void *)files[file].memory, PAGES * PAGE,
			      MADV_DONTNEED), "madvise");
}

static void touches(int self, unsigned int *seed)
{
	int i;

	for (i = 0; i < TOUCHES; i++)
		touch(i % FILES, self, seed);
}

static void shorten(const struct file *file, unsigned int *seed)
{
	need(!ftruncate(file->fd, rand_r(seed) % PAGES * PAGE), "ftruncate");
	need(!ftruncate(file->fd, PAGES * PAGE), "ftruncate");
}

static void punch(const struct file *file, unsigned int *seed)
{
	need(!fallocate(file->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
			rand_r(seed) % PAGES * PAGE, HOLE * PAGE), "fallocate");
}

static void read_one(int file, unsigned int *seed)
{
	int page = rand_r(seed) % PAGES;
	uint64_t words[WORDS] = { 0 };

	need(pread(files[file].fd, words, PAGE, page * PAGE) >= 0, "pread");
	look(file, page, words[MARK], "read");
}

static void fill(int self, unsigned int *seed)
{
	char name[32];
	int fd;

	snprintf(name, sizeof(name), "fill%d", self);
	fd = open(name, O_CREAT | O_RDWR | O_TRUNC, 0600);
	need(fd >= 0, name);
	full += fallocate(fd, 0, 0, POOL) && errno == ENOSPC;
	touches(self, seed);
	close(fd);
	need(!unlink(name), name);
}

static void round_make(int self, unsigned int *seed)
{
	int file = rand_r(seed) % FILES;

	touches(self, seed);
	switch (rand_r(seed) % 6) {
	case 0:
		shorten(&files[file], seed);
		break;
	case 1:
		punch(&files[file], seed);
		break;
	case 2:
		if (self % 3 == 0)
			fill(self, seed);
		break;
	case 3:
		read_one(file, seed);
		break;
	}
}

static void file_make(struct file *file, int number)
{
	snprintf(file->name, sizeof(file->name), "data%d", number);
	file->fd = open(file->name, O_CREAT | O_RDWR, 0600);
	need(file->fd >= 0 && !ftruncate(file->fd, PAGES * PAGE), file->name);
	file->memory = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE,
			    MAP_SHARED, file->fd, 0);
	need(file->memory != MAP_FAILED, "mmap");
}

int main(int argc, char **argv)
{
	unsigned int seed;
	long round;
	int i, self;

	if (argc != 4 || chdir(argv[1]))
		return 2;
	self = atoi(argv[2]);
	seed = self * 7919 + 1;
	need(signal(SIGBUS, beyond) != SIG_ERR, "signal");
	for (i = 0; i < FILES; i++)
		file_make(&files[i], i);
	for (round = 0; round < atol(argv[3]); round++)
		round_make(self, &seed);
	printf("%lu touched, %lu beyond the end, %lu times full\n", touched,
	       signals, full);
	return 0;
}
