// SPDX-License-Identifier: GPL-2.0
/*
 * Is what the instances of a ring share in order?  Looks at a copy of the ring
 * area again and again, until a look finds nothing wrong or the time is up;
 * what is wrong then is printed, a line each.
 *   area-check [--died N]... [--fenced N]... [--patience SECONDS]
 *		[--littered] [FILE]
 *   --died    everybody who is up has lived to see N's death
 *   --fenced  nothing of N may move any more, from the first look on
 *   --littered slots that nobody uses may hold garbage: some was written
 * Exit status: 0 in order, 1 not, 2 wrong usage or no area.
 */
#include <stdio.h>
#include <stdlib.h>
#include <fcntl.h>
#include <unistd.h>

#include "check.h"

#define AREA	"/sys/kernel/debug/mios/area"
/* More than 16 instances need; only what is read of it is ever there. */
#define SIZE	(64u << 20)
/* Between two looks: some heartbeats. */
#define LOOK_US	400000

static u64 fenced;
static bool littered;

/* All of a file, aligned; NULL: it cannot be read, or is too short. */
static void *area_read(const char *path, u64 *size)
{
	u8 *area = aligned_alloc(MIOS_AREA_PAGE, SIZE);
	int fd = open(path, O_RDONLY);
	ssize_t got = 0;

	*size = 0;
	while (fd >= 0 && area && *size < SIZE &&
	       (got = read(fd, area + *size, SIZE - *size)) > 0)
		*size += got;
	if (fd >= 0)
		close(fd);
	if (got == 0 && *size >= MIOS_AREA_BLOCKS_AT)
		return area;
	free(area);
	return NULL;
}

static void print(const struct findings *f)
{
	u32 i;

	for (i = 0; i < f->nr && i < FINDINGS_MAX; i++)
		printf("%s\n", f->line[i]);
	if (f->nr > FINDINGS_MAX)
		printf("and %u more\n", f->nr - FINDINGS_MAX);
}

/* Has one that was fenced moved?  Then waiting does not make it better. */
static bool fence_failed(const struct findings *f)
{
	char name[16];
	u32 i, n;

	for (i = 0; i < f->nr && i < FINDINGS_MAX; i++)
		for (n = 0; n < MIOS_AREA_INSTANCES; n++) {
			snprintf(name, sizeof(name), " of %u:", n);
			if (fenced & 1ULL << n && strstr(f->line[i], name) &&
			    strstr(f->line[i], "though it is dead"))
				return true;
		}
	return false;
}

static int look(const char *path, u64 died, int looks)
{
	struct area_copy copy = { .died = died, .littered = littered };
	static struct findings f;

	copy.before = area_read(path, &copy.size);
	if (!copy.before) {
		fprintf(stderr, "area-check: no area in %s\n", path);
		return 2;
	}
	do {
		usleep(LOOK_US);
		memset(&f, 0, sizeof(f));
		copy.area = area_read(path, &copy.size);
		if (!copy.area)
			return 2;
		area_check(&copy, &f);
		free(copy.before);
		copy.before = copy.area;
	} while (f.nr && --looks > 0 && !fence_failed(&f));
	print(&f);
	return f.nr ? 1 : 0;
}

static u32 number(const char *text, u32 limit)
{
	char *end;
	unsigned long n = strtoul(text, &end, 10);

	if (*end || !*text || n >= limit) {
		fprintf(stderr, "area-check: not a number below %u: %s\n",
			limit, text);
		exit(2);
	}
	return n;
}

int main(int argc, char **argv)
{
	const char *path = AREA;
	u32 patience = 12;
	u64 died = 0;
	int i;

	for (i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--died") && i + 1 < argc)
			died |= 1ULL << number(argv[++i], MIOS_AREA_INSTANCES);
		else if (!strcmp(argv[i], "--fenced") && i + 1 < argc)
			fenced |= 1ULL << number(argv[++i],
						 MIOS_AREA_INSTANCES);
		else if (!strcmp(argv[i], "--patience") && i + 1 < argc)
			patience = number(argv[++i], 3600);
		else if (!strcmp(argv[i], "--littered"))
			littered = true;
		else if (argv[i][0] != '-' && i + 1 == argc)
			path = argv[i];
		else
			return fprintf(stderr, "usage: area-check [--died N]... "
				       "[--fenced N]... [--patience SECONDS] "
				       "[--littered] [FILE]\n"), 2;
	}
	return look(path, died, patience * 1000000ULL / LOOK_US + 1);
}
