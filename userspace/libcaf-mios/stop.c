// SPDX-License-Identifier: GPL-2.0
/* STOP, the end of this image, and ERROR STOP, that of all. */
#include <stdio.h>
#include <stdlib.h>

#include "caf.h"

/* libgfortran's: which floating-point exceptions there were. */
void _gfortran_report_exception(void) __attribute__((weak));

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
