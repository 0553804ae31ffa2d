// SPDX-License-Identifier: GPL-2.0
/*
 * When instance 0 has panicked its CPUs stand still and its devices do not: a
 * disk finishes what it was asked to read, also into pages of files.  Nothing
 * that instance 0 had open or held is used again before a survivor has turned
 * bus mastering off in all PCI functions, and has read that back.
 *
 * QUIET: one survivor does it, as two would mix up the two steps that an access
 * to configuration space takes.  A word in instance 0's block says who, and what
 * came out of it.  Another one goes on where he has died, and finds done what he
 * has done.  Who has waited in vain counts them as never quiet: to keep what
 * instance 0 held is always right.
 *
 * The rings but 0 share no memory but the area, which nobody uses again: who is
 * in one of them does not ask.  An instance but 0 has no devices but those that
 * it was given (mios/devices/): they stay as they are (held.c), and are part of
 * its fence, so when it is dead nothing of it writes.
 */
#define pr_fmt(fmt) "mios: " fmt

#include <linux/delay.h>
#include <linux/export.h>
#include <linux/kexec.h>
#include <linux/pci.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "../../arch/x86/conf1.h"
#include "../../inject/inject.h"
#include "../pci/walk.h"
#include "quiet.h"
#include "ring.h"

MIOS_INJECT_SWITCH(no_quiet, "call the devices of a dead instance 0 quiet unseen");
MIOS_INJECT_SWITCH(stuck_device, "a device of a dead instance 0 is not to be turned off");

MIOS_INJECT_SWITCH(believe_none, "believe a dead instance that it had no device");
MIOS_INJECT_SWITCH(die_quiet, "who is the first to make them quiet dies in it");
MIOS_INJECT_SWITCH(leave_quiet, "do not go on where another one has died");

/* For a verdict; the walk takes less than a second. */
#define QUIET_MS	60000

/* On a survivor: what is known of instance 0's devices; under link_lock. */
static enum mios_quiet_phase known;
static unsigned long asked_since;	/* jiffies, 0: not yet */

/* --- a survivor */

static u64 quiet_word(enum mios_quiet_phase phase)
{
	struct mios_view view;

	mios_view_get(0, &view);
	return view.stamp >> 32 << 32 | mios_link.self << 8 | phase;
}

/* What stands there of this boot of instance 0; of another one: nothing. */
static enum mios_quiet_phase quiet_phase(u64 word)
{
	if (word >> 32 != quiet_word(MIOS_QUIET_NOBODY) >> 32)
		return MIOS_QUIET_NOBODY;
	return word & 0xff;
}

static struct mios_devices *devices(struct mios_ring *ring)
{
	return &ring->peers[0].lines->devices;
}

/* Is he at it still?  His own end is a member's word for it. */
static bool is_at_work(struct mios_ring *ring, u64 word)
{
	struct mios_peer *peer = mios_peer_from(ring, word >> 8 & 0xff);

	return quiet_phase(word) == MIOS_QUIET_AT_WORK && peer &&
	       peer->instance == (word >> 8 & 0xff) &&
	       READ_ONCE(peer->state) != MIOS_PEER_ABSENT;
}

/**
 * mios_quiet_wait - are the devices of the dead instance 0 still to be asked?
 * @ring: the one that this instance is in
 *
 * Under link_lock; false: mios_devices_quiet() has the answer, for good.
 */
bool mios_quiet_wait(struct mios_ring *ring)
{
	enum mios_quiet_phase phase;

	if (ring->id)
		known = MIOS_QUIET_NEVER;
	if (known)
		return false;
	/* QUIET: pairs with the exchange in mios_quiet_try(). */
	phase = quiet_phase(smp_load_acquire(&devices(ring)->quiet));
	if (phase == MIOS_QUIET_DONE || phase == MIOS_QUIET_NEVER)
		WRITE_ONCE(known, phase);
	if (known)
		return false;
	asked_since = asked_since ?: jiffies | 1;
	if (time_before(jiffies, asked_since + msecs_to_jiffies(QUIET_MS)))
		return true;
	pr_warn("nobody says that the devices of instance 0 are quiet: nothing that it held is used again\n");
	WRITE_ONCE(known, MIOS_QUIET_NEVER);
	return false;
}

