// SPDX-License-Identifier: GPL-2.0
/*
 * Usage: death NODE MICROSECONDS [updates].  The node is killed at that time while all
 * work on the same pages.  The others get an error from their next barrier or
 * lock, within a bound; a page that only the dead one held raises SIGBUS at its
 * address, one that others hold is as it was; and all end in order.  With
 * updates what the dead one wrote is in the others' copies.
 */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <sys/time.h>

#include "trial.h"

#define PAGES	20

static sigjmp_buf back;
static char *volatile fault_at;

static void bus(int sig, siginfo_t *info, void *context)
{
	(void)sig;
	(void)context;
	fault_at = info->si_addr;
	siglongjmp(back, 1);
}

static void killed(int sig)
{
	kill(getpid(), SIGKILL);
	(void)sig;
}

/* A page may be lost while it is waited for. */
static void add(volatile uint64_t *word)
{
	if (!sigsetjmp(back, 1))
		__atomic_fetch_add(word, 1, __ATOMIC_SEQ_CST);
}

static void work(volatile uint64_t *page)
{
	int err = 0;

	for (long i = 0; !err; i++) {
		add(&page[i * 7 % PAGES * (PAGE / 8)]);
		if (i % 16 == 0)
			err = mios_dsm_lock(2);
		if (i % 16 == 0 && !err)
			err = mios_dsm_unlock(2);
	}
	demand(err == -EHOSTDOWN, "another error than that a node is down");
}

/* Only the dead node held it. */
static void lost(char *page)
{
	fault_at = NULL;
	if (!sigsetjmp(back, 1)) {
		*(volatile char *)page;
		demand(false, "a page is there that only the dead node held");
	}
	demand(fault_at >= page && fault_at < page + PAGE,
	       "SIGBUS tells another address");
}

int main(int argc, char **argv)
{
	struct sigaction bus_action = { .sa_sigaction = bus,
					.sa_flags = SA_SIGINFO };
	struct itimerval when = { };
	char *page, *own, *kept, *taken;
	int victim, err;

	demand(argc == 3 || argc == 4, "usage");
	victim = atoi(argv[1]);
	when.it_value.tv_usec = atoi(argv[2]);
	/* Before: with --own-faults the library's handler is in front of it. */
	sigaction(SIGBUS, &bus_action, NULL);
	demand(!mios_dsm_start(), "start");
	page = common(0, PAGES * PAGE, MIOS_DSM_STRIPED);
	own = common(1, PAGE, victim);
	kept = common(2, PAGE, victim);
	taken = common(3, PAGE, victim);
	if (mios_dsm_node() == victim) {
		*own = 1;
		*kept = 7;
	}
	demand(!mios_dsm_barrier(), "barrier");
	demand(*(volatile char *)kept == 7, "a page that others read");
	demand(!*(volatile char *)taken, "another one");
	demand(!mios_dsm_barrier(), "barrier");
	if (mios_dsm_node() == victim)
		*taken = 1;
	/* One that is slow may hear of the death before it leaves. */
	err = mios_dsm_barrier();
	demand(!err || (err == -EHOSTDOWN && mios_dsm_node() != victim),
	       "barrier");
	if (mios_dsm_node() == victim) {
		signal(SIGALRM, killed);
		setitimer(ITIMER_REAL, &when, NULL);
	} else {
		alarm(20);
	}
	work((volatile uint64_t *)page);
	demand(*(volatile char *)kept == 7, "a page that survivors hold");
	lost(own);
	if (argc == 3)
		lost(taken);
	else
		demand(*(volatile char *)taken == 1, "an update was lost");
	demand(mios_dsm_barrier() == -EHOSTDOWN, "barrier after a death");
	demand(mios_dsm_finish() == -EHOSTDOWN, "finish after a death");
	return 0;
}
