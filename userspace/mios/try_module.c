// SPDX-License-Identifier: GPL-2.0
/*
 * mios check --try: the modules go in for a trial and out again, and the machine is
 * compared with what it was.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "boot.h"
#include "check.h"
#include "libmios/libmios.h"
#include "try.h"

#define MODULES		"/proc/modules"
#define TRIAL		"/sys/module/mios/parameters/trial"
#define ONLINE		"/sys/devices/system/cpu/online"
#define OUT_SECONDS	60
#define TOOLS		"PATH=\"$PATH:/usr/sbin:/sbin\" "

void try_pause(long ms)
{
	const struct timespec ts = { .tv_nsec = ms * 1000000 };

	nanosleep(&ts, NULL);
}

/* Their names, each between spaces. */
static void modules_read(char *names, size_t size)
{
	FILE *file = fopen(MODULES, "re");
	char line[1024];
	size_t len = snprintf(names, size, " ");

	while (file && fgets(line, sizeof(line), file) && len < size) {
		line[strcspn(line, " ")] = '\0';
		len += snprintf(names + len, size - len, "%s ", line);
	}
	if (file)
		fclose(file);
}

static const char *is_among(const char *names, const char *name)
{
	char word[128];

	snprintf(word, sizeof(word), " %s ", name);
	return strstr(names, word);
}

void try_before_read(struct try_before *before)
{
	modules_read(before->modules, sizeof(before->modules));
	check_read(ONLINE, before->cpus, sizeof(before->cpus));
}

/* Is mios there, and for a trial? */
bool try_loaded(void)
{
	char value[8];

	return check_read(TRIAL, value, sizeof(value)) && value[0] == 'Y';
}

/* An older one pays no heed to the word, and nobody would take it out again. */
static bool knows_trial(void)
{
	FILE *from = popen(TOOLS "modinfo -p mios 2> /dev/null", "re");
	bool found = false;
	char line[1024];

	while (from && fgets(line, sizeof(line), from))
		if (!strncmp(line, "trial:", strlen("trial:")))
			found = true;
	if (from)
		pclose(from);
	return found;
}

bool try_load(const struct try_place *place)
{
	char parts[sizeof(place->parts) + 8], pool[sizeof(place->pool) + 8];
	char * const mios[] = { "modprobe", "mios", parts, pool, "trial=1", NULL };
	char * const fs[] = { "modprobe", "mios_fs", NULL };
	struct mios_instance inst;

	if (!knows_trial()) {
		mios_error("mios", "check: there is no module mios, by modinfo, or one "
			   "that is older than this command: install both");
		return false;
	}
	snprintf(parts, sizeof(parts), "parts=%s", place->parts);
	snprintf(pool, sizeof(pool), "pool=%s", place->pool);
	if (!boot_run(mios) || !try_loaded() || !boot_run(fs)) {
		mios_error("mios", "check: the modules mios and mios_fs do not load: "
			   "dmesg may say why");
		return false;
	}
	if (mios_instance_read(TRY_NODE, &inst) || !inst.memory) {
		mios_error("mios", "check: mios can make no instance of %s: dmesg says "
			   "why", place->parts);
		return false;
	}
	return true;
}

/* Until nobody uses it any more: mounts end a little after who had them. */
static bool remove_module(const char *name)
{
	const int64_t end = mios_now_ms() + OUT_SECONDS * 1000;
	int err;

	do {
		if (!syscall(SYS_delete_module, name, O_NONBLOCK))
			return true;
		err = errno;
		if (err == ENOENT)
			return true;
		try_pause(50);
	} while ((err == EAGAIN || err == EBUSY) && mios_now_ms() < end);
	mios_error("mios", "check: the module %s does not go: %s", name,
		   strerror(err));
	return false;
}

/*
 * Of those that were not in @before the next that nobody uses: one of mios, or one
 * that mios @needs.
 */
static bool next_out(const char *before, const char *needs, char *name,
		     size_t size)
{
	FILE *file = fopen(MODULES, "re");
	char line[1024], by[512];
	bool found = false;
	char word[64];

	while (file && !found && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%63s %*s %*s %511s", word, by) != 2 ||
		    strcmp(by, "-") || is_among(before, word))
			continue;
		found = needs ? !!is_among(needs, word) :
				!strncmp(word, "mios", 4);
		snprintf(name, size, "%s", word);
	}
	if (file)
		fclose(file);
	return found;
}

/* The names of what modprobe loads before mios, each between spaces. */
static void needs_read(char *needs, size_t size)
{
	FILE *from = popen(TOOLS "modprobe --ignore-install --show-depends mios_fs "
			   "2> /dev/null", "re");
	char line[1024], *name, *c;
	size_t len = snprintf(needs, size, " ");

	/* insmod PATH/NAME.ko[.xz] [PARAMETER...] */
	while (from && fgets(line, sizeof(line), from) && len < size) {
		if (strncmp(line, "insmod /", 8))
			continue;
		line[7 + strcspn(line + 7, "\n ")] = '\0';
		name = strrchr(line, '/') + 1;
		name[strcspn(name, ".")] = '\0';
		for (c = name; *c; c++)
			if (*c == '-')
				*c = '_';	/* as /proc/modules has it */
		len += snprintf(needs + len, size - len, "%s ", name);
	}
	if (from)
		pclose(from);
}

static bool take_out(const char *before, const char *needs)
{
	char name[64];

	while (next_out(before, needs, name, sizeof(name)))
		if (!remove_module(name))
			return false;
	return true;
}

/*
 * Taking mios out ends the instance, and its CPU and memory come back.  Without
 * @before, of what an earlier trial has left: then it is not known what else was there.
 */
bool try_take_out(const struct try_before *before)
{
	char needs[8192];

	if (!access(MIOS_SYSFS, F_OK) && !try_loaded()) {
		mios_error("mios", "check: somebody else has loaded mios meanwhile: it "
			   "stays");
		return false;
	}
	if (!before)
		return take_out("", NULL);
	needs_read(needs, sizeof(needs));
	return take_out(before->modules, NULL) && take_out(before->modules, needs);
}

bool try_compare(const struct try_before *before)
{
	struct try_before now;
	bool same = true;
	char *word, *save;

	try_before_read(&now);
	if (strcmp(now.cpus, before->cpus)) {
		mios_error("mios", "check: CPUs %s were online before, now %s",
			   before->cpus, now.cpus);
		same = false;
	}
	for (word = strtok_r(now.modules, " ", &save); word;
	     word = strtok_r(NULL, " ", &save))
		if (!strncmp(word, "mios", 4) && !is_among(before->modules, word)) {
			mios_error("mios", "check: the module %s is still there",
				   word);
			same = false;
		}
	return same;
}
