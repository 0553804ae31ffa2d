// SPDX-License-Identifier: GPL-2.0
/*
 * Who is host in place of a dead instance 0: the member of ring 0 that writes
 * the states of all, declares deaths and ends instances.  The lowest one that
 * lives, and when it has ended the next one.
 *
 * HOST: a word in instance 0's block says who, changed by compare and exchange
 * alone.  Who wants to be it reads the word, writes what the last host knew into
 * its own block, and exchanges the word that it has read for its own:
 *  - of two only one gets it; what the other one has written nobody reads;
 *  - who reads the word (acquire) finds in that block what stood there before
 *    the exchange (a full barrier);
 *  - nothing of the last host is missed.  It had ended by its own word, or had
 *    begun to, before the word was read: after that it writes no view.  And
 *    nobody was host in between, for no word comes twice, as no incarnation does.
 *
 * Anybody may overwrite the word.  So one that names nobody who lives changes
 * nothing as long as the last host that was seen does: it puts its word back.
 *
 * Called at the end of each scan, which one worker does; under link_lock where
 * it says so.
 */
#define pr_fmt(fmt) "mios: " fmt

#include <linux/export.h>
#include <linux/jiffies.h>
#include <linux/moduleparam.h>
#include <linux/mutex.h>
#include <linux/slab.h>

#include "../../inject/inject.h"
#include "heir.h"
#include "ring.h"

MIOS_INJECT_SWITCH(no_host, "do not become host, whoever has died");
MIOS_INJECT_SWITCH(die_taking, "die as soon as this is host, before anybody is watched");

static bool successor = true;
module_param(successor, bool, 0644);
MODULE_PARM_DESC(successor, "whether this instance may be host in place of a dead instance 0");

/* Who is lower and lives may take longer to notice that it is its turn. */
#define TURN	(2 * HZ)
#define HANG_MOST	86400U	/* seconds that another instance is believed */

/* Becoming host and ceasing to be it: each ends before the other begins. */
static DEFINE_MUTEX(role_lock);	/* outside of link_lock and of the nodes' */

static u64 adopted;		/* the last word that named a host who lived */
static unsigned long hostless;	/* jiffies since there is none, 0: there is */
static bool left;		/* this instance is about to end */

/* One that may not leaves its turn to the next ones, which takes its time. */
static bool may(void)
{
	return !left && READ_ONCE(successor) && !inject_no_host;
}

/* Number and incarnation, as the word that says who is host has them. */
u64 mios_role_word(void)
{
	return (u64)mios_link.incarnation << 32 | mios_link.self;
}

static u64 *host_word(struct mios_ring *ring)
{
	return &ring->peers[0].lines->host;
}

/*
 * Is it somebody who is host, and has not begun to end?  Whose block has no
 * views is not, whoever says so.  Under link_lock.
 */
static bool names_living(struct mios_ring *ring, u64 word)
{
	u32 instance = (u32)word;
	struct mios_peer *peer;

	if (!instance || instance >= ring->g.nr)
		return false;
	if (instance == mios_link.self)
		return word == mios_role_word() && mios_link.declares;
	peer = &ring->peers[instance];
	return peer->state != MIOS_PEER_ABSENT &&
	       peer->incarnation == word >> 32 &&
	       peer->desc.state == MIOS_DESC_UP &&
	       READ_ONCE(peer->lines->view[instance].stamp) >> 32 ==
	       word >> 32;
}

/* How many come before this one? */
static u32 lower(struct mios_ring *ring)
{
	u32 i, nr = 0;

	for (i = 1; i < mios_link.self; i++)
		nr += ring->peers[i].state == MIOS_PEER_JOINED &&
		      ring->peers[i].desc.state == MIOS_DESC_UP;
	return nr;
}

static void adopt(u64 word)
{
	if (adopted == word)
		return;
	adopted = word;
	/* HOLDER: pairs with the acquire in view.c. */
	smp_store_release(&mios_link.holder, (u32)word);
	if (word != mios_role_word())
		pr_info("instance %u is host of ring 0 now\n", (u32)word);
}

/* Somebody has written over the word of the host, which is this instance. */
static void defend(struct mios_ring *ring, u64 word)
{
	if (try_cmpxchg(host_word(ring), &word, mios_role_word()))
		pr_warn_ratelimited("the word that says who is host has been overwritten; written anew\n");
}

