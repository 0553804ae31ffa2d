// SPDX-License-Identifier: GPL-2.0
/*
 * Who asks: everything that gives rights is taken from this kernel, never
 * from the caller, and a caller that is confined in a way which cannot be
 * carried to another instance is refused.  A pidfd taken from the socket
 * proves at the end that all was read about the one process that connected.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/landlock.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "miosd.h"

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD	77
#endif

struct status {
	unsigned int uid[4], gid[4];
	uint64_t inh, prm, bnd, amb;
	unsigned int no_new_privs, seccomp;
	unsigned int seen;	/* bit per line below */
};

static int refuse(char *why, size_t size, const char *text)
{
	snprintf(why, size, "%s", text);
	return -EPERM;
}

static void status_line(struct status *st, const char *line)
{
	if (sscanf(line, "Uid: %u %u %u %u", &st->uid[0], &st->uid[1],
		   &st->uid[2], &st->uid[3]) == 4)
		st->seen |= 1;
	else if (sscanf(line, "Gid: %u %u %u %u", &st->gid[0], &st->gid[1],
			&st->gid[2], &st->gid[3]) == 4)
		st->seen |= 2;
	else if (sscanf(line, "CapInh: %" SCNx64, &st->inh) == 1)
		st->seen |= 4;
	else if (sscanf(line, "CapPrm: %" SCNx64, &st->prm) == 1)
		st->seen |= 8;
	else if (sscanf(line, "CapBnd: %" SCNx64, &st->bnd) == 1)
		st->seen |= 16;
	else if (sscanf(line, "CapAmb: %" SCNx64, &st->amb) == 1)
		st->seen |= 32;
	else if (sscanf(line, "NoNewPrivs: %u", &st->no_new_privs) == 1)
		st->seen |= 64;
	else
		sscanf(line, "Seccomp: %u", &st->seccomp);
}

static int status_read(int proc, struct status *st)
{
	char line[256];
	FILE *f;
	int fd;

	memset(st, 0, sizeof(*st));
	fd = openat(proc, "status", O_RDONLY | O_CLOEXEC);
	f = fd < 0 ? NULL : fdopen(fd, "r");
	if (!f)
		return -errno;
	while (fgets(line, sizeof(line), f))
		status_line(st, line);
	fclose(f);
	return st->seen == 127 ? 0 : -EPROTO;
}

