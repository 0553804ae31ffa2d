// SPDX-License-Identifier: GPL-2.0
/* See procs.h.  Called by cmd_run.c. */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../libmios/cli.h"
#include "procs.h"

static struct procs *ours;
static atomic_int asked;	/* the signal that asked us to end */

/* A node ends with us, however we do: nobody else knows that it is there. */
static void end_with(pid_t parent)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)	/* it was too late for that */
		_exit(127);
}

static void ask(int number)
{
	asked = number;
	procs_kill(ours);
}

/* Not those that whoever started us wants to be ignored. */
static void hear(struct procs *p)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP };

	ours = p;
	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++)
		if (signal(signals[i], ask) == SIG_IGN)
			signal(signals[i], SIG_IGN);
}

void procs_obey(void)
{
	if (!asked)
		return;
	signal(asked, SIG_DFL);
	raise(asked);
}

int procs_start(struct procs *p, void (*become)(void *run, uint64_t node),
		void *run)
{
	pid_t self = getpid();

	fflush(NULL);
	for (uint64_t i = p->first; i < p->end; i++) {
		p->pid[i] = fork();
		if (!p->pid[i]) {
			end_with(self);
			become(run, i);
		}
		if (p->pid[i] < 0) {
			p->pid[i] = 0;
			procs_kill(p);
			return cli_error("run: %s", strerror(errno));
		}
		p->left++;
	}
	hear(p);
	return 0;
}

static void ended(struct procs *p, uint64_t i, int status, bool finished)
{
	p->pid[i] = 0;
	p->left--;
	p->status[i] = WIFSIGNALED(status) ? 128 + WTERMSIG(status) :
		WEXITSTATUS(status);
	if (!p->status[i] && !finished)
		p->status[i] = 1;
	if (p->status[i] && !p->result)
		p->result = p->status[i];
	if (asked)
		return;
	if (WIFSIGNALED(status))
		fprintf(stderr, "mios-dsm: node %" PRIu64 " was killed by signal %d (%s)\n",
			i, WTERMSIG(status), strsignal(WTERMSIG(status)));
	else if (!status && !finished)
		fprintf(stderr, "mios-dsm: node %" PRIu64 " ended without mios_dsm_finish()\n",
			i);
}

void procs_wait(struct procs *p, const struct node_stats *stats, bool look)
{
	int status;
	pid_t pid = waitpid(-1, &status, look ? WNOHANG : 0);

	for (uint64_t i = p->first; i < p->end && pid > 0; i++)
		if (p->pid[i] == pid)
			ended(p, i, status, stats[i].finished);
}

void procs_kill(struct procs *p)
{
	for (uint64_t i = p->first; i < p->end; i++)
		if (p->pid[i] > 0)
			kill(p->pid[i], SIGKILL);
}
