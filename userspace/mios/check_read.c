// SPDX-License-Identifier: GPL-2.0
/*
 * Reads what "mios check" looks at: lines of /proc and /sys, words of the command
 * line, registers of CPU 0.  What is not there, or not for this user, is false.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "libmios/libmios.h"

#define CPUINFO	"/proc/cpuinfo"

/* The first line of a file, without its end. */
bool check_read(const char *path, char *buf, size_t size)
{
	return check_line(path, "", buf, size);
}

/* What follows @start in the first line that begins so. */
bool check_line(const char *path, const char *start, char *buf, size_t size)
{
	FILE *file = fopen(path, "re");
	char line[8192];
	bool found = false;

	while (file && !found && fgets(line, sizeof(line), file))
		found = !strncmp(line, start, strlen(start));
	if (file)
		fclose(file);
	if (!found)
		return false;
	line[strcspn(line, "\n")] = '\0';
	snprintf(buf, size, "%s", line + strlen(start));
	return true;
}

/*
 * The value of word number @nth, from 0, of those of the command line that are
 * @name, which ends with '=' where there is a value.
 */
bool check_word_nth(const char *name, int nth, char *value, size_t size)
{
	char line[8192], *word, *save = NULL;

	if (!check_read("/proc/cmdline", line, sizeof(line)))
		return false;
	for (word = strtok_r(line, " ", &save); word;
	     word = strtok_r(NULL, " ", &save)) {
		if (name[strlen(name) - 1] == '=' ?
		    strncmp(word, name, strlen(name)) : strcmp(word, name))
			continue;
		if (nth--)
			continue;
		snprintf(value, size, "%s", word + strlen(name));
		return true;
	}
	return false;
}

/* Of the last one, which is what counts for the kernel as a rule. */
bool check_word(const char *name, char *value, size_t size)
{
	int i = 0;

	while (check_word_nth(name, i, value, size))
		i++;
	return i;
}

/* Has an instance CPUs and memory that instance 0 does not see? */
bool check_any_up(void)
{
	static struct mios_instance list[MIOS_MAX_INSTANCES];
	int i, nr = mios_instances_read(list, MIOS_MAX_INSTANCES);

	for (i = 0; i < nr; i++)
		if (list[i].id && list[i].state != MIOS_STATE_DOWN)
			return true;
	return false;
}

static bool is_field(const char *line, const char *field)
{
	size_t len = strlen(field);

	return !strncmp(line, field, len) && strchr("\t :", line[len]);
}

/* Has the first CPU this flag? */
bool check_flag(const char *flag)
{
	char line[8192], *word, *save = NULL;

	if (!check_line(CPUINFO, "flags", line, sizeof(line)))
		return false;
	for (word = strtok_r(line, "\t :", &save); word;
	     word = strtok_r(NULL, "\t :", &save))
		if (!strcmp(word, flag))
			return true;
	return false;
}

/* Only root, and where the kernel has /dev/cpu. */
bool check_msr(unsigned int number, unsigned long long *value)
{
	int fd = open("/dev/cpu/0/msr", O_RDONLY | O_CLOEXEC);
	bool ok = fd >= 0 &&
		  pread(fd, value, sizeof(*value), number) == sizeof(*value);

	if (fd >= 0)
		close(fd);
	return ok;
}

/* How many CPUs have another value in a field than the first, which is @first. */
int check_differ(const char *field, char *first, size_t size)
{
	FILE *file = fopen(CPUINFO, "re");
	char line[8192], *value;
	int others = 0;

	first[0] = '\0';
	while (file && fgets(line, sizeof(line), file)) {
		value = strchr(line, ':');
		if (!value || !is_field(line, field))
			continue;
		value += 1 + strspn(value + 1, " ");
		value[strcspn(value, "\n")] = '\0';
		if (!first[0])
			snprintf(first, size, "%s", value);
		else
			others += strncmp(first, value, size - 1) != 0;
	}
	if (file)
		fclose(file);
	return others;
}
