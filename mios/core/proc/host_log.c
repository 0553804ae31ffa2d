// SPDX-License-Identifier: GPL-2.0
/*
 * Reading the log of instance 0 on another instance: from the copy in the ring
 * area (link/host_log_copy.c), which outlives instance 0.  Set up and taken down by
 * mios/core/main.c, opened through /dev/mios.
 */
#include "../link/link.h"
#include "host_log.h"
#include "log.h"

static struct mios_log_source *source;

int mios_hostlog_follow(void)
{
	const struct mios_log *log;
	size_t size;

	if (!mios_link_self())
		return 0;
	log = mios_link_hostlog(&size);
	source = mios_log_create(log, size);
	return source ? 0 : -ENOMEM;
}

void mios_hostlog_forget(void)
{
	if (!source)
		return;
	/* The area goes; who still reads gets the end of a copy. */
	mios_log_retire(source);
	mios_log_drop(source);
	source = NULL;
}

struct file *mios_hostlog_open(u32 flags)
{
	return source ? mios_log_open(source, flags) : ERR_PTR(-ENODATA);
}
