// SPDX-License-Identifier: GPL-2.0
/*
 * Turns a root process into the caller: groups, ids, limits and at most the
 * caller's capabilities.  Order matters: what needs root comes first, ids
 * last, and every step is checked, since going on after a failed one would
 * leave root's rights to a user.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/keyctl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "miosd.h"

#define MAX_CAP		63
#define KEYRING_EMPTY	0x0b000000	/* possessor: view, read, search */

static int set_caps(uint64_t prm, uint64_t inh)
{
	struct __user_cap_header_struct head = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct data[2];
	int i;

	for (i = 0; i < 2; i++) {
		data[i].permitted = prm >> 32 * i;
		data[i].effective = prm >> 32 * i;
		data[i].inheritable = inh >> 32 * i;
	}
	return syscall(SYS_capset, &head, data) ? -errno : 0;
}

/* Bounding set: clear what the caller lacks. */
static int limit_bounding(uint64_t keep)
{
	int cap, has;

	for (cap = 0; cap <= MAX_CAP; cap++) {
		has = prctl(PR_CAPBSET_READ, cap, 0, 0, 0);
		if (has < 0)
			break;	/* past the last one that this kernel knows */
		if (has && !(keep & 1ull << cap) &&
		    prctl(PR_CAPBSET_DROP, cap, 0, 0, 0))
			return -errno;
	}
	return 0;
}

/* What this instance's miosd has itself bounds everybody. */
static uint64_t own_bounding(void)
{
	uint64_t set = 0;
	int cap;

	for (cap = 0; cap <= MAX_CAP; cap++)
		if (prctl(PR_CAPBSET_READ, cap, 0, 0, 0) == 1)
			set |= 1ull << cap;
	return set;
}

static int set_limits(const struct mios_hello *h)
{
	struct rlimit r;
	char buf[32] = "";
	rlim_t max = 1 << 20;
	int i, fd;

	fd = open("/proc/sys/fs/nr_open", O_RDONLY | O_CLOEXEC);
	if (fd >= 0 && read(fd, buf, sizeof(buf) - 1) > 0)
		max = strtoul(buf, NULL, 10);
	if (fd >= 0)
		close(fd);
	for (i = 0; i < MIOS_NR_RLIMITS; i++) {
		r.rlim_cur = h->rlimits[i][0];
		r.rlim_max = h->rlimits[i][1];
		if (i == RLIMIT_NOFILE && r.rlim_max > max)
			r.rlim_max = max;
		if (r.rlim_cur > r.rlim_max)
			r.rlim_cur = r.rlim_max;
		if (setrlimit(i, &r))
			return -errno;
	}
	return 0;
}

/*
 * A file of /proc/self; not there on a kernel without the feature.  @spare:
 * do not write what it says already.
 */
static int write_value(const char *path, long value, bool spare)
{
	char want[32], is[32];
	int fd, n, err = 0;
	ssize_t len;

	n = snprintf(want, sizeof(want), "%ld", value);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? 0 : -errno;
	len = spare ? pread(fd, is, sizeof(is), 0) : -1;
	if ((len < n || strncmp(is, want, n)) && write(fd, want, n) < 0)
		err = -errno;
	close(fd);
	return err;
}

/*
 * By whom the audit trail knows it, and how it fares when memory is short.
 * miosd's own are another's login, if somebody started it by hand, and a
 * protection that is not the caller's.  Writing the score also bounds what
 * may be written later, so it is written even if it is the same.
 */
static int set_account(const struct mios_hello *h, const char **step)
{
	int err;

	*step = "set its login uid";
	err = write_value("/proc/self/loginuid", h->loginuid, true);
	if (err)
		return err;
	*step = "set its OOM score";
	return write_value("/proc/self/oom_score_adj", h->oom_score_adj,
			   false);
}

/*
 * An empty session keyring, so that miosd's is not the session's.  Who has
 * used up the number of its keys keeps miosd's, in which nothing can be
 * found or put: see become_nobody().
 */
static int join_keyring(void)
{
	if (syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, NULL) < 0 &&
	    errno != ENOSYS && errno != EDQUOT)
		return -errno;
	return 0;
}

/* For miosd itself: the keys of whoever started it are not for sessions. */
int become_nobody(void)
{
	int err = join_keyring();

	if (!err && syscall(SYS_keyctl, KEYCTL_SETPERM,
			    KEY_SPEC_SESSION_KEYRING, KEYRING_EMPTY) < 0 &&
	    errno != ENOSYS)
		err = -errno;
	return err;
}

static int set_ids(const struct caller *c)
{
	const struct mios_hello *h = &c->hello;

	if (setgroups(h->nr_groups, c->groups) ||
	    setresgid(h->gid, h->gid, h->gid) ||
	    setresuid(h->uid, h->uid, h->uid))
		return -errno;
	return 0;
}

/* exec will compute the new sets from these; nothing may be left over. */
static int set_exec_caps(const struct mios_hello *h)
{
	uint64_t bounding = h->cap_bounding & own_bounding();
	uint64_t ambient = h->cap_ambient & bounding;
	uint64_t inheritable = (h->cap_inheritable & bounding) | ambient;
	uint64_t permitted = h->uid ? ambient : bounding;
	int cap, err;

	err = set_caps(permitted, inheritable);
	if (err)
		return err;
	if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0))
		return -errno;
	for (cap = 0; cap <= MAX_CAP; cap++)
		if (ambient & 1ull << cap &&
		    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, cap, 0, 0))
			return -errno;
	return 0;
}

/* The process that will exec the caller's command. */
static int become_task(const struct caller *c, const char **step)
{
	const struct mios_hello *h = &c->hello;
	int err;

	*step = "set its nice value";
	if (setpriority(PRIO_PROCESS, 0, h->nice))
		return -errno;
	*step = "set its limits";
	err = set_limits(h);
	if (err)
		return err;
	*step = "set its capabilities";
	err = limit_bounding(h->cap_bounding);
	if (err)
		return err;
	if (prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0))
		return -errno;
	*step = "change to your user and groups";
	err = set_ids(c);
	if (err)
		return err;
	*step = "set its capabilities";
	err = set_exec_caps(h);
	if (err)
		return err;
	if (prctl(PR_SET_KEEPCAPS, 0, 0, 0, 0))
		return -errno;
	*step = "make its session keyring";
	err = join_keyring();
	if (err)
		return err;
	*step = "set no_new_privs";
	if (h->flags & MIOS_HELLO_NO_NEW_PRIVS &&
	    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return -errno;
	return 0;
}

/*
 * @for_exec: the task itself.  Else the session's supervisor, which keeps
 * the caller's ids only: it forwards signals with the caller's rights, and
 * nobody can read or trace it.
 */
int become_caller(const struct caller *c, bool for_exec, const char **step)
{
	const pid_t parent = getppid();
	int err;

	err = set_account(&c->hello, step);
	if (err)
		return err;
	if (for_exec)
		return become_task(c, step);
	*step = "give up root's rights";
	err = set_ids(c);
	if (!err)	/* root may signal what it started as others */
		err = set_caps(c->hello.uid ? 0 : c->hello.cap_bounding &
			       1ull << CAP_KILL, 0);
	if (!err && prctl(PR_SET_DUMPABLE, 0, 0, 0, 0))
		err = -errno;
	return err ? err : mios_end_with(parent, SIGKILL);
}
