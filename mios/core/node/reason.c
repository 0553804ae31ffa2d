// SPDX-License-Identifier: GPL-2.0
/*
 * The line that a person sees after a call that has failed.
 */
#include <linux/kernel.h>

#include "node.h"

/**
 * mios_reason_set - say why a call fails
 * @why: where
 * @fmt: one line, without a newline
 */
void mios_reason_set(struct mios_reason *why, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vscnprintf(why->text, sizeof(why->text), fmt, args);
	va_end(args);
}
