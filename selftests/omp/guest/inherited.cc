// SPDX-License-Identifier: GPL-2.0
/*
 * What threads have of the one that made them, and members of a team, too:
 * inherited MEMBERS [early] modes: how main() computes; with "early" there has
 * been a region before.  inherited MEMBERS rights: those that main() has given up.
 * inherited MEMBERS own, data, child, limit, unshare, prctl: see there.
 */
#include <cfenv>
#include <cstdlib>
#include <cstring>
#include <grp.h>
#include <omp.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <xmmintrin.h>

#include "check.h"

static const uid_t nobody = 65534;

static char own_data[1 << 20];		/* of every thread of the process */
#pragma omp threadprivate(own_data)

static void modes(int members)
{
	volatile double tiny = 1e-308;
	int flush = 0, up = 0, traps = 0;

	_MM_SET_FLUSH_ZERO_MODE(_MM_FLUSH_ZERO_ON);
	fesetround(FE_UPWARD);		/* of SSE and of the x87 */
	feenableexcept(FE_INVALID);
#pragma omp parallel reduction(+:flush, up, traps)
	{
		volatile double x = tiny / 16;

		flush += x == 0;
		up += fegetround() == FE_UPWARD &&
		      _MM_GET_ROUNDING_MODE() == _MM_ROUND_UP;
		traps += fegetexcept() == FE_INVALID;
	}
	check(flush == members, "all flush to zero");
	check(up == members, "all round up");
	check(traps == members, "a signal for who computes what is none");
}

/* What a member has set for itself stays while main() changes nothing. */
static void own(int members)
{
	int down = 0, up = 0, nearest = 0;

#pragma omp parallel
	if (omp_get_thread_num())
		fesetround(FE_DOWNWARD);
#pragma omp parallel reduction(+:down)
	down += fegetround() == FE_DOWNWARD;
	check(down == members - 1, "kept");
	fesetround(FE_UPWARD);
#pragma omp parallel reduction(+:up)
	up += fegetround() == FE_UPWARD;
	check(up == members, "changed");
	fesetround(FE_TONEAREST);
#pragma omp parallel reduction(+:nearest)
	nearest += fegetround() == FE_TONEAREST;
	check(nearest == members, "changed again");
}

/* More thread-local data than a thread of the runtime has stack. */
static void data(int members)
{
	int sum = 0;

#pragma omp parallel reduction(+:sum)
	{
		own_data[1 << 19] = 1;
		sum += own_data[1 << 19];
	}
	check(sum == members, "threadprivate");
}

static void rights(int members)
{
	int weak = 0, right = 0, saved = 0;
	gid_t groups[] = { 7, 9 };

	check(!setgroups(2, groups), "setgroups()");
	check(!setresgid(nobody, nobody, nobody), "setresgid()");
	check(!setresuid(nobody, nobody, nobody), "setresuid()");
#pragma omp parallel reduction(+:weak, right, saved)
	{
		uid_t real, effective, last;
		gid_t list[3];

		getresuid(&real, &effective, &last);
		right += real == nobody && effective == nobody;
		saved += last == nobody && setuid(0) < 0;
		weak += getgroups(3, list) == 2 && list[0] == 7 &&
			list[1] == 9 && getgid() == nobody;
	}
	check(right == members, "ids");
	check(saved == members, "none comes back");
	check(weak == members, "groups");
}

/* A child's rights are its own. */
static void child(int members)
{
	int root = 0, status;
	pid_t pid = fork();

	if (!pid)
		_exit(setuid(nobody) || getuid() != nobody);
	waitpid(pid, &status, 0);
	check(!status, "a child gives up its rights");
	pid = vfork();
	if (!pid)
		_exit(setegid(nobody) != 0);
	waitpid(pid, &status, 0);
#pragma omp parallel reduction(+:root)
	root += !getuid() && !getegid();
	check(root == members, "and nobody else's");
}

static void limit(int members)
{
	struct rlimit low = { 12345, 23456 };
	int lower = 0;

	check(!setrlimit(RLIMIT_CPU, &low), "setrlimit()");
#pragma omp parallel reduction(+:lower)
	{
		struct rlimit now;

		getrlimit(RLIMIT_CPU, &now);
		lower += now.rlim_cur == low.rlim_cur &&
			 now.rlim_max == low.rlim_max;
	}
	check(lower == members, "limits");
}

int main(int argc, char **argv)
{
	int members = atoi(argv[1]), n = 0;
	const char *what = argv[argc - 1];

	if (argc > 3) {
#pragma omp parallel reduction(+:n)
		n++;
		check(n == members, "members");
	}
	if (!strcmp(what, "modes"))
		modes(members);
	else if (!strcmp(what, "own"))
		own(members);
	else if (!strcmp(what, "data"))
		data(members);
	else if (!strcmp(what, "rights"))
		rights(members);
	else if (!strcmp(what, "child"))
		child(members);
	else if (!strcmp(what, "limit"))
		limit(members);
	else if (!strcmp(what, "unshare"))
		unshare(CLONE_NEWNS);
	else
		prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	printf("%d members, all right\n", members);
	return 0;
}
