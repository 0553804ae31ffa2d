// SPDX-License-Identifier: GPL-2.0
/*
 * mios boot --again: boots nodes as they were booted last.  Every boot leaves
 * its options and its working directory in a file per node, from which the
 * same command is started again: by an operator, or by the kernel when an
 * instance hung and hang_policy is "reboot".  No locks: only who has the claim
 * of a node writes its file, and replaces it whole.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "boot.h"
#include "libmios/mios.h"

#define FOLDER		"/run/mios/boot"
#define WORDS_MAX	32
#define SIZE_MAX_FILE	65536

/*
 * For who has claimed the node alone: another operator who tries the same
 * must not change what it boots with next.
 */
void boot_remember(const struct boot_plan *plan, unsigned int node)
{
	char cwd[PATH_MAX], path[64], fresh[72];
	FILE *file;
	int i, bad;

	if (!getcwd(cwd, sizeof(cwd)))
		strcpy(cwd, "/");
	/* A command line may hold a secret. */
	if (mkdir(FOLDER, 0700) && errno != EEXIST)
		mios_error("mios", "boot: " FOLDER ": %m");
	snprintf(path, sizeof(path), FOLDER "/%u", node);
	snprintf(fresh, sizeof(fresh), "%s.new", path);
	file = fopen(fresh, "we");
	if (!file)
		goto failed;
	bad = fwrite(cwd, strlen(cwd) + 1, 1, file) != 1;
	for (i = 0; i < plan->nr_options; i++)
		bad |= fwrite(plan->options[i], strlen(plan->options[i]) + 1,
			      1, file) != 1;
	bad |= fclose(file) != 0;
	if (!bad && !rename(fresh, path))
		return;
	unlink(fresh);
failed:
	mios_error("mios", "boot %u: 'mios boot %u --again' will not work: "
		   "%s: %m", node, node, path);
}

/* Becomes the command that booted @node last. */
static void __attribute__((noreturn)) again_exec(int node)
{
	char number[16], path[64], *argv[WORDS_MAX + 4], *at;
	static char text[SIZE_MAX_FILE + 1];
	size_t size;
	FILE *file;
	int nr = 0;

	snprintf(path, sizeof(path), FOLDER "/%d", node);
	snprintf(number, sizeof(number), "%d", node);
	file = fopen(path, "re");
	if (!file && errno == ENOENT)
		mios_die(MIOS_EXIT_FAILED, "boot %d: it has not been booted "
			 "since this machine started: leave --again out",
			 node);
	if (!file)
		mios_die(MIOS_EXIT_FAILED, "boot %d: %s: %m", node, path);
	size = fread(text, 1, SIZE_MAX_FILE, file);
	fclose(file);
	if (chdir(text))
		mios_die(MIOS_EXIT_FAILED, "boot %d: %s: %m", node, text);
	argv[nr++] = "mios";
	argv[nr++] = "boot";
	argv[nr++] = number;
	for (at = text + strlen(text) + 1; at < text + size && nr < WORDS_MAX;
	     at += strlen(at) + 1)
		argv[nr++] = at;
	if (at < text + size || size == SIZE_MAX_FILE)
		mios_die(MIOS_EXIT_FAILED, "boot %d: %s has more than %d words "
			 "or %d bytes: boot it without --again", node, path,
			 WORDS_MAX - 3, SIZE_MAX_FILE - 1);
	argv[nr] = NULL;
	execv("/proc/self/exe", argv);
	mios_die(MIOS_EXIT_FAILED, "boot %d: %m", node);
}

int boot_again(uint64_t nodes)
{
	int i, status, failed = 0;

	fflush(stdout);
	for (i = 1; i < MIOS_MAX_INSTANCES; i++) {
		if (!(nodes & 1ULL << i))
			continue;
		switch (fork()) {
		case 0:
			again_exec(i);
		case -1:
			mios_error("mios", "boot %d: no process for it: %m", i);
			failed++;
		}
	}
	while (wait(&status) > 0)
		failed += status != 0;
	return failed ? MIOS_EXIT_FAILED : MIOS_EXIT_OK;
}