/* Under link_lock; true: nobody is host, and it is this one's turn. */
static bool look(struct mios_ring *ring)
{
	u64 word = smp_load_acquire(host_word(ring)); /* HOST */

	/*
	 * Somebody has written it there: who is host either puts it right first,
	 * or finds that this one is, and steps back.
	 */
	if (word == mios_role_word() && !mios_link.declares)
		return may();
	if (names_living(ring, word))
		adopt(word);
	else if (adopted == mios_role_word() && mios_link.declares)
		defend(ring, word);
	if (names_living(ring, adopted)) {
		hostless = 0;
		return false;
	}
	hostless = hostless ?: jiffies | 1;
	return may() && time_after_eq(jiffies, hostless + lower(ring) * TURN);
}

/* Under link_lock; false: somebody else has it, or it cannot be this one. */
static bool take(struct mios_ring *ring)
{
	u64 word = smp_load_acquire(host_word(ring)); /* HOST */
	struct mios_peer *peer;

	if (left || names_living(ring, word) ||
	    !mios_view_inherit(ring, word) ||
	    !try_cmpxchg(host_word(ring), &word, mios_role_word()))
		return false;
	/* HOLDER: as above, for the original of the views. */
	smp_store_release(&mios_link.declares, true);
	adopt(mios_role_word());
	/* The last host may not have got so far. */
	for_each_mios_peer(peer, ring)
		if (peer->state == MIOS_PEER_JOINED)
			mios_view_advance(peer->instance, peer->incarnation,
					  MIOS_STATE_UP);
	return true;
}

static void begin(struct mios_ring *ring, const struct mios_link_ops *ops)
{
	pr_notice("this instance is host of ring 0 in place of instance 0: it declares deaths, and can boot who has died\n");
	if (inject_die_taking)
		panic("asked for, in the middle of becoming host");
	ops->take_over();
	mios_member_endings(ring);
	mios_bell_ring_all(ring, MIOS_BELL_CHANGE);
	mios_event_tell(MIOS_EVENT_STATE, ring->id, 0, 0);
	queue_work(mios_link.wq, &ring->scan);
}

/*
 * What has been begun ends as the host's, and its states are told; nothing else is
 * begun.  Then nobody here is past mios_link_declares(), and the next host may go
 * on.  Under role_lock.
 */
static void resign(void)
{
	const struct mios_link_ops *ops = READ_ONCE(mios_link.ops);

	mutex_lock(&mios_link.lock);
	WRITE_ONCE(mios_link.resigning, true);
	mutex_unlock(&mios_link.lock);
	if (ops && ops->resign)
		ops->resign();
	mutex_lock(&mios_link.lock);
	WRITE_ONCE(mios_link.declares, false);
	WRITE_ONCE(mios_link.resigning, false);
	mutex_unlock(&mios_link.lock);
}

/* Under link_lock; NULL: nobody else is. */
static struct mios_peer *host_peer(struct mios_ring *ring)
{
	if (ring->peers[0].state != MIOS_PEER_ABSENT)
		return &ring->peers[0];
	if (!names_living(ring, adopted) || adopted == mios_role_word())
		return NULL;
	return &ring->peers[(u32)adopted];
}

/* One that hangs itself, or is lower and may not, leaves it to the next one. */
static void hang_look(struct mios_ring *ring)
{
	mutex_lock(&mios_link.lock);
	mios_depose_look(ring, may() ? host_peer(ring) : NULL,
			 lower(ring) * jiffies_to_msecs(TURN));
	mutex_unlock(&mios_link.lock);
}

/* Under role_lock. */
static void role_look(struct mios_ring *ring)
{
	const struct mios_link_ops *ops = READ_ONCE(mios_link.ops);
	bool turn, won, lost;

	mutex_lock(&mios_link.lock);
	turn = look(ring);
	lost = mios_link.declares && adopted != mios_role_word();
	mutex_unlock(&mios_link.lock);
	if (lost) {
		pr_warn("instance %u is host, too: this one is no more\n",
			(u32)adopted);
		resign();
	}
	if (!turn || !ops || !ops->prepare || ops->prepare())
		return;
	mios_quiet_before(ring);
	mutex_lock(&mios_link.lock);
	won = take(ring);
	mutex_unlock(&mios_link.lock);
	if (won)
		begin(ring, ops);
}

