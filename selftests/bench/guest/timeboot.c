// SPDX-License-Identifier: GPL-2.0
/*
 * Runs "mios boot N..." and says when each instance had joined its ring and
 * when the command was done:
 *   timeboot N...
 * prints "LAST_JOINED_NS DONE_NS" since the command's start.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "now.h"

#define LOOK_US	5000

static int is_up(const char *instance)
{
	char path[80], text[16] = "";
	int fd;

	snprintf(path, sizeof(path), "/sys/kernel/mios/instance%s/state",
		 instance);
	fd = open(path, O_RDONLY);
	if (fd < 0)
		return 0;
	if (read(fd, text, sizeof(text) - 1) < 0)
		text[0] = 0;
	close(fd);
	return !strncmp(text, "up", 2);
}

static int all_up(char **instances)
{
	for (; *instances; instances++)
		if (!is_up(*instances))
			return 0;
	return 1;
}

/* argv with "mios boot" in front; the list of the caller ends with NULL. */
static pid_t start(int argc, char **argv)
{
	char **words = calloc(argc + 2, sizeof(*words));
	pid_t pid = fork();

	if (pid)
		return pid;
	words[0] = "mios";
	words[1] = "boot";
	memcpy(words + 2, argv + 1, (argc - 1) * sizeof(*words));
	dup2(2, 1);
	execvp("mios", words);
	_exit(127);
}

int main(int argc, char **argv)
{
	uint64_t begin = now_ns(), joined = 0;
	int status = 0;
	pid_t pid;

	if (argc < 2)
		return 2;
	pid = start(argc, argv);
	if (pid < 0)
		return 1;
	for (;;) {
		if (!joined && all_up(argv + 1))
			joined = now_ns() - begin;
		if (waitpid(pid, &status, WNOHANG) == pid)
			break;
		usleep(LOOK_US);
	}
	if (status || !joined)
		return 1;
	printf("%llu %llu\n", (unsigned long long)joined,
	       (unsigned long long)(now_ns() - begin));
	return 0;
}
