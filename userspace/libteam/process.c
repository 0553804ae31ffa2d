// SPDX-License-Identifier: GPL-2.0
/*
 * What a program sets of its process, and finds where it opens files: the folder and
 * the mask of new files.  All processes of a team have the same.  And how many files
 * it may have open.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files.h"

static long do_chdir(const long *a)
{
	return REAL(chdir)((const char *)a[0]) ? -errno : 0;
}

/* A folder may be one of this instance alone. */
static void go_there(unsigned int place, const char *path)
{
	struct asked asked = { .args = { (long)path } };

	if (ask_to_run(place, do_chdir, asked))
		fprintf(stderr, "mios: omp: process %u cannot change to %s: %s\n",
			place, path, strerror(errno));
}

/* The others go to where this one has gone. */
static void follow(void)
{
	unsigned int place, n = files_places();
	char *path = n > 1 ? mios_omp_alloc(PATH_MAX) : NULL;
	int before = errno;

	if (path && getcwd(path, PATH_MAX))
		for (place = 0; place < n; place++)
			if (place != mios_omp_place.number)
				go_there(place, path);
	mios_omp_free(path);
	errno = before;
}

int chdir(const char *path)
{
	if (REAL(chdir)(path))
		return -1;
	follow();
	return 0;
}

/* The path of a folder that is open. */
static long do_path(const long *a)
{
	char link[32], *path = (char *)a[1];
	struct stat st;
	ssize_t n;

	if (REAL(fstat)(a[0], &st))
		return -errno;
	if (!S_ISDIR(st.st_mode))
		return -ENOTDIR;
	snprintf(link, sizeof(link), "/proc/self/fd/%ld", a[0]);
	n = readlink(link, path, PATH_MAX - 1);
	if (n < 0)
		return -errno;
	path[n] = 0;
	return 0;
}

/* Another process's folder is gone to by its path. */
static int go_to_theirs(int fd)
{
	char *path = mios_omp_alloc(PATH_MAX);
	struct asked asked = { .args = { fd, (long)path } };
	bool failed;
	int error;

	if (!path) {
		errno = ENOMEM;
		return -1;
	}
	failed = ask_to_run(files_place(fd), do_path, asked) || chdir(path);
	error = errno;
	mios_omp_free(path);
	errno = error;
	return failed ? -1 : 0;
}

int fchdir(int fd)
{
	if (!files_here(fd))
		return go_to_theirs(fd);
	if (REAL(fchdir)(fd))
		return -1;
	follow();
	return 0;
}

static long do_umask(const long *a)
{
	return REAL(umask)(a[0]);
}

mode_t umask(mode_t mask)
{
	mode_t before = REAL(umask)(mask);
	unsigned int place;

	for (place = 0; place < files_places(); place++)
		if (place != mios_omp_place.number)
			ask_to_run(place, do_umask,
				   (struct asked){ .args = { mask } });
	return before;
}

static long do_limit(const long *a)
{
	return syscall(SYS_prlimit64, 0, a[0], a[1], NULL) ? -errno : 0;
}

/* What this process may use, no other one may exceed. */
static void limit_others(enum __rlimit_resource what, const struct rlimit64 *new)
{
	struct asked asked = { .args = { what, (long)new },
			       .pieces = { { 1, GIVE, sizeof(*new) } } };
	unsigned int place, n = files_places();

	for (place = 0; place < n; place++)
		if (place != mios_omp_place.number &&
		    ask_to_run(place, do_limit, asked))
			omp_die("process %u of the program cannot have the limit "
				"that another has set itself: %s", place,
				strerror(errno));
}

/* A program may raise its limit, but not to numbers that are others'. */
int prlimit64(pid_t pid, enum __rlimit_resource what,
	      const struct rlimit64 *new, struct rlimit64 *old)
{
	bool own = !pid || pid == getpid();
	struct rlimit64 limit;

	if (files_shared() && what == RLIMIT_NOFILE && own && new &&
	    memory_read(&limit, new, sizeof(limit))) {
		if (limit.rlim_cur > files_end())
			limit.rlim_cur = files_end();
		new = &limit;
	}
	if (syscall(SYS_prlimit64, pid, what, new, old))
		return -1;
	if (own && new && what != RLIMIT_NOFILE)
		limit_others(what, new);
	return 0;
}

int prlimit(pid_t pid, enum __rlimit_resource what, const struct rlimit *new,
	    struct rlimit *old)
{
	return prlimit64(pid, what, (const struct rlimit64 *)new,
			 (struct rlimit64 *)old);
}

int setrlimit64(enum __rlimit_resource what, const struct rlimit64 *limit)
{
	return prlimit64(0, what, limit, NULL);
}

int setrlimit(enum __rlimit_resource what, const struct rlimit *limit)
{
	return prlimit(0, what, limit, NULL);
}
