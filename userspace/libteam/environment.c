// SPDX-License-Identifier: GPL-2.0
/*
 * What libc keeps for a program and each process has by itself: environment,
 * locale, time zone.  What one member sets, all have when the call returns.
 */
#include <errno.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "files.h"

#define TEXT(AT, TEXT)	{ AT, GIVE, text_size(TEXT) }

static long done(int result)
{
	return result ? -errno : 0;
}

static long do_setenv(const long *a)
{
	return done(REAL(setenv)((const char *)a[0], (const char *)a[1], a[2]));
}

int setenv(const char *name, const char *value, int anew)
{
	return ask_all("setenv", do_setenv, (struct asked){
			.args = { (long)name, (long)value, anew },
			.pieces = { TEXT(0, name), TEXT(1, value) } });
}

static long do_unsetenv(const long *a)
{
	return done(REAL(unsetenv)((const char *)a[0]));
}

int unsetenv(const char *name)
{
	return ask_all("unsetenv", do_unsetenv, (struct asked){
			.args = { (long)name }, .pieces = { TEXT(0, name) } });
}

static long do_putenv(const long *a)
{
	return done(REAL(putenv)((char *)a[0]));
}

/* It is the text itself that counts, as long as all can see it. */
int putenv(char *text)
{
	char *all = text, *copy;

	if (files_places() > 1 && !data_shared(text)) {
		copy = mios_omp_alloc(strlen(text) + 1);
		if (copy)
			all = strcpy(copy, text);
	}
	return ask_all("putenv", do_putenv,
		       (struct asked){ .args = { (long)all } });
}

static long do_clearenv(const long *a)
{
	return REAL(clearenv)() ? -ENOMEM : 0;
}

int clearenv(void)
{
	return ask_all("clearenv", do_clearenv, (struct asked){ 0 });
}

static long do_setlocale(const long *a)
{
	return REAL(setlocale)(a[0], (const char *)a[1]) ? 0 : -ENOENT;
}

/* Of the program's own process: what is returned is that one's. */
char *setlocale(int category, const char *locale)
{
	struct asked asked = { .args = { category, (long)locale } };

	if (locale)
		asked.pieces[0] = (struct piece)TEXT(1, locale);
	if (locale && ask_all("setlocale", do_setlocale, asked))
		return NULL;
	return REAL(setlocale)(category, NULL);
}

static long do_tzset(const long *a)
{
	REAL(tzset)();
	return 0;
}

void tzset(void)
{
	ask_all("tzset", do_tzset, (struct asked){ 0 });
}
