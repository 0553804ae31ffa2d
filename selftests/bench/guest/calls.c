// SPDX-License-Identifier: GPL-2.0
/*
 * What system calls and file operations cost, in ticks of the time stamp
 * counter; under QEMU's -icount a tick is an instruction:
 *   calls FOLDER	files are made in FOLDER
 * prints "NAME MEDIAN MIN" per operation.  Each sample is one operation, so
 * that the median is that of a run without a timer tick in it.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

#include "ticks.h"

#define SAMPLES	201
#define WARM	5
#define BLOCK	4096

static char block[BLOCK];
static int file, null, zero, pipes[2];

static void call_getppid(void)
{
	syscall(SYS_getppid);
}

static void call_clock(void)
{
	struct timespec ts;

	syscall(SYS_clock_gettime, CLOCK_REALTIME, &ts);
}

static void read_zero(void)
{
	if (read(zero, block, BLOCK) != BLOCK)
		exit(1);
}

static void write_null(void)
{
	if (write(null, block, BLOCK) != BLOCK)
		exit(1);
}

static void pipe_both_ways(void)
{
	if (write(pipes[1], block, 1) != 1 || read(pipes[0], block, 1) != 1)
		exit(1);
}

static void map_touch_unmap(void)
{
	char *page = mmap(NULL, BLOCK, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (page == MAP_FAILED)
		exit(1);
	*(volatile char *)page = 1;
	munmap(page, BLOCK);
}

static void fork_and_wait(void)
{
	pid_t pid = fork();

	if (!pid)
		_exit(0);
	if (pid < 0 || waitpid(pid, NULL, 0) != pid)
		exit(1);
}

static void file_open_close(void)
{
	int fd = open("data", O_RDONLY);

	if (fd < 0)
		exit(1);
	close(fd);
}

static void file_stat(void)
{
	struct stat st;

	if (stat("data", &st))
		exit(1);
}

static void file_read(void)
{
	if (pread(file, block, BLOCK, 0) != BLOCK)
		exit(1);
}

static void file_write(void)
{
	if (pwrite(file, block, BLOCK, 0) != BLOCK)
		exit(1);
}

static void file_create_unlink(void)
{
	int fd = open("new", O_CREAT | O_EXCL | O_WRONLY, 0600);

	if (fd < 0 || write(fd, block, BLOCK) != BLOCK)
		exit(1);
	close(fd);
	unlink("new");
}

static void file_write_sync(void)
{
	if (pwrite(file, block, BLOCK, 0) != BLOCK || fdatasync(file))
		exit(1);
}

static const struct {
	const char *name;
	void (*run)(void);
} operations[] = {
	{ "getppid", call_getppid },
	{ "clock_gettime", call_clock },
	{ "read-zero-4k", read_zero },
	{ "write-null-4k", write_null },
	{ "pipe-byte", pipe_both_ways },
	{ "mmap-fault-munmap", map_touch_unmap },
	{ "fork-exit-wait", fork_and_wait },
	{ "file-open-close", file_open_close },
	{ "file-stat", file_stat },
	{ "file-read-4k", file_read },
	{ "file-write-4k", file_write },
	{ "file-create-unlink", file_create_unlink },
	{ "file-write-sync", file_write_sync },
};

static void measure(const char *name, void (*run)(void))
{
	static uint64_t ticks[SAMPLES];
	int i;

	for (i = 0; i < WARM; i++)
		run();
	for (i = 0; i < SAMPLES; i++) {
		uint64_t start = __rdtsc();

		run();
		ticks[i] = __rdtsc() - start;
	}
	ticks_print(name, ticks, SAMPLES);
}

int main(int argc, char **argv)
{
	size_t i;

	if (argc != 2 || chdir(argv[1]))
		return 2;
	null = open("/dev/null", O_WRONLY);
	zero = open("/dev/zero", O_RDONLY);
	file = open("data", O_CREAT | O_RDWR, 0600);
	if (null < 0 || zero < 0 || file < 0 || pipe(pipes) ||
	    write(file, block, BLOCK) != BLOCK) {
		perror("calls");
		return 1;
	}
	for (i = 0; i < sizeof(operations) / sizeof(*operations); i++)
		measure(operations[i].name, operations[i].run);
	return 0;
}
