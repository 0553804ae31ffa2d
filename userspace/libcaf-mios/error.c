// SPDX-License-Identifier: GPL-2.0
/*
 * How errors are told: by stat= and errmsg= if the program has them, otherwise
 * by one line, of the first image that has one, and the end of all.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "caf.h"

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