/**
 * mios_role_look - is there a host, and is it this instance?
 * @ring: the one that has been looked at; without link_lock
 *
 * Only who is ready to end others becomes host, after the death of instance 0 has
 * been told.  One that hangs is told to panic.
 */
void mios_role_look(struct mios_ring *ring)
{
	if (mios_link.host || ring->id)
		return;
	mutex_lock(&role_lock);
	if (mios_death_host_told())
		role_look(ring);
	hang_look(ring);
	mutex_unlock(&role_lock);
}

/**
 * mios_role_leave - this instance is about to end, and is host no more
 *
 * Before it says so: from then on another one is.
 */
void mios_role_leave(void)
{
	if (mios_link.host)
		return;
	mutex_lock(&role_lock);
	mutex_lock(&mios_link.lock);
	left = true;
	mutex_unlock(&mios_link.lock);
	if (mios_link.declares)
		resign();
	mutex_unlock(&role_lock);
}

u32 mios_link_host_now(void)
{
	struct mios_ring *ring;
	u32 host = MIOS_NO_INSTANCE;
	u32 i;

	if (mios_link.host)
		return 0;
	mutex_lock(&mios_link.lock);
	for_each_mios_ring(ring, i) {
		if (ring->peers[0].state != MIOS_PEER_ABSENT)
			host = 0;
		else if (names_living(ring, adopted))
			host = (u32)adopted;
	}
	mutex_unlock(&mios_link.lock);
	return host;
}

/* --- what a host is told */

void mios_link_hang_set(u32 policy, u32 timeout)
{
	WRITE_ONCE(mios_link.hang, (u64)timeout << 32 | (policy + 1));
}

int mios_link_hang_get(u32 *policy, u32 *timeout)
{
	struct mios_ring *ring = mios_ring_get(0);
	u64 hang = ring ? READ_ONCE(ring->peers[0].lines->hang) : 0;

	if (!(u32)hang || (u32)hang > MIOS_HANG_REBOOT + 1 ||
	    hang >> 32 > HANG_MOST)
		return -ENODATA;
	*policy = (u32)hang - 1;
	*timeout = hang >> 32;
	return 0;
}

u64 mios_link_stamp(u32 instance, s32 *ring)
{
	struct mios_view view;

	mutex_lock(&mios_link.lock);
	mios_view_get(instance, &view);
	mutex_unlock(&mios_link.lock);
	*ring = view.ring;
	return view.stamp;
}

/* Only CPUs that instance 0 had named before this instance joined. */
static int heir_cpus(u32 instance, struct mios_heir *heir)
{
	struct mios_ring *ring = mios_ring_get(0);
	struct mios_area_cpus *cpus;
	int err = -EBADMSG;

	cpus = kmalloc(sizeof(*cpus), GFP_KERNEL);
	if (!cpus)
		return -ENOMEM;
	if (ring && !mios_seq_read((u32 *)cpus,
				   (u32 *)mios_area_cpus(ring->area, instance),
				   sizeof(*cpus)) &&
	    cpus->nr && cpus->nr <= MIOS_AREA_CPUS &&
	    mios_crc32(cpus->apicid, cpus->nr * sizeof(u32)) ==
	    mios_link.nodes.of[instance].cpus) {
		heir->nr_cpus = cpus->nr;
		memcpy(heir->apicid, cpus->apicid, cpus->nr * sizeof(u32));
		err = 0;
	}
	kfree(cpus);
	return err;
}

int mios_link_heir(u32 instance, struct mios_heir *heir)
{
	const struct mios_area_node *node;
	u32 i;

	if (instance >= mios_link.nr || !mios_link.nodes.of[instance].head)
		return -ENODEV;
	node = &mios_link.nodes.of[instance];
	for (i = 0; i < MIOS_AREA_PIECES; i++) {
		heir->ranges[i].base = (u64)node->pieces[i].base * MIOS_HEAD_SIZE;
		heir->ranges[i].size = (u64)node->pieces[i].size * MIOS_HEAD_SIZE;
	}
	heir->slice = node->slice;
	return heir_cpus(instance, heir);
}

u64 mios_link_epoch(void)
{
	return mios_link.nodes.epoch;
}

bool mios_link_declares(void)
{
	return READ_ONCE(mios_link.declares) &&
	       !READ_ONCE(mios_link.resigning);
}
