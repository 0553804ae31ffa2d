// SPDX-License-Identifier: GPL-2.0
/*
 * miosd's view of the ring: who is up, read again whenever sysfs says that a
 * state has changed and every few seconds.  Main process only.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "miosd.h"

static void watch(struct ring_view *v, int id)
{
	struct pollfd *p = &v->watched[v->nr_watched];

	p->fd = mios_sysfs_open(id, "state");
	p->events = POLLPRI;
	if (p->fd >= 0)
		v->nr_watched++;
}

/* Their files have gone with the module. */
static void watch_none(struct ring_view *v)
{
	while (v->nr_watched)
		close(v->watched[--v->nr_watched].fd);
}

/* sysfs notes that a change has been seen when the file is read. */
static void acknowledge(struct ring_view *v)
{
	char buf[32];
	unsigned int i;

	for (i = 0; i < v->nr_watched; i++)
		if (pread(v->watched[i].fd, buf, sizeof(buf), 0) < 0 &&
		    v->watched[i].fd >= 0) {
			close(v->watched[i].fd);
			v->watched[i].fd = -1;
		}
}

void ring_refresh(struct ring_view *v)
{
	int i;

	acknowledge(v);
	v->self = mios_self();
	if (v->self < 0)
		watch_none(v);
	v->ring = -1;
	v->nr_instances = mios_instances_read(v->instances,
					      MIOS_MAX_INSTANCES);
	if (v->nr_instances < 0)
		v->nr_instances = 0;
	for (i = 0; i < v->nr_instances; i++)
		if (v->instances[i].id == v->self)
			v->ring = v->instances[i].ring;
	if (v->nr_watched)
		return;
	for (i = 0; i < v->nr_instances; i++)
		watch(v, v->instances[i].id);
}

/* Has instance 0, whose root this instance runs on, died? */
bool ring_host_died(const struct ring_view *v)
{
	return v->self > 0 && v->nr_instances && !v->instances[0].id &&
	       v->instances[0].state == MIOS_STATE_DEAD;
}

/* Is that boot of it still up and on our ring? */
bool ring_has(const struct ring_view *v, int id, unsigned int incarnation)
{
	const struct mios_instance *inst;
	int i;

	for (i = 0; i < v->nr_instances; i++) {
		inst = &v->instances[i];
		if (inst->id == id)
			return id == v->self ||
			       (mios_instance_runs(inst) &&
				inst->incarnation == incarnation &&
				(!id || !v->self || inst->ring == v->ring));
	}
	return id == v->self;
}
