// SPDX-License-Identifier: GPL-2.0
/*
 * States of all instances, as the host knows them: it keeps the original and
 * writes a copy into its block of every ring; the others read that copy.  The
 * host is instance 0, then who has taken its place (role.c) and what it had
 * written.  Called by host.c, member.c and role.c under link_lock.
 */
#include <linux/bits.h>
#include <linux/string.h>

#include "../../inject/inject.h"
#include "ring.h"

MIOS_INJECT_TIMES(accept_old, "believe any incarnation of a member");

static struct mios_view views[MIOS_AREA_INSTANCES];

static u64 stamp_of(u32 incarnation, u32 state)
{
	return (u64)incarnation << 32 | state;
}

static void view_write(struct mios_ring *ring, u32 instance)
{
	struct mios_view *to = &ring->lines->view[instance];
	const struct mios_view *from = &views[instance];

	WRITE_ONCE(to->memory, from->memory);
	WRITE_ONCE(to->ring, from->ring);
	WRITE_ONCE(to->node, from->node);
	WRITE_ONCE(to->nr_cpus, from->nr_cpus);
	WRITE_ONCE(to->reserved, 0);
	/* VIEW: pairs with the acquire in mios_view_get(). */
	smp_store_release(&to->stamp, from->stamp);
}

static struct mios_lines *host_lines(void)
{
	struct mios_ring *ring;
	u32 i;
	/* HOLDER: pairs with the release in role.c: what it has written. */
	u32 holder = smp_load_acquire(&mios_link.holder);

	for_each_mios_ring(ring, i)
		return mios_area_lines(ring->area, &ring->g, holder);
	return NULL;
}

/* Whatever stands there is a state that there is. */
static void view_read(const struct mios_view *from, struct mios_view *view)
{
	view->stamp = smp_load_acquire(&from->stamp); /* VIEW */
	view->memory = READ_ONCE(from->memory);
	view->ring = READ_ONCE(from->ring);
	view->node = READ_ONCE(from->node);
	view->nr_cpus = READ_ONCE(from->nr_cpus);
	if ((u32)view->stamp > MIOS_STATE_HELD)
		view->stamp = stamp_of(view->stamp >> 32, MIOS_STATE_DOWN);
	if ((u32)view->ring >= MIOS_MAX_RINGS)
		view->ring = -1;
	if (view->node >= MIOS_AREA_INSTANCES)
		view->node = 0;
}

void mios_view_get(u32 instance, struct mios_view *view)
{
	struct mios_lines *lines;

	memset(view, 0, sizeof(*view));
	view->ring = -1;
	if (instance >= MIOS_AREA_INSTANCES)
		return;
	/* HOLDER: pairs with the release in role.c. */
	if (smp_load_acquire(&mios_link.declares)) {
		*view = views[instance];
		return;
	}
	lines = host_lines();
	if (lines)
		view_read(&lines->view[instance], view);
}

/**
 * mios_view_inherit - write into the own block what the last host had
 * @ring: the one that this instance is in
 * @host: the last word that said who it was, 0: instance 0
 *
 * Under link_lock, by one who may become host and is not yet: nobody reads it.
 * The last host has ended and writes no more.
 *
 * Return: whether there was something.
 */
bool mios_view_inherit(struct mios_ring *ring, u64 host)
{
	u32 from = (u32)host < ring->g.nr ? (u32)host : 0, i;
	struct mios_lines *lines = mios_area_lines(ring->area, &ring->g, from);

	/* Garbage, or none: whom they were read from until now. */
	if (READ_ONCE(lines->view[from].stamp) >> 32 != host >> 32)
		lines = host_lines();
	for (i = 0; i < MIOS_AREA_INSTANCES; i++) {
		memset(&views[i], 0, sizeof(views[i]));
		view_read(&lines->view[i], &views[i]);
	}
	if ((u32)views[mios_link.self].stamp != MIOS_STATE_UP ||
	    views[mios_link.self].stamp >> 32 != mios_link.incarnation)
		return false;
	views[0].stamp = stamp_of(views[0].stamp >> 32, MIOS_STATE_DEAD);
	for (i = 0; i < MIOS_AREA_INSTANCES; i++)
		view_write(ring, i);
	return true;
}

void mios_view_set(u32 instance, const struct mios_view *view)
{
	struct mios_ring *ring;
	u32 i;

	views[instance] = *view;
	for_each_mios_ring(ring, i)
		view_write(ring, instance);
}

/* A new ring learns what the others know; an old one is put right. */
void mios_view_fill(struct mios_ring *ring)
{
	u32 i;

	for (i = 0; i < MIOS_AREA_INSTANCES; i++)
		if (memcmp(&ring->lines->view[i], &views[i], sizeof(views[i])))
			view_write(ring, i);
}

static bool is_member(u32 ring, u32 instance, u32 incarnation,
		      enum mios_state last)
{
	struct mios_view view;
	u32 state;

	if (mios_inject(accept_old))
		return true;
	mios_view_get(instance, &view);
	if (view.stamp >> 32 != incarnation)
		return false;
	state = (u32)view.stamp;
	/* The host of every ring, until its successor says that it has died. */
	if (instance == 0)
		return state != MIOS_STATE_DEAD;
	return view.ring == (s32)ring && state >= MIOS_STATE_BOOTING &&
	       state <= last;
}

/* May this incarnation become a member of this ring now? */
bool mios_view_admits(u32 ring, u32 instance, u32 incarnation)
{
	return is_member(ring, instance, incarnation, MIOS_STATE_STOPPING);
}

/*
 * May it stay one?  Also while it is being fenced: what it may still touch is
 * not taken from it.
 */
bool mios_view_keeps(u32 ring, u32 instance, u32 incarnation)
{
	return is_member(ring, instance, incarnation, MIOS_STATE_FENCING);
}

/*
 * The host: the present incarnation has come further; false: it had.  What
 * a member says of itself takes back nothing that has been decided about it.
 */
bool mios_view_advance(u32 instance, u32 incarnation, enum mios_state state)
{
	struct mios_view view = views[instance];

	if (view.stamp >> 32 != incarnation || (u32)view.stamp >= state)
		return false;
	view.stamp = stamp_of(incarnation, state);
	mios_view_set(instance, &view);
	return true;
}
