// SPDX-License-Identifier: GPL-2.0
/*
 * The window of an OpenMP team, or of the images of a coarray program: a file of
 * /mios that has a name until all its processes have opened it, when the first
 * one removes that.  If it does not
 * come to that, a process of ours does, which sees us end however we do; and if
 * this instance dies meanwhile, the next such mios run of the same user.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "libmios/libmios.h"
#include "run_omp.h"

#define WHO		"mios: run"
#define WINDOW_DIR	"/mios"
/* Instance, incarnation, PID, and what nobody else can have guessed. */
#define WINDOW_NAME	".%s-%d-%u-%d-%016llx"
#define WINDOW_SCAN	".%3[a-z]-%d-%u-%d-%*16[0-9a-f]%n"
#define MIOSFS_TYPE	0x534f494d	/* as mios/memory/fs/super.c has it */
#define FIXED_SIZE	(64ull << 20)	/* data, and what stands before it */
#define STACK_SIZE	(2ull << 30)	/* the largest, twice: see window.c there */
#define STACKS_MOST	(256ull << 30)	/* a file has at most twice that: */
#define WINDOW_MOST	(512ll << 30)
#define START_SECONDS	600		/* no start takes longer */

static int keeper = -1;			/* the pipe to it */

static unsigned int own_incarnation(void)
{
	struct mios_instance inst;

	return mios_instance_read(mios_self(), &inst) ? 0 : inst.incarnation;
}

static bool has_ended(int instance, unsigned int incarnation)
{
	struct mios_instance inst;

	if (mios_instance_read(instance, &inst))
		return false;
	return inst.incarnation != incarnation || !mios_instance_runs(&inst);
}

/* Has who made it ended?  PIDs of one instance come back, so by age, too. */
static bool is_left(const char *name, int dir)
{
	int instance, pid, end = 0;
	unsigned int incarnation;
	char kind[4];
	struct stat st;

	if (sscanf(name, WINDOW_SCAN, kind, &instance, &incarnation, &pid,
		   &end) != 4 || name[end] ||
	    (strcmp(kind, "omp") && strcmp(kind, "caf")))
		return false;
	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) ||
	    st.st_uid != geteuid())
		return false;
	if (has_ended(instance, incarnation))
		return true;
	return instance == mios_self() && kill(pid, 0) && errno == ESRCH &&
	       time(NULL) - st.st_ctime > START_SECONDS;
}

static void remove_left(void)
{
	struct dirent *entry;
	DIR *dir = opendir(WINDOW_DIR);

	if (!dir)
		return;
	while ((entry = readdir(dir)))
		if (is_left(entry->d_name, dirfd(dir)))
			unlinkat(dirfd(dir), entry->d_name, 0);
	closedir(dir);
}

/*
 * All that is free, for either of heap and mappings; a team's stacks.  @best: four
 * times as many addresses, so that room is found among what is in use, and pages
 * are what is short.
 */
static int window_size(unsigned int threads, off_t *size, off_t *best)
{
	const unsigned int parts = threads ? 2 : 1;
	uint64_t stacks, all;
	struct statfs fs;

	if (statfs(WINDOW_DIR, &fs) || fs.f_type != MIOSFS_TYPE) {
		mios_error(WHO, "there is no " WINDOW_DIR ", the memory that "
			   "instances share: see mios reserve --pool");
		return -ENODEV;
	}
	stacks = threads * STACK_SIZE;	/* without pages they cost nothing */
	if (stacks > STACKS_MOST)
		stacks = STACKS_MOST;
	all = parts * fs.f_bfree * fs.f_bsize;
	*size = (all + stacks + FIXED_SIZE) & ~4095ull;
	*best = (4 * all + stacks + FIXED_SIZE) & ~4095ull;
	if (*best > WINDOW_MOST)
		*best = *size > WINDOW_MOST ? *size : WINDOW_MOST;
	return 0;
}

/* In a process of its own, which no signal to our group ends. */
static void __attribute__((noreturn)) keep(const char *path, int pipe)
{
	sigset_t all;
	char byte;

	setsid();
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	while (read(pipe, &byte, 1) < 0 && errno == EINTR)
		;
	unlink(path);
	_exit(0);
}

static int start_keeper(const char *path)
{
	int ends[2], err;
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC))
		return -errno;
	pid = fork();
	if (!pid) {
		close(ends[1]);
		keep(path, ends[0]);
	}
	err = pid < 0 ? -errno : 0;
	close(ends[0]);
	keeper = ends[1];
	return err;
}

/*
 * The signal that the kernel sends to who exceeds one says nothing.  @best becomes
 * what they allow of it, half of it for what else the program maps.
 */
static int limits_allow(off_t length, off_t *best)
{
	static const struct {
		int what;
		const char *option;
	} limits[] = { { RLIMIT_FSIZE, "-f" }, { RLIMIT_AS, "-v" } };
	struct rlimit r;
	size_t i;

	for (i = 0; i < sizeof(limits) / sizeof(*limits); i++) {
		if (getrlimit(limits[i].what, &r) ||
		    r.rlim_cur == RLIM_INFINITY)
			continue;
		if (r.rlim_cur / 2 < (rlim_t)*best)
			*best = (r.rlim_cur / 2) & ~4095ull;
		if (r.rlim_cur >= (rlim_t)length)
			continue;
		mios_error(WHO, "the window of the program's processes is a "
			   "file of %lld KiB, which they map, and ulimit %s "
			   "allows %llu: raise it", (long long)length / 1024,
			   limits[i].option,
			   (unsigned long long)r.rlim_cur / 1024);
		return -EFBIG;
	}
	return 0;
}

/* Leaves the name in @path.  @kind: omp or caf. */
int job_window_create(const char *kind, unsigned int threads, char *path,
		      size_t size)
{
	unsigned long long chance;
	off_t length, best;
	int fd, err;

	err = window_size(threads, &length, &best);
	if (!err)
		err = limits_allow(length, &best);
	if (err)
		return err;
	if (best > length)
		length = best;
	remove_left();
	if (getrandom(&chance, sizeof(chance), 0) != sizeof(chance))
		return -errno;
	snprintf(path, size, WINDOW_DIR "/" WINDOW_NAME, kind, mios_self(),
		 own_incarnation(), getpid(), chance);
	err = start_keeper(path);
	fd = err ? -1 : open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (!err && (fd < 0 || ftruncate(fd, length)))
		err = -errno;
	if (fd >= 0)
		close(fd);
	if (err) {
		mios_error(WHO, "cannot make a window in " WINDOW_DIR ": %s",
			   strerror(-err));
		job_window_end();
	}
	return err;
}

/* Whatever has become of the job; nothing is left when this returns. */
void job_window_end(void)
{
	if (keeper >= 0)
		close(keeper);
	keeper = -1;
	while (wait(NULL) < 0 && errno == EINTR)
		;
}
