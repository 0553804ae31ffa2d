// SPDX-License-Identifier: GPL-2.0
/*
 * Makes, writes, maps, cuts, punches, renames, links and removes files of a
 * miosfs by lot, in a folder of its own and in one that other instances change,
 * too.  The first word of each page of a file is 0 or says which page it is, so
 * what comes out at a wrong place is found.
 *   churn FOLDER SELF SEED   until word 63 of FOLDER/state is not 0; word SELF
 *                            of it counts
 *   churn FOLDER             looks at all files once
 * Exit status: 0, or 1 with a line that says what is wrong.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define PAGE	4096ul
#define PAGES	24ul		/* of the longest file */
#define NAMES	12
#define STOP	63

static uint64_t seed;
static uint64_t tag;		/* of the folder */
static sigjmp_buf gone;

static void die(const char *what, const char *name)
{
	printf("FAILED: %s %s: %s\n", what, name, strerror(errno));
	exit(1);
}

static unsigned long draw(unsigned long below)
{
	seed = seed * 6364136223846793005ull + 1442695040888963407ull;
	return (seed >> 33) % below;
}

static uint64_t stamp(unsigned long page)
{
	return tag << 32 | 0xface0000 | page;
}

/* What others, or their end, may bring about in the middle of anything. */
static void may_fail(int err, const char *what, const char *name)
{
	if (err < 0 && errno != ENOENT && errno != EEXIST && errno != ESTALE)
		die(what, name);
}

static void check(int fd, const char *name)
{
	uint64_t word;
	unsigned long page;

	for (page = 0; pread(fd, &word, 8, page * PAGE) == 8; page++)
		if (word && word != stamp(page)) {
			printf("FAILED: %s: page %lu holds %#lx\n", name, page,
			       (unsigned long)word);
			exit(1);
		}
}

static void write_some(int fd, const char *name)
{
	uint64_t buffer[PAGE / 8] = { 0 };
	unsigned long page = draw(PAGES), nr = draw(8);

	for (; nr-- && page < PAGES; page++) {
		buffer[0] = stamp(page);
		if (pwrite(fd, buffer, PAGE, page * PAGE) != PAGE)
			die("write to", name);
	}
}

static void cut_off(int signal)
{
	(void)signal;
	siglongjmp(gone, 1);
}

/* Somebody may make it shorter meanwhile. */
static void map_some(int fd, const char *name)
{
	volatile uint64_t *words = mmap(NULL, PAGES * PAGE,
					PROT_READ | PROT_WRITE, MAP_SHARED, fd,
					0);
	unsigned long page, nr = 8;
	struct stat st;

	if (words == MAP_FAILED || fstat(fd, &st))
		die("map", name);
	if (st.st_size && !sigsetjmp(gone, 1))
		while (nr--) {
			page = draw((st.st_size + PAGE - 1) / PAGE);
			words[page * PAGE / 8] = stamp(page);
		}
	munmap((void *)words, PAGES * PAGE);
}

static void open_and(const char *name, unsigned long what)
{
	int fd = open(name, O_RDWR | (what ? 0 : O_CREAT), 0600);

	may_fail(fd, "open", name);
	if (fd < 0)
		return;
	if (what == 0)
		write_some(fd, name);
	else if (what == 1)
		map_some(fd, name);
	else if (what == 2)
		/* Not within a word: a part of a stamp would stay. */
		may_fail(ftruncate(fd, draw(PAGES * PAGE / 8) * 8), "cut",
			 name);
	else if (what == 3)
		may_fail(fallocate(fd, FALLOC_FL_PUNCH_HOLE |
				   FALLOC_FL_KEEP_SIZE, draw(PAGES) * PAGE,
				   (1 + draw(6)) * PAGE), "punch", name);
	else
		check(fd, name);
	close(fd);
}

static void step(const char *folder)
{
	char name[256], other[256];
	unsigned long what = draw(15);

	snprintf(name, sizeof(name), "%s/%lu", folder, draw(NAMES));
	snprintf(other, sizeof(other), "%s/%lu", folder, draw(NAMES));
	switch (what) {
	case 9:
	case 10:
		may_fail(rename(name, other), "rename", name);
		break;
	case 11:
		may_fail(link(name, other), "link", name);
		break;
	case 12:
		may_fail(unlink(name), "remove", name);
		break;
	case 13:
		snprintf(name, sizeof(name), "%s/d%lu", folder, draw(NAMES));
		may_fail(draw(2) ? mkdir(name, 0700) : rmdir(name), "folder",
			 name);
		break;
	case 14:
		snprintf(name, sizeof(name), "%s/p%lu", folder, draw(NAMES));
		may_fail(draw(2) ? mkfifo(name, 0600) : unlink(name), "FIFO",
			 name);
		break;
	default:
		open_and(name, what % 5);
	}
}

static uint64_t *state_map(const char *folder)
{
	char name[256];
	uint64_t *state;
	int fd;

	snprintf(name, sizeof(name), "%s/state", folder);
	fd = open(name, O_RDWR);
	state = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (fd < 0 || state == MAP_FAILED)
		die("map", name);
	return state;
}

static void look(const char *folder, const char *self)
{
	char name[300];
	struct dirent *entry;
	DIR *dir;
	int fd;

	tag = strtoul(self, NULL, 10);
	snprintf(name, sizeof(name), "%s/%s", folder, self);
	dir = opendir(name);
	while (dir && (entry = readdir(dir))) {
		snprintf(name, sizeof(name), "%s/%s/%s", folder, self,
			 entry->d_name);
		if (entry->d_type != DT_REG)
			continue;
		fd = open(name, O_RDONLY);
		if (fd < 0)
			die("open", name);
		check(fd, name);
		close(fd);
	}
	if (dir)
		closedir(dir);
}

int main(int argc, char **argv)
{
	char own[200], all[200];
	volatile uint64_t *state;
	unsigned long self;

	if (argc == 2) {
		look(argv[1], "0");
		look(argv[1], "1");
		look(argv[1], "2");
		look(argv[1], "9");
		return 0;
	}
	if (argc != 4)
		return 2;
	self = strtoul(argv[2], NULL, 10);
	seed = strtoul(argv[3], NULL, 10) * 64 + self;
	snprintf(own, sizeof(own), "%s/%lu", argv[1], self);
	snprintf(all, sizeof(all), "%s/9", argv[1]);
	state = state_map(argv[1]);
	signal(SIGBUS, cut_off);
	while (!state[STOP]) {
		tag = self;
		step(own);
		tag = 9;
		step(all);
		/* Who works all the time makes the test's own steps slow. */
		if (!(++state[self] % 8))
			usleep(3000);
	}
	return 0;
}
