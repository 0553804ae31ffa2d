// SPDX-License-Identifier: GPL-2.0
/*
 * How errors are told: by stat= and errmsg= if the program has them, otherwise
 * by one line, of the first image that has one, and the end of all.  STOP and
 * ERROR STOP are here, too.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "caf.h"

/* libgfortran's: which floating-point exceptions there were. */
void _gfortran_report_exception(void) __attribute__((weak));

void caf_ok(const struct caf_report *report)
{
	if (report->stat)
		*report->stat = 0;
}

void caf_error(const struct caf_report *report, int stat, const char *fmt, ...)
{
	char text[256], line[320];
	size_t len;
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	if (!report->stat) {
		snprintf(line, sizeof(line), "Fortran runtime error on image "
			 "%u: %s\n", caf_self.number + 1, text);
		if (!image_end(EXIT_FAILURE, line))
			image_leave();
		exit(EXIT_FAILURE);
	}
	*report->stat = stat;
	len = strlen(text);
	if (!report->text)
		return;
	if (len > report->len)
		len = report->len;
	memcpy(report->text, text, len);
	memset(report->text + len, ' ', report->len - len);
}

static void say_exceptions(bool quiet)
{
	if (!quiet && _gfortran_report_exception)
		_gfortran_report_exception();
}

void _gfortran_caf_stop_numeric(int code, bool quiet)
{
	say_exceptions(quiet);
	if (!quiet)
		fprintf(stderr, "STOP %d\n", code);
	_gfortran_caf_finalize();
	exit(code);
}

void _gfortran_caf_stop_str(const char *text, size_t len, bool quiet)
{
	say_exceptions(quiet);
	if (!quiet && len)
		fprintf(stderr, "STOP %.*s\n", (int)len, text);
	_gfortran_caf_finalize();
	exit(0);
}

void _gfortran_caf_error_stop(int code, bool quiet)
{
	say_exceptions(quiet);
	if (!quiet)
		fprintf(stderr, "ERROR STOP %d\n", code);
	image_end(code, "");
	exit(code);
}

void _gfortran_caf_error_stop_str(const char *text, size_t len, bool quiet)
{
	say_exceptions(quiet);
	if (!quiet)
		fprintf(stderr, "ERROR STOP %.*s\n", (int)len, text);
	image_end(EXIT_FAILURE, "");
	exit(EXIT_FAILURE);
}
