// SPDX-License-Identifier: GPL-2.0
/*
 * Which process of a team has a descriptor: its number says so.
 *
 *     0 1 2 | 3 ... base - 1 | base ... | base + each ... | ...
 *           | process 0      | 1        | 2               |
 *
 * The kernel gives the lowest number that is free, to libc's own calls as to the
 * program's.  So all before a process's own are taken when it starts, by what can
 * neither be read nor written, and its limit ends them.  Whoever uses a descriptor
 * that is another's asks that one (calls.c, streams.c): its place in the file, a
 * pipe's end or a connection are there, and nowhere else.
 *
 * Input is process 0's.  Output is everybody's own, which mios run brings
 * together, until the program makes these descriptors something else.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "files.h"

#define BASE_MOST	4096u	/* so many are taken, at the start of the others */
#define EACH		256u
#define EACH_LEAST	8u
#define FIRST		3	/* after input, output and errors */
#define LEAST		512	/* where no program expects what it has not opened */

static bool shared;		/* not yet, and in a child not any more */
static pid_t process;

void files_create(struct omp_window *w)
{
	uint32_t others = w->nr_places - 1;
	struct rlimit limit;
	uint64_t hard;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		omp_die("cannot read the limit of open files: %s",
			strerror(errno));
	hard = limit.rlim_max;
	w->files_base = limit.rlim_cur < BASE_MOST ? limit.rlim_cur : BASE_MOST;
	w->files_each = EACH;
	if (w->files_base + others * EACH > hard) {
		if (hard / 2 / others < EACH)
			w->files_each = hard / 2 / others;
		w->files_base = hard - others * w->files_each;
	}
	if (w->files_each < EACH_LEAST)
		omp_die("the limit of open files, %lu, is too low for %u processes",
			(unsigned long)hard, w->nr_places);
	atomic_store(&w->files_moved, 0);
}

/* All below @end that are free. */
static void take_up_to(int end)
{
	int null = open("/dev/null", O_PATH | O_CLOEXEC), fd = null;

	while (fd >= 0 && fd < end)
		fd = REAL(fcntl)(null, F_DUPFD_CLOEXEC, FIRST);
	if (fd < 0)
		omp_die("cannot take the descriptors of others: %s",
			strerror(errno));
	REAL(close)(fd);
}

/* The first number that is ours. */
static int first_own(void)
{
	const struct omp_window *w = mios_omp_place.window;
	unsigned int place = mios_omp_place.number;

	return place ? w->files_base + (place - 1) * w->files_each : FIRST;
}

/* The first one behind those that are ours. */
rlim_t files_end(void)
{
	const struct omp_window *w = mios_omp_place.window;

	return w->files_base + mios_omp_place.number * w->files_each;
}

/* Returns where the runtime may have its own. */
int files_limit(void)
{
	rlim_t end = files_end();
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		omp_die("cannot read the limit of open files: %s",
			strerror(errno));
	limit.rlim_cur = end;
	if (REAL(setrlimit)(RLIMIT_NOFILE, &limit))
		omp_die("cannot set the limit of open files to %lu: %s",
			(unsigned long)end, strerror(errno));
	return first_own() > LEAST || LEAST >= end ? first_own() : LEAST;
}

void files_start(void)
{
	if (mios_omp_place.number)
		take_up_to(first_own());
	process = getpid();
	shared = true;
}

/* Are there descriptors of others? */
bool files_shared(void)
{
	return shared;
}

/* How many processes the program is: a child is one, also vfork()'s. */
unsigned int files_places(void)
{
	return shared && getpid() == process ?
	       mios_omp_place.window->nr_places : 1;
}

/* Who has it, or would have. */
unsigned int files_place(int fd)
{
	const struct omp_window *w = mios_omp_place.window;
	unsigned int place;

	if (!shared || fd < 0)
		return mios_omp_place.number;
	if (fd == STDIN_FILENO)
		return 0;
	if (fd < FIRST)
		return atomic_load_explicit(&w->files_moved,
					    memory_order_relaxed) & 1u << fd ?
		       0 : mios_omp_place.number;
	if (fd < w->files_base)
		return 0;
	place = 1 + (fd - w->files_base) / w->files_each;
	return place < w->nr_places ? place : mios_omp_place.number;
}

bool files_here(int fd)
{
	return files_place(fd) == mios_omp_place.number;
}

/* Output @fd of the team is what process 0 has there, from now on. */
void files_moved(int fd)
{
	struct omp_window *w = mios_omp_place.window;

	if (shared && fd > STDIN_FILENO && fd < FIRST)
		atomic_fetch_or(&w->files_moved, 1u << fd);
}

/* By a child: nobody serves it, and it has no memory to ask by. */
void files_separate(void)
{
	shared = false;
}
