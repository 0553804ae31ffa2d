// SPDX-License-Identifier: GPL-2.0
/*
 * flock(2) and fcntl(2) on files of miosfs: first the table that all instances
 * share (filelock.c), then this kernel's own record, by which it knows what to let
 * go of when a file is closed, and what to show in /proc/locks.  A lock of the inode
 * makes one change of both: else of two threads, one of which sets while the other
 * one lets go, a lock could stay that no end of a process finds.
 *
 * Who waits sleeps until somebody tells that it may be his turn, and looks by
 * himself twice a second; where many wait more rarely, as each look takes the lock
 * of the image from all.
 */
#include <linux/atomic.h>
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/delay.h>
#include <linux/filelock.h>
#include <linux/random.h>
#include <linux/siphash.h>
#include <linux/slab.h>
#include <linux/wait.h>

#include "../../inject/inject.h"
#include "../../core/link/link.h"

#include "vfs.h"

MIOS_INJECT_SWITCH(local_locks, "locks of files keep out programs of this instance alone");
MIOS_INJECT_VALUE(between, "milliseconds until this kernel's record of a lock follows the table");

/* How long a turn that was told in vain is not missed, by so many that wait. */
#define TURN_SLEEP	msecs_to_jiffies(500)
#define TURN_LOOKERS	4
#define TURNS_MAX	10		/* times as long at the most */

static DECLARE_WAIT_QUEUE_HEAD(waiters);
static atomic_t turns;		/* how often somebody may have got one */
static atomic_t nr_waiting;	/* in this kernel */
static siphash_key_t secret;	/* others need not know where things lie here */

enum step { DROP, FORGO, TRIM };

/**
 * struct late - a step in the table that could not be done in time
 * @entry:	in ->late_locks
 * @step:	which
 * @wish:	of what
 */
struct late {
	struct list_head entry;
	enum step step;
	struct mios_fs_lock_wish wish;
};

/**
 * mios_filelocks_turn() - whoever waits here is to look again; any context
 */
void mios_filelocks_turn(void)
{
	atomic_inc(&turns);
	wake_up_all(&waiters);
}

static void turn_read(void *ctx, u32 instance, u32 incarnation,
		      const void *data, u32 length)
{
	mios_filelocks_turn();
}

static const struct mios_handler turn_handler = { .fn = turn_read };

static void tell(u64 instances)
{
	u32 i;

	for (i = 0; instances && i < MIOS_FS_INSTANCES; i++) {
		if (!(instances & BIT_ULL(i)))
			continue;
		if (i == mios_link_self())
			mios_filelocks_turn();
		else
			mios_send(i, MIOS_MSG_FILE_LOCK_TURN, NULL, 0);
	}
}

/* The end of an open file description says of itself whose locks it means. */
static u32 kind_of(const struct file_lock *fl)
{
	if (fl->c.flc_flags & FL_FLOCK)
		return MIOS_FS_FILELOCK_FLOCK;
	return fl->c.flc_owner == fl->c.flc_file ? MIOS_FS_FILELOCK_OFD :
						   MIOS_FS_FILELOCK_POSIX;
}

static struct mios_fs_lock_wish wish_make(struct inode *inode,
					  const struct file_lock *fl)
{
	bool whole = fl->c.flc_flags & FL_FLOCK;

	return (struct mios_fs_lock_wish) {
		.inode = number_of(inode), .id = inode->i_ino,
		.kind = kind_of(fl),
		.exclusive = fl->c.flc_type == F_WRLCK,
		.owner = siphash_1u64((unsigned long)fl->c.flc_owner, &secret),
		.first = whole ? 0 : fl->fl_start,
		.last = whole || fl->fl_end == OFFSET_MAX ? ~0ULL : fl->fl_end,
		.pid = fl->c.flc_pid,
		.uid = from_kuid(&init_user_ns, current_uid()),
		.limited = !ns_capable_noaudit(&init_user_ns, CAP_SYS_RESOURCE),
	};
}

static int step_once(struct mios_mount *m, struct mios_fs_lock_wish *wish,
		     enum step step)
{
	switch (step) {
	case DROP:
		return MIOS_STUBBORNLY(m, mios_fs_lock_drop(&m->fs, wish));
	case FORGO:
		return MIOS_STUBBORNLY(m, mios_fs_lock_forgo(&m->fs, wish));
	case TRIM:
		break;
	}
	return MIOS_STUBBORNLY(m, mios_fs_lock_trim(&m->fs, wish));
}

