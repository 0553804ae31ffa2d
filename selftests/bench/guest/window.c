// SPDX-License-Identifier: GPL-2.0
/*
 * What files in shared memory cost, in ticks of the time stamp counter; under
 * QEMU's -icount a tick is an instruction:
 *   window FOLDER		prints "NAME MEDIAN MIN" of each operation on a file
 *   window cut FOLDER NR	cuts NR pages off a file that others, who run
 *				"map", have mapped and touched; the same line
 *   window map FOLDER WHO NR	touches NR pages of the file whenever it is told to,
 *				until its end is said
 *   window build FOLDER UNITS OTHERS	a build: for each unit headers are mapped and
 *				read, something is computed, and an object is written
 *				anew that so many others, who run "link", have mapped;
 *				prints the ticks of all, and those of cutting objects
 *   window link FOLDER WHO UNITS	maps and touches all objects, until the end is said
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <x86intrin.h>

#include "ticks.h"

#define SAMPLES	201
#define CUTS	31
#define PAGE	4096ul
#define OTHERS	4
#define HEADERS	8
#define OBJECT	16ul	/* pages, of a header, too */
/* Of four instructions; a compiler takes a hundred times as long for a file. */
#define COMPUTE	5000000ul

/* Of the file "rounds": who begins counts, and each other one after it. */
struct rounds {
	volatile uint64_t wanted;
	volatile uint64_t done[OTHERS];
};

#define END	UINT64_MAX

static uint64_t ticks[SAMPLES];
static char *file;

static void need(int fine, const char *what)
{
	if (fine)
		return;
	perror(what);
	exit(1);
}

static void make(void)
{
	int fd = open("new", O_CREAT | O_EXCL | O_WRONLY, 0600);

	need(fd >= 0, "create");
	close(fd);
}

static void gone(void)
{
	need(!unlink("new"), "unlink");
}

static void open_close(void)
{
	int fd = open("data", O_RDWR);

	need(fd >= 0, "open");
	close(fd);
}

static void look(void)
{
	struct stat st;

	need(!stat("data", &st), "stat");
}

static void touch(void)
{
	static unsigned long page;

	file[page++ * PAGE] = 1;
}

static void touch_first(void)
{
	*file = 1;
}

/* Out of the page table: the page itself stays. */
static void let_go(void)
{
	need(!madvise(file, SAMPLES * PAGE, MADV_DONTNEED), "madvise");
}

/* Each has its own pages by now, and goes over all of them. */
static void load(void)
{
	unsigned long page;

	for (page = 0; page < SAMPLES; page++)
		(*(volatile char *)(file + page * PAGE))++;
}

static void nothing(void)
{
}

static const struct {
	const char *name;
	void (*before)(void);
	void (*run)(void);
	void (*after)(void);
} operations[] = {
	{ "create", nothing, make, gone },
	{ "unlink", make, gone, nothing },
	{ "open", nothing, open_close, nothing },
	{ "stat", nothing, look, nothing },
	{ "fault", nothing, touch, nothing },
	{ "again", let_go, touch_first, nothing },
	{ "access", nothing, load, nothing },
};

static int file_make(const char *name, unsigned long pages)
{
	int fd = open(name, O_CREAT | O_RDWR | O_TRUNC, 0600);

	need(fd >= 0 && !ftruncate(fd, pages * PAGE), name);
	return fd;
}

static void *file_map(int fd, unsigned long pages)
{
	void *memory = mmap(NULL, pages * PAGE, PROT_READ | PROT_WRITE,
			    MAP_SHARED, fd, 0);

	need(memory != MAP_FAILED, "mmap");
	return memory;
}

static void measure_all(void)
{
	uint64_t start;
	size_t op;
	int i;

	file = file_map(file_make("data", SAMPLES), SAMPLES);
	for (op = 0; op < sizeof(operations) / sizeof(*operations); op++) {
		for (i = 0; i < SAMPLES; i++) {
			operations[op].before();
			start = __rdtsc();
			operations[op].run();
			ticks[i] = __rdtsc() - start;
			operations[op].after();
		}
		ticks_print(operations[op].name, ticks, SAMPLES);
	}
}

static struct rounds *rounds_map(void)
{
	int fd = open("rounds", O_RDWR);

	need(fd >= 0, "rounds");
	return file_map(fd, 1);
}

/* Sleeps between two looks, and so takes no turns. */
static void until(volatile uint64_t *word, uint64_t value)
{
	while (*word < value)
		usleep(1000);
}