bool mios_devices_quiet(u32 instance)
{
	return instance || READ_ONCE(known) == MIOS_QUIET_DONE;
}
EXPORT_SYMBOL_NS_GPL(mios_devices_quiet, MIOS);

bool mios_devices_never_quiet(u32 instance)
{
	return !instance && READ_ONCE(known) == MIOS_QUIET_NEVER;
}
EXPORT_SYMBOL_NS_GPL(mios_devices_never_quiet, MIOS);

static void walk_pause(void *ctx, bool waits)
{
	const bool *first = ctx;

	if (inject_die_quiet && *first)
		panic("asked for, in the middle of making devices quiet");
	if (waits)
		usleep_range(1000, 1100);
	else
		cond_resched();
}

static void walk_tell(const struct mios_pci_walk *walk, u32 instance,
		      bool quiet)
{
	if (quiet)
		pr_info("the devices of instance %u are quiet: of %u PCI functions %u had bus mastering on, now read back as off; %u bridges have it always, %u virtio devices are reset, %u functions and bridges are of those who live\n",
			instance, walk->seen, walk->off, walk->fixed,
			walk->reset, walk->left);
	else
		pr_warn("the devices of instance %u may still write to memory: of %u PCI functions %u keep bus mastering on, %u are gone, %u do not come to an end, the first is %02x:%02x.%u; nothing that instance %u held is used again\n",
			instance, walk->seen, walk->stuck, walk->gone,
			walk->busy, walk->which >> 8, walk->which >> 3 & 31,
			walk->which & 7, instance);
}

/**
 * struct still_on - what a walk could not turn off
 * @looked:	it has come to its end, and
 * @stuck:	how many functions kept their bit, all others being quiet
 * @which:	the first
 */
struct still_on {
	bool looked;
	u32 stuck;
	u32 which;
};

/* One at a time here; @first: nobody has begun it before. */
static bool make_quiet(struct mios_ring *ring, u32 instance, u32 reach,
		       bool first, struct still_on *still)
{
	u32 spared[MIOS_HELD_ALL];
	const struct mios_pci_access access = {
		.read = mios_conf1_read,
		.write = mios_conf1_write,
		.pause = walk_pause,
		.ctx = &first,
		.spared = spared,
		.nr_spared = mios_held_living(ring, spared),
	};
	struct mios_pci_walk *walk;
	bool quiet;

	*still = (struct still_on) { };
	if (inject_no_quiet)
		return true;
	if (reach != MIOS_REACH_PORTS || !mios_conf1_works()) {
		pr_warn("the devices of instance %u are not all within reach: nothing that it held is used again\n",
			instance);
		return false;
	}
	walk = kvzalloc(sizeof(*walk), GFP_KERNEL | __GFP_NOFAIL);
	quiet = mios_pci_quiet(&access, walk);
	if (inject_stuck_device) {
		walk->stuck++;
		quiet = false;
	}
	walk_tell(walk, instance, quiet);
	*still = (struct still_on) {
		.looked = !walk->gone && !walk->busy,
		.stuck = walk->stuck, .which = walk->which,
	};
	kvfree(walk);
	return quiet;
}

/**
 * mios_quiet_try - make the devices of the dead instance 0 quiet, or leave it
 *		    to who is at it
 * @ring: the one that this instance is in; its scan runs again when it is over
 *
 * Without link_lock; called by one worker.
 */
void mios_quiet_try(struct mios_ring *ring)
{
	struct mios_devices *d = devices(ring);
	u64 word = READ_ONCE(d->quiet), mine = quiet_word(MIOS_QUIET_AT_WORK);
	bool first = quiet_phase(word) == MIOS_QUIET_NOBODY;
	enum mios_quiet_phase verdict;
	struct still_on still;

	if (!first && inject_leave_quiet)
		return;
	if (is_at_work(ring, word) || quiet_phase(word) >= MIOS_QUIET_DONE ||
	    !try_cmpxchg(&d->quiet, &word, mine))
		return;
	verdict = make_quiet(ring, 0, READ_ONCE(d->reach), first, &still) ?
		  MIOS_QUIET_DONE : MIOS_QUIET_NEVER;
	/* A full barrier: QUIET. */
	try_cmpxchg(&d->quiet, &mine, quiet_word(verdict));
	mios_bell_ring_all(ring, MIOS_BELL_CHANGE);
	queue_work(mios_link.wq, &ring->scan);
}