/* Once, however many pieces that takes; -EBUSY: late. */
static int step_try(struct mios_mount *m, struct mios_fs_lock_wish *wish,
		    enum step step)
{
	u64 told = 0;
	int err;

	do {
		err = step_once(m, wish, step);
		told |= wish->tell;
	} while (err == MIOS_FS_LOCK_MORE);
	tell(told);
	return err;
}

/* If not now, the mender does it; -ENOLCK: it would need a lock more. */
static int step_do(struct mios_mount *m, struct mios_fs_lock_wish *wish,
		   enum step step)
{
	struct late *late;
	int err = step_try(m, wish, step);

	if (err != -EBUSY)
		return err;
	late = kmalloc(sizeof(*late), GFP_KERNEL | __GFP_NOFAIL);
	*late = (struct late) { .wish = *wish, .step = step };
	spin_lock(&m->late_lock);
	list_add_tail(&late->entry, &m->late_locks);
	spin_unlock(&m->late_lock);
	mios_mend_soon(m);
	return 0;
}

static struct late *late_next(struct mios_mount *m)
{
	struct late *late;

	spin_lock(&m->late_lock);
	late = list_first_entry_or_null(&m->late_locks, struct late, entry);
	if (late)
		list_del(&late->entry);
	spin_unlock(&m->late_lock);
	return late;
}

/**
 * mios_filelocks_mend() - do what was late; all of it?
 * @m: the mount; its worker calls
 */
bool mios_filelocks_mend(struct mios_mount *m)
{
	struct late *late;

	while ((late = late_next(m))) {
		if (step_try(m, &late->wish, late->step) == -EBUSY) {
			spin_lock(&m->late_lock);
			list_add(&late->entry, &m->late_locks);
			spin_unlock(&m->late_lock);
			return false;
		}
		kfree(late);
	}
	return true;
}

/*
 * This kernel's record becomes as the table is.  With ->locking both are changed as
 * one: so nobody is in the way here.
 */
static int record(struct inode *inode, struct file_lock *fl, unsigned char type)
{
	unsigned char wished = fl->c.flc_type;
	int err;

	fl->c.flc_type = type;
	err = locks_lock_inode_wait(inode, fl);
	fl->c.flc_type = wished;
	return err;
}

/* It is in the table; without memory for a record it is given back. */
static int record_new(struct inode *inode, struct file_lock *fl)
{
	struct mios_fs_lock_wish asked = wish_make(inode, fl);
	int err = record(inode, fl, fl->c.flc_type);

	if (err) {
		step_do(mount_of(inode), &asked, DROP);
		record(inode, fl, F_UNLCK);
	}
	return err;
}

/* A look whether it can be had.  As mios_fs_lock_take(). */
static int take_once(struct inode *inode, struct file_lock *fl,
		     struct mios_fs_lock_wish *wish, bool wait)
{
	struct mios_mount *m = mount_of(inode);
	bool again = wish->ticket;
	int err, failed = 0;

	mutex_lock(&mios_inode_of(inode)->locking);
	err = MIOS_PATIENTLY(m, mios_fs_lock_take(&m->fs, wish, wait));
	if (!err || err == MIOS_FS_LOCK_MORE)
		failed = record_new(inode, fl);
	else if (fl->c.flc_flags & FL_FLOCK && !again &&
		 (err == MIOS_FS_LOCK_WAITS || err == -EAGAIN))
		/* flock() has let go of what it had. */
		record(inode, fl, F_UNLCK);
	mutex_unlock(&mios_inode_of(inode)->locking);
	if (!again || err != MIOS_FS_LOCK_WAITS)
		tell(wish->tell);
	if (err == MIOS_FS_LOCK_MORE)
		step_do(m, wish, TRIM);
	return failed ?: err;
}

/* Negative: a signal has come.  @late: nobody tells who has not had a look. */
static long sleep_after(int seen, bool late)
{
	long times = late ? 1 : 1 + atomic_read(&nr_waiting) / TURN_LOOKERS;

	return wait_event_interruptible_timeout(waiters,
						atomic_read(&turns) != seen,
						TURN_SLEEP * min(times, TURNS_MAX));
}

/* In the queue; until it is had, or a signal comes. */
static int wait_for_turn(struct inode *inode, struct file_lock *fl,
			 struct mios_fs_lock_wish *wish)
{
	const u64 ticket = wish->ticket;
	int seen, err;
	long left;