static void measure_cut(unsigned long nr)
{
	struct rounds *rounds = rounds_map();
	int fd = open("data", O_RDWR), i, who;
	uint64_t start;

	need(fd >= 0, "data");
	for (i = 0; i < CUTS; i++) {
		need(!ftruncate(fd, nr * PAGE), "make longer");
		rounds->wanted++;
		for (who = 0; who < OTHERS; who++)
			if (rounds->done[who])
				until(&rounds->done[who], rounds->wanted);
		start = __rdtsc();
		need(!ftruncate(fd, 0), "make shorter");
		ticks[i] = __rdtsc() - start;
	}
	ticks_print("cut", ticks, CUTS);
}

static void serve(int who, unsigned long nr)
{
	struct rounds *rounds = rounds_map();
	unsigned long page;
	uint64_t wanted;
	char *data;
	int fd = open("data", O_RDWR);

	need(fd >= 0, "data");
	data = file_map(fd, nr);
	wanted = rounds->wanted;
	rounds->done[who] = wanted;
	for (;;) {
		until(&rounds->wanted, wanted + 1);
		wanted = rounds->wanted;
		if (wanted == END)
			return;
		for (page = 0; page < nr; page++)
			data[page * PAGE] = 1;
		rounds->done[who] = wanted;
	}
}

/* "h3", "o12" */
static const char *name_of(char kind, int nr)
{
	static char name[16];

	snprintf(name, sizeof(name), "%c%d", kind, nr);
	return name;
}

/* The ticks of cutting what was there. */
static uint64_t object_write(const char *name, int byte)
{
	uint64_t start, cut;
	void *memory;
	int fd = open(name, O_CREAT | O_RDWR, 0600);

	need(fd >= 0, name);
	start = __rdtsc();
	need(!ftruncate(fd, 0), "make shorter");
	cut = __rdtsc() - start;
	need(!ftruncate(fd, OBJECT * PAGE), "make longer");
	memory = file_map(fd, OBJECT);
	memset(memory, byte, OBJECT * PAGE);
	munmap(memory, OBJECT * PAGE);
	close(fd);
	return cut;
}

static void headers_read(void)
{
	int i, fd;

	for (i = 0; i < HEADERS; i++) {
		unsigned long page;
		char *memory;

		fd = open(name_of('h', i), O_RDONLY);
		need(fd >= 0, "header");
		memory = mmap(NULL, OBJECT * PAGE, PROT_READ, MAP_PRIVATE, fd,
			      0);
		need(memory != MAP_FAILED, "map a header");
		for (page = 0; page < OBJECT; page++)
			*(volatile char *)(memory + page * PAGE);
		munmap(memory, OBJECT * PAGE);
		close(fd);
	}
}

static void compute(void)
{
	volatile unsigned long turns;

	for (turns = 0; turns < COMPUTE; turns++)
		;
}

static void build(int units, int others)
{
	uint64_t start, cut = 0;
	struct rounds *rounds;
	int i;

	for (i = 0; i < HEADERS; i++)
		object_write(name_of('h', i), i + 1);
	for (i = 0; i < units; i++)
		object_write(name_of('o', i), 1);
	rounds = file_map(file_make("new", 1), 1);
	rounds->wanted = 1;
	need(!rename("new", "rounds"), "rename");
	for (i = 1; i <= others; i++)
		until(&rounds->done[i], 1);
	start = __rdtsc();
	for (i = 0; i < units; i++) {
		headers_read();
		compute();
		cut += object_write(name_of('o', i), 2);
	}
	start = __rdtsc() - start;
	rounds->wanted = END;
	printf("all %llu 0\ncut %llu 0\n", (unsigned long long)start,
	       (unsigned long long)cut);
}

static void link_all(int who, int units)
{
	struct rounds *rounds;
	unsigned long page;
	int i;

	while (access("rounds", R_OK))
		usleep(1000);
	rounds = rounds_map();
	for (i = 0; i < units; i++) {
		int fd = open(name_of('o', i), O_RDWR);
		char *memory = file_map(fd, OBJECT);

		for (page = 0; page < OBJECT; page++)
			memory[page * PAGE] = 1;
	}
	rounds->done[who] = 1;
	until(&rounds->wanted, END);
}

int main(int argc, char **argv)
{
	if (argc == 2 && !chdir(argv[1]))
		measure_all();
	else if (argc == 4 && !strcmp(argv[1], "cut") && !chdir(argv[2]))
		measure_cut(strtoul(argv[3], NULL, 10));
	else if (argc == 5 && !strcmp(argv[1], "map") && !chdir(argv[2]))
		serve(atoi(argv[3]) % OTHERS, strtoul(argv[4], NULL, 10));
	else if (argc == 5 && !strcmp(argv[1], "build") && !chdir(argv[2]))
		build(atoi(argv[3]), atoi(argv[4]) % OTHERS);
	else if (argc == 5 && !strcmp(argv[1], "link") && !chdir(argv[2]))
		link_all(atoi(argv[3]) % OTHERS, atoi(argv[4]));
	else
		return 2;
	return 0;
}
