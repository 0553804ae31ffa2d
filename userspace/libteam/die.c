// SPDX-License-Identifier: GPL-2.0
/*
 * The end of a team that cannot go on, and the line that says why.  Called by all
 * other files here, at any time, by several processes at once.
 */
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "inside.h"

#define SAY_LOOKS	1000		/* for another one's last line ... */
#define SAY_NS		1000000		/* ... after this time each */

/* Of this process alone: nobody else is told. */
void process_end(int status)
{
	for (;;)
		syscall(SYS_exit_group, status);
}

/*
 * The end of all, and @line first, if nobody has had one.  It is over only once
 * the line is written: who sees that ends the process, perhaps this one.  Whoever
 * says it may die meanwhile, so the others wait a second at most.  As a handler
 * of signals may do, and not by a stream: another thread's fflush(NULL) would
 * write it, too.
 */
void window_end(const char *line, size_t length)
{
	struct omp_window *w = mios_omp_place.window;
	uint32_t none = 0;
	int looks;

	if (!w || (!atomic_load(&w->over) && !atomic_exchange(&w->said, 1)))
		syscall(SYS_write, STDERR_FILENO, line, length);
	else
		for (looks = 0; looks < SAY_LOOKS && !atomic_load(&w->over);
		     looks++)
			nanosleep(&(struct timespec){ 0, SAY_NS }, NULL);
	if (w && !atomic_compare_exchange_strong(&w->over, &none,
						 1 + OMP_FAILED))
		process_end(none - 1);
	long_wake();
	process_end(OMP_FAILED);
}

static void *flush(void *unused)
{
	fflush(NULL);
	return NULL;
}

/* For a second at most: who reads a stream has it locked until something comes. */
static void flush_soon(void)
{
	struct timespec end;
	pthread_t thread;

	clock_gettime(CLOCK_REALTIME, &end);
	end.tv_sec++;
	if (!pthread_create(&thread, NULL, flush, NULL))
		pthread_timedjoin_np(thread, NULL, &end);
}

/* One line, of the first who has one, and the end of all. */
void omp_die(const char *fmt, ...)
{
	static const char from[] = "mios: omp: ";
	char text[512];
	va_list args;
	size_t length;

	if (mios_omp_place.window && mios_omp_place.window->streams)
		flush_soon();
	else			/* there is no other thread yet */
		flush(NULL);
	memcpy(text, from, sizeof(from));
	va_start(args, fmt);
	vsnprintf(text + strlen(from), sizeof(text) - sizeof(from), fmt, args);
	va_end(args);
	length = strlen(text);
	text[length++] = '\n';
	window_end(text, length);
}