	atomic_inc(&nr_waiting);
	do {
		seen = atomic_read(&turns);
		err = take_once(inode, fl, wish, true);
		if (err != MIOS_FS_LOCK_WAITS && err != -EBUSY)
			break;
		left = sleep_after(seen, err == -EBUSY);
		if (left < 0)
			err = left;
	} while (err == MIOS_FS_LOCK_WAITS || err == -EBUSY);
	atomic_dec(&nr_waiting);
	/* Unless it has been had, and given back. */
	if (err < 0 && wish->ticket == ticket)
		step_do(mount_of(inode), wish, FORGO);
	return err;
}

static int set(struct inode *inode, struct file_lock *fl, bool wait)
{
	struct mios_fs_lock_wish wish = wish_make(inode, fl);
	int err = take_once(inode, fl, &wish, wait);

	if (err == MIOS_FS_LOCK_WAITS)
		err = wait_for_turn(inode, fl, &wish);
	return err < 0 ? err : 0;
}

/* Its end is nobody's to stop: who closes a file may have been killed. */
static int unset(struct inode *inode, struct file_lock *fl)
{
	struct mios_fs_lock_wish wish = wish_make(inode, fl);
	int err;

	mutex_lock(&mios_inode_of(inode)->locking);
	err = step_do(mount_of(inode), &wish, DROP);
	if (inject_between)
		msleep(inject_between);
	if (!err)
		err = record(inode, fl, F_UNLCK);
	mutex_unlock(&mios_inode_of(inode)->locking);
	return err;
}

static int test(struct inode *inode, struct file_lock *fl)
{
	struct mios_mount *m = mount_of(inode);
	const struct mios_fs_lock_wish wish = wish_make(inode, fl);
	struct mios_fs_lock_wish other;
	int found = MIOS_PATIENTLY(m, mios_fs_lock_test(&m->fs, &wish, &other));

	if (found < 0)
		return found;
	if (!found) {
		fl->c.flc_type = F_UNLCK;
		return 0;
	}
	fl->c.flc_type = other.exclusive ? F_WRLCK : F_RDLCK;
	fl->fl_start = other.first;
	fl->fl_end = other.last == ~0ULL ? OFFSET_MAX : other.last;
	fl->c.flc_pid = other.pid;
	/* Else fs/locks.c says -1, as of one that belongs to no process. */
	fl->c.flc_flags &= ~FL_OFDLCK;
	if (other.kind == MIOS_FS_FILELOCK_OFD)
		fl->c.flc_flags |= FL_OFDLCK;
	return 0;
}

/**
 * mios_file_lock() - fcntl() of a lock, or the end of a file or a process
 * @file: of miosfs
 * @cmd: F_GETLK, F_SETLK or F_SETLKW
 * @fl: which; F_GETLK: out, what is in its way
 */
int mios_file_lock(struct file *file, int cmd, struct file_lock *fl)
{
	struct inode *inode = file_inode(file);

	if (inject_local_locks)
		return cmd == F_GETLK ? (posix_test_lock(file, fl), 0) :
		       locks_lock_inode_wait(inode, fl);
	if (cmd == F_GETLK)
		return test(inode, fl);
	if (fl->c.flc_type == F_UNLCK)
		return unset(inode, fl);
	return set(inode, fl, IS_SETLKW(cmd));
}

/**
 * mios_file_flock() - flock(), or the end of a file
 * @file: of miosfs
 * @cmd: F_SETLK or F_SETLKW
 * @fl: which
 */
int mios_file_flock(struct file *file, int cmd, struct file_lock *fl)
{
	return mios_file_lock(file, cmd, fl);
}

void mios_filelocks_begin(struct mios_mount *m)
{
	spin_lock_init(&m->late_lock);
	INIT_LIST_HEAD(&m->late_locks);
}

/* Its worker has ended: what is left goes with this boot. */
void mios_filelocks_end(struct mios_mount *m)
{
	struct late *late;

	while ((late = late_next(m)))
		kfree(late);
}

int mios_filelocks_init(void)
{
	get_random_bytes(&secret, sizeof(secret));
	return mios_handler_register(MIOS_MSG_FILE_LOCK_TURN, &turn_handler);
}

void mios_filelocks_exit(void)
{
	mios_handler_unregister(MIOS_MSG_FILE_LOCK_TURN);
}
