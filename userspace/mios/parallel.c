// SPDX-License-Identifier: GPL-2.0
/*
 * A process per node, so that nodes boot and end in parallel, and a line
 * every other second that says whom it still waits for.  Called by mios boot,
 * restart, stop and kill.  What became of each node its process leaves in
 * memory that is shared with it; nobody else writes there.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "libmios/libmios.h"
#include "parallel.h"

#define TELL_EVERY	2		/* seconds */

static void tell(const char *what, uint64_t waiting, unsigned int seconds)
{
	char text[256] = "";
	size_t len = 0;
	int i;

	for (i = 0; i < MIOS_MAX_INSTANCES; i++)
		if (waiting & 1ULL << i)
			len += snprintf(text + len, sizeof(text) - len, " %d",
					i);
	fprintf(stderr, "waiting for %s%s (%u s)\n", what, text, seconds);
}

static int wait_all(const struct parallel *p, uint64_t waiting,
		    const pid_t pids[MIOS_MAX_INSTANCES], const sigset_t *chld,
		    struct outcome *outcomes)
{
	static const struct timespec every = { .tv_sec = TELL_EVERY };
	const bool silent = p->output.quiet || p->output.json;
	const int64_t began = mios_now_ms();
	int i, status, failed = 0;
	pid_t pid;

	while (waiting) {
		if (sigtimedwait(chld, NULL, &every) < 0 && errno == EAGAIN &&
		    !silent)
			tell(p->what, waiting, (mios_now_ms() - began) / 1000);
		while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
			for (i = 0; i < MIOS_MAX_INSTANCES; i++)
				if (waiting & 1ULL << i && pids[i] == pid) {
					waiting &= ~(1ULL << i);
					failed += status != 0;
					outcomes[i].status = status;
					outcomes[i].seconds =
						(mios_now_ms() - began) / 1e3;
				}
	}
	return failed;
}

static struct outcome *new_outcomes(const struct parallel *p)
{
	const size_t size = MIOS_MAX_INSTANCES * sizeof(struct outcome);
	void *shared = mmap(NULL, size, PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (shared == MAP_FAILED)
		mios_die(MIOS_EXIT_FAILED, "%s: no memory left", p->command);
	return shared;
}

/* Starts them and waits for all: how many have failed. */
static int run_phase(const struct parallel *p, uint64_t nodes,
		     struct outcome *outcomes)
{
	const pid_t self = getpid();
	pid_t pids[MIOS_MAX_INSTANCES] = { 0 };
	sigset_t chld, old;
	uint64_t waiting = 0;
	int i, failed = 0;

	/* Blocked before the first fork, or an early end would be missed. */
	sigemptyset(&chld);
	sigaddset(&chld, SIGCHLD);
	sigprocmask(SIG_BLOCK, &chld, &old);
	fflush(stdout);
	for (i = 1; i < MIOS_MAX_INSTANCES; i++) {
		if (!(nodes & 1ULL << i))
			continue;
		pids[i] = fork();
		if (!pids[i]) {
			/* Who kills the command wants nothing half done. */
			mios_end_with(self, SIGTERM);
			sigprocmask(SIG_SETMASK, &old, NULL);
			mios_errors_to(outcomes[i].error,
				       sizeof(outcomes[i].error));
			exit(p->work(p->context, i));
		}
		if (pids[i] > 0) {
			waiting |= 1ULL << i;
			continue;
		}
		mios_error("mios", "%s %d: no process for it: %m", p->command,
			   i);
		outcomes[i].status = MIOS_EXIT_FAILED;
		failed++;
	}
	failed += wait_all(p, waiting, pids, &chld, outcomes);
	sigprocmask(SIG_SETMASK, &old, NULL);
	return failed;
}

/* What was to be done after something that has failed. */
static void leave_alone(const struct parallel *p, uint64_t nodes,
			struct outcome *outcomes)
{
	int i;

	for (i = 1; i < MIOS_MAX_INSTANCES; i++) {
		if (!(nodes & 1ULL << i))
			continue;
		outcomes[i].status = MIOS_EXIT_FAILED;
		snprintf(outcomes[i].error, sizeof(outcomes[i].error),
			 "left alone, as what comes before it has failed");
		mios_error("mios", "%s %d: %s", p->command, i,
			   outcomes[i].error);
	}
}

/* The exit status of the command: what failed has said why. */
int parallel_run(const struct parallel *p, uint64_t nodes)
{
	const uint64_t first = nodes & p->first ? nodes & p->first : nodes;
	const uint64_t later = nodes & ~first;
	struct outcome *outcomes = new_outcomes(p);
	int failed = run_phase(p, first, outcomes);

	if (failed && !p->anyway)
		leave_alone(p, later, outcomes);
	else if (later)
		failed += run_phase(p, later, outcomes);
	output_result(&p->output, p->command, nodes, outcomes);
	munmap(outcomes, MIOS_MAX_INSTANCES * sizeof(*outcomes));
	return failed ? MIOS_EXIT_FAILED : MIOS_EXIT_OK;
}
