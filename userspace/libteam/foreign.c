// SPDX-License-Identifier: GPL-2.0
/*
 * A member uses an address at which its process has nothing.  Has another process of
 * the team something there, as memory that it has mapped for itself, or a library
 * that it has loaded, then the program would go on if it were one process: it ends
 * with a line that says whose it is, and what to do.  Else it is the program's own
 * mistake, and goes its way: its handler, or a core dump.
 *
 * Processes take addresses where the others have none (stacks.c), so what is one's
 * own is never taken for another's.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "files.h"

#define LINE	512
#define LOOK_NS	1000000

/* What another process says, in the window: that is not to be allocated here. */
struct report {
	_Atomic uint32_t taken;		/* by one thread, the first to need it */
	struct mapping mapping;
};

static struct report *report;

static long do_look(const long *args)
{
	struct mapping m;

	if (!proc_maps_find(args[0], &m) || !strcmp(m.rights, "---p"))
		return -ENOENT;
	*(struct mapping *)args[1] = m;
	return 0;
}

/* The place that has it, or as many as there are. */
static unsigned int find_owner(unsigned long at)
{
	struct asked asked = { .args = { at, (long)&report->mapping } };
	unsigned int place, n = files_places();

	for (place = 0; place < n; place++)
		if (place != mios_omp_place.number &&
		    !ask_to_run(place, do_look, asked))
			break;
	return place;
}

static const char *what_it_is(const struct mapping *m)
{
	if (m->rights[2] == 'x' && m->name[0] == '/')
		return "loaded there by dlopen(): link the program with it";
	if (!strncmp(m->name, "/SYSV", 5))
		return "a segment that is attached there";
	if (m->name[0] == '/')
		return "a file that is mapped there";
	if (mios_omp_place.strict)
		return "memory that is that process's own by --share strict, as "
		       "malloc() gives it: omp_alloc() gives what is shared";
	return "memory that is that process's own, as by mmap() with a fixed "
	       "address or of a size that the window has not, or a stack";
}

static _Noreturn void tell(unsigned long at, unsigned int owner)
{
	const struct mapping *m = &report->mapping;
	const char *name = m->name[0] == '/' ? m->name : "";
	char line[LINE];
	int length;

	length = snprintf(line, sizeof(line), "mios: omp: process %u uses address "
			  "0x%lx, which process %u alone has: %.200s%s%s; or run "
			  "the program without --omp\n", mios_omp_place.number,
			  at, owner, name, *name ? ", " : "", what_it_is(m));
	window_end(line, length < LINE ? length : LINE - 1);
}

/* Does not return where that is so. */
void foreign_address(const void *p)
{
	unsigned long at = (unsigned long)p;
	struct mapping own;
	unsigned int owner;

	if (proc_maps_find(at, &own) && strcmp(own.rights, "---p"))
		return;
	/* Where another thread has it, all may be over when that has looked. */
	while (atomic_exchange(&report->taken, 1))
		nanosleep(&(struct timespec){ 0, LOOK_NS }, NULL);
	owner = find_owner(at);
	if (owner < files_places())
		tell(at, owner);
	atomic_store(&report->taken, 0);
}

/* Before anything of the program runs. */
void foreign_prepare(void)
{
	report = mios_omp_zalloc(sizeof(*report));
	if (!report)
		omp_die("no memory left in the window for what is where");
}
