// SPDX-License-Identifier: GPL-2.0
/*
 * Module parameters that are one of some words, such as hang_policy: read
 * and written by name.  hang.c and dump.c declare theirs.
 */
#include <linux/string.h>
#include <linux/sysfs.h>

#include "end.h"

static int choice_set(const char *text, const struct kernel_param *kp)
{
	struct mios_choice *choice = kp->arg;
	int value = __sysfs_match_string(choice->names, choice->count, text);

	if (value < 0)
		return value;
	WRITE_ONCE(choice->value, value);
	return 0;
}

static int choice_get(char *text, const struct kernel_param *kp)
{
	return sysfs_emit(text, "%s\n", mios_choice_name(kp->arg));
}

const struct kernel_param_ops mios_choice_ops = {
	.set = choice_set,
	.get = choice_get,
};