/* What stays on while no member is dead: nobody's, as far as anybody can know. */
static struct still_on nobodys;

/**
 * mios_quiet_before - look at the devices before this instance is host
 * @ring: ring 0
 *
 * Where instance 0's did not all become quiet: one that keeps its bit now keeps it
 * when a member dies, too.
 */
void mios_quiet_before(struct mios_ring *ring)
{
	u32 reach = READ_ONCE(devices(ring)->reach);

	if (READ_ONCE(known) == MIOS_QUIET_NEVER && reach != MIOS_REACH_CRASH)
		make_quiet(ring, 0, MIOS_REACH_PORTS, false, &nobodys);
}

/* Another function, or one more, may be the dead one's. */
static bool is_nobodys(const struct still_on *still)
{
	return still->looked && nobodys.looked &&
	       still->stuck <= nobodys.stuck && still->which == nobodys.which;
}

/*
 * Who is host then is the only one who does it; of several dead, one by one.  As
 * nobody who still runs knows what it had been given, this looks at all functions,
 * at each death.  What kept its bit while no member was dead is perhaps nobody's:
 * then, and only then, it counts that the dead one has said that it had none, or
 * no death could ever be declared on such a machine.  Beside a crash kernel, which
 * uses the ports, nobody looks, and it counts as well.
 */
int mios_quiet_member(u32 instance)
{
	static DEFINE_MUTEX(one_by_one);
	struct mios_ring *ring = mios_ring_get(0);
	struct still_on still = { };
	bool none, quiet;

	if (!ring)
		return 0;
	none = mios_held_none(ring, instance);
	if (inject_believe_none && none)
		return 0;
	/* The ports are somebody else's until he has said what came out. */
	if (!READ_ONCE(known))
		return -EAGAIN;
	if (READ_ONCE(devices(ring)->reach) == MIOS_REACH_CRASH)
		return none ? 0 : -EIO;
	mutex_lock(&one_by_one);
	quiet = make_quiet(ring, instance, MIOS_REACH_PORTS, false, &still);
	mutex_unlock(&one_by_one);
	if (quiet)
		return 0;
	if (!none || !is_nobodys(&still))
		return -EIO;
	pr_warn("instance %u has said that it had no function, and those that are on were on before: they count as nobody's\n",
		instance);
	return 0;
}

/* --- instance 0 */

static bool beyond;	/* some of its devices are in another segment than 0 */

static void device_look(struct pci_dev *dev)
{
	if (pci_domain_nr(dev->bus))
		WRITE_ONCE(beyond, true);
}

static int device_comes(struct notifier_block *nb, unsigned long action,
			void *data)
{
	if (action == BUS_NOTIFY_ADD_DEVICE)
		device_look(to_pci_dev(data));
	return NOTIFY_DONE;
}

static struct notifier_block device_nb = { .notifier_call = device_comes };

/**
 * mios_quiet_publish - tell a ring whether others reach all devices here
 * @ring: one of instance 0, which lives
 *
 * Under link_lock; called again and again, for anybody may overwrite it.
 */
void mios_quiet_publish(struct mios_ring *ring)
{
	struct mios_devices *d = &ring->lines->devices;

	WRITE_ONCE(d->quiet, 0);
	WRITE_ONCE(d->reach, READ_ONCE(beyond) ? MIOS_REACH_BEYOND :
						 MIOS_REACH_PORTS);
}

/**
 * mios_quiet_panic - this kernel is about to say that it has panicked
 *
 * A crash kernel that comes after that (crash_kexec_post_notifiers) has drivers
 * of its own: nobody turns off what they use, nor counts on it.
 */
void mios_quiet_panic(void)
{
	struct mios_ring *ring;
	u32 i;

	if (!mios_link.host || !kexec_crash_loaded())
		return;
	for_each_mios_ring(ring, i)
		WRITE_ONCE(ring->lines->devices.reach, MIOS_REACH_CRASH);
}

int mios_quiet_init(void)
{
	struct pci_dev *dev = NULL;
	int err;

	if (!mios_link.host)
		return 0;
	err = bus_register_notifier(&pci_bus_type, &device_nb);
	if (err)
		return err;
	for_each_pci_dev(dev)
		device_look(dev);
	return 0;
}

void mios_quiet_exit(void)
{
	if (mios_link.host)
		bus_unregister_notifier(&pci_bus_type, &device_nb);
}
