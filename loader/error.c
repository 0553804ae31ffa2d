// SPDX-License-Identifier: GPL-2.0
/*
 * The one line that says why an image or a boot was refused.  Filled by every
 * part of libloader, printed by its caller.
 */
#include <stdarg.h>
#include <stdio.h>

#include "loader.h"

/* Returns @code, so that a check can end with "return loader_fail(...)". */
int loader_fail(struct loader_error *err, int code, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(err->text, sizeof(err->text), fmt, args);
	va_end(args);
	return code;
}
