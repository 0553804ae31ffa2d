// SPDX-License-Identifier: GPL-2.0
/*
 * Notices that an instance which a session runs on has died: sooner than
 * TCP does, and with a reason that a person can read.
 */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "client.h"

void watch_open(struct mios_watch *w, int instance)
{
	struct mios_instance inst;

	w->instance = instance;
	w->fd = mios_sysfs_open(instance, "state");
	w->incarnation = 0;
	if (!mios_instance_read(instance, &inst))
		w->incarnation = inst.incarnation;
}

/* NULL while it lives; poll w->fd for POLLPRI, and ask now and then. */
const char *watch_lost(struct mios_watch *w)
{
	struct mios_instance inst;
	char buf[32];

	if (w->fd < 0 || w->instance == mios_self())
		return NULL;
	if (pread(w->fd, buf, sizeof(buf), 0) < 0 ||
	    mios_instance_read(w->instance, &inst))
		return "has gone";
	if (inst.incarnation != w->incarnation)
		return "has been booted again";
	if (mios_instance_runs(&inst))
		return NULL;
	return inst.state == MIOS_STATE_DOWN ? "is down" : "has died";
}