static long read_value(int proc, const char *name, long missing)
{
	char buf[32];
	ssize_t n;
	int fd;

	fd = openat(proc, name, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return missing;
	n = read(fd, buf, sizeof(buf) - 1);
	close(fd);
	if (n <= 0)
		return missing;
	buf[n] = '\0';
	return strtol(buf, NULL, 10);
}

/*
 * An LSM profile does not travel; "unconfined" and none are the same.  A
 * kernel without LSMs has no such file, one whose LSMs have no profiles
 * answers EINVAL; whatever else keeps us from reading may hide a profile.
 *
 * Return: 1 with a profile, 0 without one, -errno if nobody can tell.
 */
static int confined(int proc)
{
	char buf[128];
	ssize_t n;
	int fd, err;

	fd = openat(proc, "attr/current", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? 0 : -errno;
	n = read(fd, buf, sizeof(buf) - 1);
	err = errno;
	close(fd);
	if (n < 0)
		return err == EINVAL ? 0 : -err;
	buf[n] = '\0';
	return buf[0] && strncmp(buf, "unconfined", 10) &&
	       strcmp(buf, "kernel");
}

static int check_profile(int proc, char *why, size_t size)
{
	int err = confined(proc);

	if (!err)
		return 0;
	if (err > 0)
		return refuse(why, size, "you are confined by a security "
			      "profile, which does not reach other instances");
	snprintf(why, size, "miosd could not read whether a security profile "
		 "confines you: %s", strerror(-err));
	return -EPERM;
}

static bool same_place(int proc, const char *name, const char *own)
{
	unsigned int want = STATX_INO | STATX_MNT_ID;
	struct statx theirs, ours;

	/* the mount, too: a chroot may be a second mount of the same place */
	return !statx(proc, name, 0, want, &theirs) &&
	       !statx(AT_FDCWD, own, 0, want, &ours) &&
	       theirs.stx_dev_major == ours.stx_dev_major &&
	       theirs.stx_dev_minor == ours.stx_dev_minor &&
	       theirs.stx_ino == ours.stx_ino &&
	       theirs.stx_mnt_id == ours.stx_mnt_id;
}

static bool landlock_possible(void)
{
	return syscall(SYS_landlock_create_ruleset, NULL, 0,
		       LANDLOCK_CREATE_RULESET_VERSION) > 0;
}

/* Sandboxes end at this kernel's border: do not let anybody walk out. */
static int check_sandbox(int proc, const struct status *st, char *why,
			 size_t size)
{
	static const char * const spaces[] = { "user", "mnt", "pid", "net",
					       "ipc" };
	char name[32], own[48];
	size_t i;

	for (i = 0; i < sizeof(spaces) / sizeof(spaces[0]); i++) {
		snprintf(name, sizeof(name), "ns/%s", spaces[i]);
		snprintf(own, sizeof(own), "/proc/self/ns/%s", spaces[i]);
		if (same_place(proc, name, own))
			continue;
		snprintf(why, size, "you are in another %s namespace than "
			 "miosd, and namespaces do not reach other instances: "
			 "call mios from outside the container", spaces[i]);
		return -EPERM;
	}
	if (!same_place(proc, "root", "/"))
		return refuse(why, size, "you are in a chroot, which does not "
			      "reach other instances: call mios from outside");
	if (st->seccomp)
		return refuse(why, size, "you run under a seccomp filter, "
			      "which does not reach other instances");
	if (st->no_new_privs && landlock_possible())
		return refuse(why, size, "you run with no_new_privs and so "
			      "perhaps under Landlock, which does not reach "
			      "other instances");
	return check_profile(proc, why, size);
}

static int check_ids(const struct status *st, const struct ucred *cred,
		     char *why, size_t size)
{
	int i;

	for (i = 0; i < 4; i++)
		if (st->uid[i] != cred->uid || st->gid[i] != cred->gid)
			return refuse(why, size, "your real and effective user "
				      "or group differ: call mios from a "
				      "program that is not set-user-id");
	return 0;
}

static int read_groups(int fd, struct caller *c)
{
	socklen_t len = MIOS_MAX_GROUPS * sizeof(gid_t);

	c->groups = malloc(len);
	if (!c->groups)
		return -ENOMEM;
	if (getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, c->groups, &len))
		return -errno;
	c->hello.nr_groups = len / sizeof(gid_t);
	return 0;
}

static uint64_t limit_value(const char *word)
{
	return strcmp(word, "unlimited") ? strtoull(word, NULL, 10) :
	       RLIM_INFINITY;
}

/*
 * One line per resource, in the order of their numbers: a name of 25
 * columns, the soft limit, the hard limit.  (prlimit(2) would do, but only
 * with CAP_SYS_RESOURCE.)
 */
static int read_limits(int proc, struct mios_hello *h)
{
	char line[256], soft[32], hard[32];
	int fd, i = -1;
	FILE *f;

	fd = openat(proc, "limits", O_RDONLY | O_CLOEXEC);
	f = fd < 0 ? NULL : fdopen(fd, "r");
	if (!f)
		return -errno;
	for (; i < MIOS_NR_RLIMITS && fgets(line, sizeof(line), f); i++) {
		if (i < 0)
			continue;	/* headings */
		if (strlen(line) < 26 ||
		    sscanf(line + 26, "%31s %31s", soft, hard) != 2)
			break;
		h->rlimits[i][0] = limit_value(soft);
		h->rlimits[i][1] = limit_value(hard);
	}
	fclose(f);
	return i == MIOS_NR_RLIMITS ? 0 : -EPROTO;
}

/* Of the control groups that it is in; without cgroup v2 there are none. */
static int read_cgroup(int proc, struct caller *c, char *why, size_t size)
{
	char path[4096];
	int err;

	if (!cgroup_mount())
		return 0;
	err = cgroup_of(proc, path, sizeof(path));
	if (!err)
		err = limits_walk(cgroup_mount(), path, c->limits,
				  &c->hello.nr_limits);
	if (err)
		snprintf(why, size, "miosd could not read the limits of your "
			 "control group: %s", strerror(-err));
	return err;
}

static void take_capabilities(struct mios_hello *h, const struct status *st)
{
	h->cap_inheritable = st->inh;
	h->cap_ambient = st->amb & st->prm & st->inh;
	h->cap_bounding = st->bnd;
	/* exec as root gives the bounding set: give only what it has now */
	if (!h->uid)
		h->cap_bounding &= st->prm;
	if (st->no_new_privs)
		h->flags |= MIOS_HELLO_NO_NEW_PRIVS;
}

static int identify(int fd, int proc, const struct ucred *cred,
		    struct caller *c, char *why, size_t size)
{
	struct mios_hello *h = &c->hello;
	struct status st;
	int err;

	err = status_read(proc, &st);
	if (!err)
		err = check_ids(&st, cred, why, size);
	if (!err)
		err = check_sandbox(proc, &st, why, size);
	if (!err)
		err = read_groups(fd, c);
	if (!err)
		err = read_limits(proc, h);
	if (!err)
		err = read_cgroup(proc, c, why, size);
	if (err)
		return err;
	h->nice = getpriority(PRIO_PROCESS, cred->pid);
	h->uid = cred->uid;
	h->gid = cred->gid;
	h->pid = cred->pid;
	h->oom_score_adj = read_value(proc, "oom_score_adj", 0);
	h->loginuid = read_value(proc, "loginuid", (uint32_t)-1);
	take_capabilities(h, &st);
	return 0;
}

static bool alive(int pidfd)
{
	struct pollfd p = { .fd = pidfd, .events = POLLIN };

	return poll(&p, 1, 0) == 0;
}

/* On failure @why holds the line for the caller. */
int caller_identify(int fd, struct caller *c, char *why, size_t size)
{
	struct ucred cred;
	socklen_t len = sizeof(cred), pidlen = sizeof(int);
	char path[32];
	int pidfd = -1, proc = -1, err = 0;

	memset(c, 0, sizeof(*c));
	snprintf(why, size, "miosd could not read who you are");
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &len))
		return -errno;
	if (getsockopt(fd, SOL_SOCKET, SO_PEERPIDFD, &pidfd, &pidlen)) {
		err = -errno;
		snprintf(why, size, "miosd cannot tell who you are: it needs "
			 "Linux 6.5 or later");
		return err;
	}
	if (cred.pid <= 0) {
		err = refuse(why, size, "you are in another pid namespace "
			     "than miosd: call mios from outside");
		goto out;
	}
	snprintf(path, sizeof(path), "/proc/%d", cred.pid);
	proc = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	err = proc < 0 ? -errno :
	      identify(fd, proc, &cred, c, why, size);
	if (!err && !alive(pidfd))
		err = refuse(why, size, "the caller has ended");
out:
	if (proc >= 0)
		close(proc);
	close(pidfd);
	return err;
}
