// SPDX-License-Identifier: GPL-2.0
/*
 * What is where, for mios run --explain: said by the first process before
 * anything of the program has run.  The lines of /proc/PID/maps that name the
 * window's file are these, by their addresses.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "files.h"

#define KIB	1024ul

static FILE *out;

static void say_data(const char *name, unsigned long start, unsigned long end)
{
	const char *slash = strrchr(name, '/');

	fprintf(out, "  data   0x%lx-0x%lx  %lu KiB: statics of %s\n", start, end,
		(end - start) / KIB, !*name ? "the program" : slash ?
		slash + 1 : name);
}

static void say_stacks(const struct omp_window *w)
{
	uint64_t at = w->base + w->stack_at, end;
	uint32_t i, n;

	for (i = 0; i < w->nr_places; i++, at = end) {
		n = w->first[i + 1] - w->first[i];
		end = at + n * stacks_apart(w);
		fprintf(out, "  stacks 0x%lx-0x%lx  %lu KiB each: process %u, ",
			(unsigned long)at, (unsigned long)end,
			(unsigned long)w->stack_size / KIB, i);
		if (n == 1)
			fprintf(out, "member %u\n", w->first[i]);
		else
			fprintf(out, "members %u-%u\n", w->first[i],
				w->first[i + 1] - 1);
	}
}

void explain_window(const struct omp_window *w)
{
	char *text = NULL;
	size_t len = 0;

	if (!getenv("MIOS_OMP_EXPLAIN"))
		return;
	out = REAL(open_memstream)(&text, &len);
	if (!out)
		return;
	fprintf(out, "mios omp: what all processes share, at these addresses in "
		"each:\n  window 0x%lx-0x%lx  of which the first %u KiB are the "
		"runtime's\n", (unsigned long)w->base,
		(unsigned long)(w->base + w->size),
		(unsigned int)(OMP_DATA_AT / KIB));
	data_each(say_data);
	say_stacks(w);
	fprintf(out, "  heap   0x%lx-0x%lx  of %s; pages are there when they "
		"are first used\n", (unsigned long)(w->base + w->heap_at),
		(unsigned long)(w->base + w->space_at),
		mios_omp_place.strict ? "omp_alloc() alone" : "malloc()");
	if (!mios_omp_place.strict)
		fprintf(out, "  maps   0x%lx-0x%lx  what the program maps, "
			"anonymous and private\n",
			(unsigned long)(w->base + w->space_at),
			(unsigned long)(w->base + w->size));
	fprintf(out, "  private: text, statics of libraries that are not named "
		"here%s, and the first stack of each process\n",
		mios_omp_place.strict ? ", other memory that is, malloc()" : "");
	REAL(fclose)(out);
	syscall(SYS_write, STDOUT_FILENO, text, len);
	free(text);		/* libc's, by malloc() */
}
