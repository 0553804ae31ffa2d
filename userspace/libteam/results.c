// SPDX-License-Identifier: GPL-2.0
/*
 * Results that libc keeps for its caller, as localtime() does: in the window, so that
 * another member that is given the pointer finds them.
 */
#include <string.h>
#include <time.h>

#include "files.h"

#define TEXT	64			/* asctime() has 26, with a year of an int more */

struct results {
	struct tm tm;
	char text[TEXT];
	char *token;
};

static struct results *results(void)
{
	const struct omp_window *w = mios_omp_place.window;

	return w ? (struct results *)w->results : NULL;
}

void results_create(struct omp_window *w)
{
	struct results *r = mios_omp_zalloc(sizeof(*r));

	if (!r)
		omp_die("no memory left in the window for what libc keeps");
	w->results = (uint64_t)r;
}

/* It looks for a new time zone first, which localtime_r() need not. */
struct tm *localtime(const time_t *t)
{
	struct results *r = results();

	if (!r)
		return REAL(localtime)(t);
	REAL(tzset)();
	return localtime_r(t, &r->tm);
}

struct tm *gmtime(const time_t *t)
{
	struct results *r = results();

	return r ? gmtime_r(t, &r->tm) : REAL(gmtime)(t);
}

char *asctime(const struct tm *tm)
{
	struct results *r = results();

	return r ? asctime_r(tm, r->text) : REAL(asctime)(tm);
}

char *ctime(const time_t *t)
{
	struct tm *tm = localtime(t);

	return tm ? asctime(tm) : NULL;
}

char *strtok(char *s, const char *separators)
{
	struct results *r = results();

	return r ? strtok_r(s, separators, &r->token) : REAL(strtok)(s, separators);
}
