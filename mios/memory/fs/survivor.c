// SPDX-License-Identifier: GPL-2.0
/*
 * The death of an instance that had a miosfs mounted: the link tells of it once
 * it is fenced, and waits for us before its node is used again.  Every survivor
 * that has the pool mounted recovers it; the lock of the image keeps them
 * apart, and what one has done the next finds done.
 */
#include <linux/errno.h>
#include <linux/fs_context.h>
#include <linux/minmax.h>
#include <linux/mutex.h>
#include <linux/notifier.h>

#include "../../inject/inject.h"
#include "../../core/link/link.h"

#include "vfs.h"

MIOS_INJECT_SWITCH(deaf, "do not hear of a death");

/* Another survivor's change or piece of recovery is over by then, or it is dead, too. */
#define RECOVER_MS	2000
/* The mender comes again, and a death that is told waits for it. */
#define MEND_MS		100

static LIST_HEAD(mounts);
static DEFINE_MUTEX(mounts_lock);	/* of mounts, and of ->over of each */

/* No more than fits: with a higher number nobody has mounted it. */
static u32 epoch_of(u32 incarnation)
{
	return min_t(u32, incarnation, MIOS_EPOCH_MAX);
}

/* Of its own earlier ones a boot recovers all, while it has nothing open yet. */
static bool has_later(u32 instance, u32 epoch)
{
	struct mios_info info;

	return instance != mios_link_self() &&
	       !mios_link_info(instance, &info) &&
	       epoch_of(info.incarnation) > epoch;
}

static int recover_one(struct mios_mount *m, u32 instance, unsigned int ms)
{
	struct mios_fs_recovery r = {
		.pool = { .instance = instance, .epoch = m->over[instance] },
	};
	int err;

	do {
		mios_image_lock_wait(&m->recovery, ms);
		err = mios_fs_recover(&m->fs, &r);
		cond_resched();
	} while (err > 0);
	if (err && r.reap)
		mios_mend_reaped(m, r.reap);
	return err;
}

/* Its devices may write what it had; that it has locks is over all the same. */
static int recover_locks(struct mios_mount *m, u32 instance, unsigned int ms)
{
	int err;

	do {
		mios_image_lock_wait(&m->recovery, ms);
		err = mios_fs_recover_locks(&m->fs, instance,
					    m->over[instance]);
		cond_resched();
	} while (err > 0);
	return err;
}

/* First all of them leave the queue: one may keep another waiting there. */
static int recover(struct mios_mount *m, unsigned int ms)
{
	int err = 0;
	u32 i;

	for (i = 0; i < MIOS_FS_INSTANCES; i++)
		if (m->over[i])
			mios_fs_dequeue(&m->fs, i, m->over[i]);
	for (i = 0; i < MIOS_FS_INSTANCES; i++) {
		if (!m->over[i])
			continue;
		if (!mios_devices_quiet(i))
			err = recover_locks(m, i, ms) ?: err;
		else if (recover_one(m, i, ms))
			err = -EBUSY;
		else
			m->over[i] = 0;
	}
	/* Locks of files that they had are free. */
	mios_filelocks_turn();
	m->unrecovered = err;
	return err;
}

/**
 * mios_deaths_mend() - recover whoever could not be when his death was told
 * @m: the mount; its worker calls
 *
 * Return: false: the lock is taken still.
 */
bool mios_deaths_mend(struct mios_mount *m)
{
	bool late, all;

	mutex_lock(&mounts_lock);
	late = m->unrecovered;
	all = !late || !recover(m, MEND_MS);
	mutex_unlock(&mounts_lock);
	if (late && all)
		pr_info("miosfs: what dead instances had is free now\n");
	return all;
}

static void bury(struct mios_mount *m, const struct mios_change *change)
{
	m->over[change->instance] = epoch_of(change->incarnation);
	if (recover(m, RECOVER_MS))
		pr_warn("miosfs: what instance %u had is kept until somebody lets go of the lock\n",
			change->instance);
	else if (mios_devices_quiet(change->instance))
		pr_info("miosfs: instance %u is dead, and what it had is free\n",
			change->instance);
	else
		pr_warn("miosfs: instance %u is dead, and what it had is kept: its devices may write to it\n",
			change->instance);
	/* What it was removing. */
	mios_mend_soon(m);
}

static int event(struct notifier_block *nb, unsigned long what, void *data)
{
	const struct mios_change *change = data;
	struct mios_mount *m;

	if ((what != MIOS_EVENT_FENCED && what != MIOS_EVENT_DEAD) ||
	    change->instance >= MIOS_FS_INSTANCES || inject_deaf)
		return NOTIFY_DONE;
	mutex_lock(&mounts_lock);
	list_for_each_entry(m, &mounts, entry) {
		if (what == MIOS_EVENT_DEAD)
			bury(m, change);
		else
			/* A call of it that is served may wait for its lock. */
			mios_fs_dequeue(&m->fs, change->instance,
					epoch_of(change->incarnation));
	}
	mutex_unlock(&mounts_lock);
	return NOTIFY_DONE;
}

static struct notifier_block event_nb = { .notifier_call = event };

/* Which boots of an instance are over for certain: all up to this one. */
static u32 over_of(u32 instance)
{
	struct mios_info info;

	if (mios_link_info(instance, &info) || !info.incarnation)
		return 0;
	if (instance != mios_link_self() &&
	    (info.state == MIOS_STATE_DOWN || info.state == MIOS_STATE_DEAD ||
	     info.state == MIOS_STATE_HELD))
		return epoch_of(info.incarnation);
	return epoch_of(info.incarnation - 1);
}

/**
 * mios_death_watch() - recover whoever has died, and whoever dies from now on
 * @m: attached; nothing of it is open yet
 *
 * Some may have died while nobody had it mounted.  -EBUSY: the lock is taken.
 */
int mios_death_watch(struct mios_mount *m)
{
	u32 i, nr = min_t(u32, mios_link_nr(), MIOS_FS_INSTANCES);
	int err;

	m->fs.later = has_later;
	mutex_lock(&mounts_lock);
	for (i = 0; i < nr; i++)
		m->over[i] = over_of(i);
	err = recover(m, RECOVER_MS);
	if (!err)
		list_add(&m->entry, &mounts);
	mutex_unlock(&mounts_lock);
	return err;
}

/**
 * mios_death_ignore() - undo it, also where it has failed
 * @m: the mount
 */
void mios_death_ignore(struct mios_mount *m)
{
	mutex_lock(&mounts_lock);
	list_del_init(&m->entry);
	mutex_unlock(&mounts_lock);
}

int mios_death_init(void)
{
	return mios_link_register(&event_nb);
}

void mios_death_exit(void)
{
	mios_link_unregister(&event_nb);
}
