// SPDX-License-Identifier: GPL-2.0
/*
 * Gives an instance that has been booted the PCI functions of its setting give.N.
 * Each by a process of its own, which says itself what stands in the way: the
 * instance is up all the same.  Called by boot_node().
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "boot.h"
#include "libmios/libmios.h"
#include "set.h"

static bool give(unsigned int node, const char *address)
{
	char number[16];
	int status = -1;
	pid_t pid;

	snprintf(number, sizeof(number), "%u", node);
	fflush(stdout);
	pid = fork();
	if (!pid) {
		execl("/proc/self/exe", "mios", "give", number, address, NULL);
		_exit(MIOS_EXIT_FAILED);
	}
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return !status;
}

int boot_give(unsigned int node, bool wait)
{
	const struct setting *s = setting_give(node);
	char value[SET_VALUE], *word, *rest = value;
	int failed = 0;

	if (setting_now(s, value) < 0 || setting_valid(s, value)) {
		mios_error("mios", "boot %u: /etc/mios.conf: %s is no list of "
			   "PCI addresses", node, s->name);
		return MIOS_EXIT_FAILED;
	}
	if (!strcmp(value, "none"))
		return MIOS_EXIT_OK;
	if (!wait) {
		printf("node %u: it is not given %s, as nobody waits for it: "
		       "mios give does it\n", node, value);
		return MIOS_EXIT_OK;
	}
	while ((word = strsep(&rest, ","))) {
		if (give(node, word))
			printf("node %u: given %s\n", node, word);
		else
			failed++;
	}
	return failed ? MIOS_EXIT_FAILED : MIOS_EXIT_OK;
}
