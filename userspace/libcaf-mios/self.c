// SPDX-License-Identifier: GPL-2.0
/*
 * This image, and how it says that all have ended.  Called by all other files here.
 */
#include <limits.h>
#include <linux/futex.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../libteam/team.h"
#include "caf.h"

struct caf_self caf_self;
bool image_ended;			/* and has told the others */

/* One line, and its end: the others find that it has died. */
void caf_die(const char *fmt, ...)
{
	char text[512];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	dprintf(STDERR_FILENO, "mios: caf: image %u: %s\n", caf_self.number + 1,
		text);
	_exit(CAF_FAILED);
}

/* As libteam calls it. */
void omp_die(const char *fmt, ...) __attribute__((alias("caf_die")));

/*
 * True for the first of all images that says so, and @line is said, before any
 * other one wakes: their end may be this one's.
 */
bool image_end(int status, const char *line)
{
	struct caf_window *w = caf_self.window;
	uint32_t none = 0;
	bool first;

	image_ended = true;
	first = atomic_compare_exchange_strong(&w->over, &none,
					       1 + (status & 0xff));
	if (first && write(STDERR_FILENO, line, strlen(line)) < 0)
		line = "";	/* nobody listens */
	syscall(SYS_futex, &w->over, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
	return first;
}

/* Somebody has ended all. */
void image_leave(void)
{
	image_ended = true;
	exit(atomic_load(&caf_self.window->over) - 1);
}
