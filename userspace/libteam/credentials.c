// SPDX-License-Identifier: GPL-2.0
/*
 * What a process may do: ids, groups, the root it sees.  A program that gives up
 * a right has given it up in all its threads when the call returns, so all
 * processes of the team have it done, and one that cannot is the end of all.
 * What the kernel keeps for each thread by itself, members would not have: it is
 * refused with a line.
 */
#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <sched.h>
#include <stdarg.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "files.h"

int capset(cap_user_header_t header, const cap_user_data_t data);

#define IDS(NAME, ...)							\
static long do_##NAME(const long *a)					\
{									\
	return REAL(NAME)(__VA_ARGS__) ? -errno : 0;			\
}

#define ONE_ID(NAME, TYPE)						\
IDS(NAME, a[0])								\
int NAME(TYPE id)							\
{									\
	return ask_all(#NAME, do_##NAME,				\
			  (struct asked){ .args = { id } });		\
}

#define TWO_IDS(NAME, TYPE)						\
IDS(NAME, a[0], a[1])							\
int NAME(TYPE real, TYPE effective)					\
{									\
	return ask_all(#NAME, do_##NAME, (struct asked){		\
				.args = { real, effective } });		\
}

#define THREE_IDS(NAME, TYPE)						\
IDS(NAME, a[0], a[1], a[2])						\
int NAME(TYPE real, TYPE effective, TYPE saved)				\
{									\
	return ask_all(#NAME, do_##NAME, (struct asked){		\
				.args = { real, effective, saved } });	\
}

ONE_ID(setuid, uid_t)
ONE_ID(setgid, gid_t)
ONE_ID(seteuid, uid_t)
ONE_ID(setegid, gid_t)
TWO_IDS(setreuid, uid_t)
TWO_IDS(setregid, gid_t)
THREE_IDS(setresuid, uid_t)
THREE_IDS(setresgid, gid_t)

static long do_setgroups(const long *a)
{
	return REAL(setgroups)(a[0], (const gid_t *)a[1]) ? -errno : 0;
}

int setgroups(size_t n, const gid_t *list)
{
	struct asked asked = { .args = { n, (long)list } };

	if (n)
		asked.pieces[0] = (struct piece){ 1, GIVE, n * sizeof(*list) };
	return ask_all("setgroups", do_setgroups, asked);
}

static long do_initgroups(const long *a)
{
	return REAL(initgroups)((const char *)a[0], a[1]) ? -errno : 0;
}

int initgroups(const char *user, gid_t group)
{
	return ask_all("initgroups", do_initgroups, (struct asked){
			.args = { (long)user, group },
			.pieces = { { 0, GIVE, text_size(user) } } });
}

static long do_chroot(const long *a)
{
	return REAL(chroot)((const char *)a[0]) ? -errno : 0;
}

int chroot(const char *path)
{
	return ask_all("chroot", do_chroot, (struct asked){
			.args = { (long)path },
			.pieces = { { 0, GIVE, text_size(path) } } });
}

static void refuse(const char *what)
{
	if (files_places() > 1)
		omp_die("%s is for one thread alone, and this program's others "
			"are processes that would go on without it: run it "
			"without --omp", what);
}

int unshare(int flags)
{
	refuse("unshare()");
	return REAL(unshare)(flags);
}

int setns(int fd, int kind)
{
	refuse("setns()");
	return REAL(setns)(fd, kind);
}

int setfsuid(uid_t id)
{
	refuse("setfsuid()");
	return REAL(setfsuid)(id);
}

int setfsgid(gid_t id)
{
	refuse("setfsgid()");
	return REAL(setfsgid)(id);
}

int capset(cap_user_header_t header, const cap_user_data_t data)
{
	refuse("capset()");
	return REAL(capset)(header, data);
}

static long do_prctl(const long *a)
{
	int result = REAL(prctl)(a[0], a[1], a[2], a[3], a[4]);

	return result < 0 ? -errno : result;
}

/* Most of what it does is the thread's that calls. */
int prctl(int option, ...)
{
	struct asked asked = { .args = { option } };
	va_list args;
	int i;

	va_start(args, option);
	for (i = 1; i < 5; i++)
		asked.args[i] = va_arg(args, long);
	va_end(args);
	switch (option) {
	case PR_SET_DUMPABLE:
		return ask_all("prctl", do_prctl, asked);
	case PR_SET_NO_NEW_PRIVS:
	case PR_SET_SECCOMP:
	case PR_SET_SECUREBITS:
	case PR_SET_KEEPCAPS:
	case PR_CAPBSET_DROP:
		refuse("prctl(), with what it was asked for,");
		break;
	case PR_CAP_AMBIENT:
		if (asked.args[1] != PR_CAP_AMBIENT_IS_SET)
			refuse("prctl(PR_CAP_AMBIENT)");
	}
	return ask_to_run(mios_omp_place.number, do_prctl, asked);
}
