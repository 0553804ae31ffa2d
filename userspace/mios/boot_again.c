// SPDX-License-Identifier: GPL-2.0
/*
 * For mios boot --again and mios restart: what a node was booted with last.
 * Every boot leaves its options and its working directory in a file per node,
 * from which the same plan is made again: for an operator, or for the kernel
 * when an instance hung and hang_policy is "reboot".  Only who has
 * the claim of a node writes its file, and replaces it whole.
 */
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "boot.h"
#include "libmios/libmios.h"

#define FOLDER		"/run/mios/boot"
#define WORDS_MAX	32
#define SIZE_MAX_FILE	65536

/* One string and the zero behind it. */
static int put(FILE *file, const char *text)
{
	return fwrite(text, strlen(text) + 1, 1, file) != 1;
}

static int put_option(FILE *file, const char *option, const char *value)
{
	return value ? put(file, option) | put(file, value) : 0;
}

static int put_options(FILE *file, const struct boot_options *opt)
{
	char ring[16], timeout[16];

	snprintf(ring, sizeof(ring), "%ld", opt->ring);
	snprintf(timeout, sizeof(timeout), "%ld", opt->timeout);
	return put_option(file, "--kernel", opt->kernel) |
	       put_option(file, "--initrd", opt->initrd) |
	       put_option(file, "--append", opt->append) |
	       put_option(file, "--init", opt->init) |
	       put_option(file, "--root", opt->root) |
	       put_option(file, "--ring", ring) |
	       put_option(file, "--timeout", timeout) |
	       (opt->reuse ? put(file, "--reuse-cmdline") : 0) |
	       (opt->no_wait ? put(file, "--no-wait") : 0);
}

/*
 * For who has claimed the node alone: another operator who tries the same
 * must not change what it boots with next.
 */
void boot_remember(const struct boot_plan *plan, unsigned int node)
{
	char cwd[PATH_MAX], path[64], fresh[72];
	FILE *file;
	int bad;

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
	bad = put(file, cwd) | put_options(file, &plan->options);
	bad |= fclose(file) != 0;
	if (!bad && !rename(fresh, path))
		return;
	unlink(fresh);
failed:
	mios_error("mios", "boot %u: 'mios boot %u --again' will not work: "
		   "%s: %m", node, node, path);
}

/* The file of @node into @text: its size. */
static size_t read_choices(unsigned int node, char *text)
{
	char path[64];
	size_t size;
	FILE *file;

	snprintf(path, sizeof(path), FOLDER "/%u", node);
	file = fopen(path, "re");
	if (!file && errno == ENOENT)
		mios_die(MIOS_EXIT_FAILED, "boot %u: it has not been booted "
			 "since this machine started: boot it with the options "
			 "that it needs", node);
	if (!file)
		mios_die(MIOS_EXIT_FAILED, "boot %u: %s: %m", node, path);
	size = fread(text, 1, SIZE_MAX_FILE, file);
	fclose(file);
	text[size] = '\0';
	return size;
}

/*
 * The plan of @node's last boot, made again.  For a process of its own: it is
 * in the working directory of that boot afterwards.
 */
struct boot_plan *boot_recall(unsigned int node)
{
	static char text[SIZE_MAX_FILE + 1], name[] = "boot";
	struct boot_options opt = { };
	char *argv[WORDS_MAX + 1], *at;
	struct boot_plan *plan;
	size_t size;
	int nr = 0;

	size = read_choices(node, text);
	if (chdir(text))
		mios_die(MIOS_EXIT_FAILED, "boot %u: %s: %m", node, text);
	argv[nr++] = name;
	for (at = text + strlen(text) + 1; at < text + size && nr < WORDS_MAX;
	     at += strlen(at) + 1)
		argv[nr++] = at;
	if (at < text + size || size == SIZE_MAX_FILE)
		mios_die(MIOS_EXIT_FAILED, "boot %u: " FOLDER "/%u has more "
			 "than %d words or %d bytes: boot it with the options "
			 "that it needs", node, node, WORDS_MAX - 1,
			 SIZE_MAX_FILE - 1);
	argv[nr] = NULL;
	optind = 0;		/* the command's own line has been read */
	boot_options_parse(nr, argv, &opt);
	plan = boot_plan_make(&opt);
	boot_plan_check(plan, 1ULL << node);
	return plan;
}
