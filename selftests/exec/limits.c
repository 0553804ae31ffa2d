// SPDX-License-Identifier: GPL-2.0
/*
 * The limits along a path of control groups, read from a tree of plain files.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "miosd/miosd.h"

static char root[64];
static int failed;

static void check(bool right, const char *what)
{
	printf("%s: %s\n", right ? "ok" : "FAIL", what);
	failed += !right;
}

/* A group below the root with one file. */
static void put(const char *group, const char *name, const char *text)
{
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", root, group);
	mkdir(path, 0755);
	snprintf(path, sizeof(path), "%s/%s/%s", root, group, name);
	f = fopen(path, "w");
	if (!f || fputs(text, f) < 0 || fclose(f)) {
		printf("FAIL: %s: %m\n", path);
		exit(1);
	}
}

static uint64_t number_of(const char *group)
{
	char path[256];
	struct stat st;

	snprintf(path, sizeof(path), "%s/%s", root, group);
	return stat(path, &st) ? 0 : st.st_ino;
}

static int walk(const char *path, struct mios_limits *list, uint32_t *nr)
{
	char copy[256];

	snprintf(copy, sizeof(copy), "%s", path);
	return limits_walk(root, copy, list, nr);
}

static void test_path(void)
{
	struct mios_limits l[MIOS_MAX_LIMITS];
	uint32_t nr;

	put("a", "memory.max", "1048576\n");
	put("a", "memory.high", "max\n");
	put("a", "pids.max", "max\n");
	put("a", "cpu.max", "max 100000\n");
	put("a/none", "memory.max", "max\n");
	put("a/none/b", "pids.max", "7\n");
	put("a/none/b", "cpu.max", "50000 200000\n");
	put("other", "pids.max", "1\n");
	check(!walk("/", l, &nr) && !nr, "the root has no limits");
	check(!walk("/a/none/b", l, &nr) && nr == 2,
	      "groups without limits are left out");
	check(l[0].memory_max == 1 << 20 && l[0].memory_high == MIOS_NO_LIMIT &&
	      l[0].pids_max == MIOS_NO_LIMIT &&
	      l[0].cpu_quota == MIOS_NO_LIMIT, "the outer one comes first");
	check(l[1].pids_max == 7 && l[1].cpu_quota == 50000 &&
	      l[1].cpu_period == 200000 && l[1].memory_max == MIOS_NO_LIMIT,
	      "the inner one has its own");
	check(l[0].group == number_of("a") &&
	      l[1].group == number_of("a/none/b"), "they are named");
	check(walk("/a/gone", l, &nr) && walk("/../a", l, &nr),
	      "a path that cannot be seen is an error");
}

/* The last place stands for all groups below it, with the tightest. */
static void test_deep(void)
{
	struct mios_limits l[MIOS_MAX_LIMITS];
	char path[128] = "d", text[32];
	uint32_t nr;
	int i;

	for (i = 1; i <= MIOS_MAX_LIMITS + 3; i++) {
		snprintf(text, sizeof(text), "%d\n", 100 - i);
		put(path, "pids.max", text);
		put(path, "cpu.max", i == MIOS_MAX_LIMITS + 2 ?
		    "1000 100000\n" : "20000 20000\n");
		strcat(path, "/d");
	}
	path[strlen(path) - 2] = '\0';
	check(!walk(path, l, &nr) && nr == MIOS_MAX_LIMITS, "many groups");
	check(l[0].pids_max == 99 && l[MIOS_MAX_LIMITS - 2].pids_max == 93,
	      "the outer ones as they are");
	check(l[MIOS_MAX_LIMITS - 1].pids_max == 100 - (MIOS_MAX_LIMITS + 3) &&
	      l[MIOS_MAX_LIMITS - 1].cpu_quota == 1000 &&
	      l[MIOS_MAX_LIMITS - 1].cpu_period == 100000 &&
	      l[MIOS_MAX_LIMITS - 1].group == number_of("d/d/d/d/d/d/d/d"),
	      "the others as one");
}

int main(int argc, char **argv)
{
	snprintf(root, sizeof(root), "%s", argc > 1 ? argv[1] : "");
	test_path();
	test_deep();
	return failed != 0;
}
