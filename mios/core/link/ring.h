/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The objects of mios/core/link/ and what its files offer to each other.
 * Instance 0 holds a struct mios_ring per ring that has been used, a child
 * exactly one; they live until the module goes.
 */
#ifndef _MIOS_LINK_RING_H
#define _MIOS_LINK_RING_H

#include <linux/atomic.h>
#include <linux/kmsg_dump.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/timer.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "../channel/channel.h"
#include "../channel/layout.h"
#include "count.h"
#include "link.h"

/* How far an instance is from being a member, as seen here. */
enum mios_peer_state {
	MIOS_PEER_ABSENT = 0,
	MIOS_PEER_ACCEPTED,	/* our ends are open */
	MIOS_PEER_JOINED,	/* its ends, too */
};

/**
 * struct mios_out - sending end of one class
 * @lock:	serialises @p; irqsave, but for the net class: BH
 * @p:		the channel
 * @broken:	@p has been found broken and waits for the next scan
 */
struct mios_out {
	spinlock_t lock; /* p */
	struct mios_producer p;
	bool broken;
};

/**
 * struct mios_in - receiving end of one class
 * @lock:	serialises @c; BH
 * @c:		the channel
 * @stuck_head:	head at the last tick, if the producer was ahead of it
 * @stuck:	ticks that it has been
 */
struct mios_in {
	spinlock_t lock; /* c */
	struct mios_consumer c;
	u32 stuck_head;
	u32 stuck;
};

/**
 * struct mios_silence - how long a member has not been heard
 * @count:	its heartbeats at our last one
 * @incarnation: whose
 * @ticks:	own heartbeats since it was heard
 * @ms:		the silence that made it suspect, so far
 * @suspect:	too many
 * @told:	incarnation that has been called suspect, 0: none
 */
struct mios_silence {
	u64 count;
	u32 incarnation;
	u32 ticks;
	u32 ms;
	bool suspect;
	u32 told;
};

/**
 * struct mios_peer - another instance of the same ring
 * @ring:	the ring
 * @instance:	its number
 * @state:	enum mios_peer_state; written under link_lock
 * @incarnation: the one that is accepted
 * @apicid, @vector: its doorbell; written under link_lock, read anywhere
 * @desc:	copy of its descriptor; under link_lock
 * @lines:	its words in the area
 * @complaint:	incarnation and error that have been complained about
 * @refused:	looks at a descriptor that could not be used
 * @stopping:	it has said that it ends
 * @repaired:	when it was last asked for new sessions (jiffies)
 * @silence:	of its heartbeat
 * @out, @in:	its channels
 * @space:	senders that wait for room
 */
struct mios_peer {
	struct mios_ring *ring;
	u32 instance;
	u32 state;
	u32 incarnation;
	u32 apicid;
	u32 vector;
	struct mios_desc_body desc;
	struct mios_lines *lines;
	u64 complaint;
	u64 refused;
	bool stopping;
	unsigned long repaired;
	struct mios_silence silence;
	struct mios_out out[MIOS_CLASSES];
	struct mios_in in[MIOS_CLASSES];
	wait_queue_head_t space;
};

/**
 * struct mios_ring - a ring that this instance is a member of
 * @id:		its number
 * @area:	the shared memory, mapped
 * @base:	its physical address
 * @g:		where things are in it
 * @lines:	own words in it
 * @desc:	own descriptor in it
 * @body:	what stands in @desc; under link_lock
 * @look:	copy of the descriptor being looked at; under link_lock
 * @published:	@desc has been written
 * @others:	bit for every instance that could be a peer
 * @todo:	instances whose channels want to be read, by class, and (SPACE)
 *		whose senders may go on
 * @late:	doorbell reasons seen at the last tick
 * @taken:	doorbells answered, by reason; @taken_late: at the last tick
 * @lost:	reasons whose interrupt never came
 * @unknown:	messages that nobody reads
 * @bh:		reads control and console channels
 * @scan:	looks who is there
 * @logged:	on instance 0, how far its log has been copied into @area; under
 *		the lock of host_log_copy.c
 * @peers:	@g.nr of them
 * @buffer:	message being delivered by @bh
 */
struct mios_ring {
	u32 id;
	void *area;
	u64 base;
	struct mios_geometry g;
	struct mios_lines *lines;
	struct mios_desc *desc;
	struct mios_desc_body body;
	struct mios_desc_body look;
	bool published;
	u64 others;
	atomic64_t todo[MIOS_BELLS];
	u64 late[MIOS_BELLS];
	u32 taken[MIOS_BELLS];
	u32 taken_late[MIOS_BELLS];
	u64 lost;
	u64 unknown;
	struct work_struct bh;
	struct work_struct scan;
	struct kmsg_dump_iter logged;
	struct mios_peer *peers;
	u8 buffer[MIOS_CONTROL_MAX];
};

/**
 * struct mios_link - this instance
 * @self:	its number
 * @nr:		instances that the machine may have
 * @incarnation: of this boot
 * @host:	instance 0
 * @declares:	writes states and declares deaths: instance 0, or its successor
 * @resigning:	but begins nothing any more: it is about to be host no more
 * @holder:	in whose block the views are; written under @lock
 * @node:	NUMA node that it runs on
 * @pools:	of each node, what the instances of ring 0 share
 * @nodes:	what it takes to stop each instance
 * @hang:	on instance 0, what its successor is to do about hangs
 * @ops:	whom to tell
 * @lock:	"link_lock": descriptors, views, peers' states
 * @wq:		ordered: scans; may sleep
 * @mail:	calls that are served, and what is told: may wait for scans
 * @rings:	those that are in use; written under @lock, never cleared
 *		before the exit
 * @in_use:	their numbers
 * @peer_of:	joined peers by instance; written under @lock
 * @doorbell_cpu: the CPU that takes doorbells
 */
struct mios_link {
	u32 self;
	u32 nr;
	u32 incarnation;
	bool host;
	bool declares;
	bool resigning;
	u32 holder;
	u32 node;
	struct mios_range pools[MIOS_AREA_INSTANCES];
	struct mios_area_nodes nodes;
	u64 hang;
	const struct mios_link_ops *ops;
	struct mutex lock; /* link_lock */
	struct workqueue_struct *wq;
	struct workqueue_struct *mail;
	struct mios_ring *rings[MIOS_MAX_RINGS];
	DECLARE_BITMAP(in_use, MIOS_MAX_RINGS);
	struct mios_peer *peer_of[MIOS_AREA_INSTANCES];
	unsigned int doorbell_cpu;
};

/* identity.c */
extern struct mios_link mios_link;

void mios_link_identify(const struct mios_link_ops *ops,
			const struct mios_link_host *host);

/* ring.c: the objects */
struct mios_ring *mios_ring_create(u32 id, void *area, u64 base,
				   const struct mios_geometry *g);
void mios_ring_destroy(struct mios_ring *ring);
void mios_ring_use(struct mios_ring *ring);
struct mios_ring *mios_ring_get(u32 id);
struct mios_peer *mios_peer_get(u32 instance);
void mios_peer_open(struct mios_peer *peer, u32 incarnation);
void mios_peer_close(struct mios_peer *peer);
bool mios_peer_ready(struct mios_peer *peer);
bool mios_peer_answer(struct mios_peer *peer);
bool mios_peer_repair(struct mios_peer *peer);
void mios_out_broken(struct mios_peer *peer, struct mios_out *out);
void mios_ring_scan_all(void);

struct mios_ring *mios_ring_from(u32 *id);
struct mios_peer *mios_peer_from(struct mios_ring *ring, u32 instance);

#define for_each_mios_ring(ring, id)					\
	for (id = 0; (ring = mios_ring_from(&id)); id++)

#define for_each_mios_peer(peer, ring)					\
	for (peer = mios_peer_from(ring, 0); peer;			\
	     peer = mios_peer_from(ring, peer->instance + 1))

/* area.c: memory for it */
void *mios_area_alloc(u32 ring, u32 nr, u64 *base, struct mios_geometry *g);
void mios_area_restore(struct mios_ring *ring);
void mios_area_free(void *area, const struct mios_geometry *g);
void *mios_area_map(u32 ring, u64 base, u64 size, struct mios_geometry *g);
void mios_area_unmap(void *area);

/* doorbell.c */
int mios_bell_init(void (*take_frames)(u64 from));
void mios_bell_exit(void);
void mios_bell_ring(struct mios_peer *peer, enum mios_bell bell);
void mios_bell_ring_all(struct mios_ring *ring, enum mios_bell bell);
void mios_bell_tick(struct mios_ring *ring);
u64 mios_bell_strays(void);

/* host_log_copy.c: instance 0's log, for when it is dead */
void mios_hostlog_start(struct mios_ring *ring);
void mios_hostlog_restore(struct mios_ring *ring);
void mios_hostlog_tick(void);
void mios_hostlog_init(void);
void mios_hostlog_exit(void);

/* self.c: what this instance says of itself */
void mios_self_init(struct mios_ring *ring);
void mios_self_publish(struct mios_ring *ring, enum mios_desc_state state);
void mios_self_check(struct mios_ring *ring);
void mios_self_publish_all(enum mios_desc_state state);
void mios_self_own(unsigned int leaving);
int mios_self_watch(void);
void mios_self_unwatch(void);
u64 mios_self_memory(void);

static inline bool mios_desc_alive(const struct mios_desc_body *desc)
{
	return desc->state == MIOS_DESC_UP || desc->state == MIOS_DESC_STOPPING;
}

/* member.c */
void mios_member_scan(struct work_struct *work);
struct mios_ring *mios_member_ring(u32 id, void *area, u64 base,
				   const struct mios_geometry *g);
void mios_member_drop_all(struct mios_ring *ring);

/* ending.c */
enum mios_ending mios_ending_of(u32 state);
void mios_member_endings(struct mios_ring *ring);

/* event.c */
void mios_event_tell(enum mios_event event, u32 ring, u32 instance,
		     u32 incarnation);

/* death.c: deaths told here, and to be told */

/**
 * struct mios_deaths - deaths that one scan has found
 * @fenced:	instances that run no more; listeners have not been told that yet
 * @which:	those of which nothing is being done here any more, either
 * @devices:	instance 0 is dead, and its devices are to be made quiet
 * @incarnation: the incarnation of each that is dead
 */
struct mios_deaths {
	u64 fenced;
	u64 which;
	bool devices;
	u32 incarnation[MIOS_AREA_INSTANCES];
};

void mios_death_attend(struct mios_ring *ring);
void mios_death_host(u32 incarnation, bool panicked);
bool mios_death_host_told(void);
void mios_death_look(struct mios_ring *ring, struct mios_deaths *found);
void mios_death_prepare(struct mios_ring *ring,
			const struct mios_deaths *found);
void mios_death_tell(struct mios_ring *ring, const struct mios_deaths *found);
void mios_death_ack(struct mios_ring *ring, const struct mios_deaths *found);

/* held.c: PCI functions of the others */
#define MIOS_HELD_ALL	(4 * MIOS_HELD)	/* that a machine may have given away */
void mios_held_publish(struct mios_ring *ring);
u32 mios_held_living(struct mios_ring *ring, u32 *to);
bool mios_held_none(struct mios_ring *ring, u32 instance);

/* quiet.c: the devices of a dead instance 0 */
bool mios_quiet_wait(struct mios_ring *ring);
void mios_quiet_before(struct mios_ring *ring);
void mios_quiet_try(struct mios_ring *ring);
void mios_quiet_publish(struct mios_ring *ring);
void mios_quiet_panic(void);
int mios_quiet_init(void);
void mios_quiet_exit(void);

/* role.c: who is host in place of a dead instance 0 */
void mios_role_look(struct mios_ring *ring);
void mios_role_leave(void);
u64 mios_role_word(void);

/* depose.c: a host that hangs is told to panic */
int mios_depose_init(void);
void mios_depose_exit(void);
void mios_depose_beat(void);
void mios_depose_look(struct mios_ring *ring, struct mios_peer *peer,
		      u32 patience_ms);

/* view.c: states, as the host publishes them */
void mios_view_get(u32 instance, struct mios_view *view);
void mios_view_set(u32 instance, const struct mios_view *view);
void mios_view_fill(struct mios_ring *ring);
bool mios_view_inherit(struct mios_ring *ring, u64 host);
bool mios_view_admits(u32 ring, u32 instance, u32 incarnation);
bool mios_view_keeps(u32 ring, u32 instance, u32 incarnation);
bool mios_view_advance(u32 instance, u32 incarnation, enum mios_state state);

/* cpu_owner.c: whose CPU is whose, as instance 0 publishes it */
int mios_cpu_owner_init(void);
void mios_cpu_owner_exit(void);
void mios_cpu_owner_fill(struct mios_ring *ring);
void mios_cpu_owner_set(u32 instance, const u32 *apicid, u32 nr);
u32 mios_cpu_owner_get(u32 instance, u32 *apicid);

/* message.c */
void mios_message_bh(struct work_struct *work);
void mios_message_poll_all(struct mios_ring *ring);
void mios_message_stuck(struct mios_ring *ring);
int mios_message_init(void);
void mios_message_exit(void);

/* call.c */
int mios_call_init(void);
void mios_call_exit(void);
void mios_call_abort(u32 instance);
bool mios_call_serves(u32 instance);

/* range_owner.c: instance 0 answers */
void mios_range_owner_init(void);
void mios_range_owner_exit(void);

/* bulk.c */
void mios_bulk_receive(u64 from);
void mios_bulk_space(u32 instance);

/* counted.c */
void mios_counted_sum(struct mios_counted *sum);
void mios_counted_write(struct mios_ring *ring, const struct mios_counted *sum);
bool mios_counted_read(const struct mios_lines *lines, u64 of[MIOS_COUNTS]);

/* beat.c */
void mios_instant(u64 (*clock)(void), u64 *tsc, u64 *ns);
int mios_beat_init(void);
void mios_beat_exit(void);

/* suspect.c: members that are not heard */
void mios_suspect_tick(struct mios_ring *ring, u32 beat_ms);
u32 mios_suspect_ms(const struct mios_peer *peer);
void mios_suspect_init(void);
void mios_suspect_exit(void);

/* probe.c: debugfs */
void mios_probe_init(void);
void mios_probe_exit(void);

/* scribble.c: garbage over the area, for tests */
struct dentry;
#ifdef MIOS_INJECT
void mios_scribble_init(struct dentry *dir);
void mios_scribble_lie(struct mios_ring *ring);
#else
static inline void mios_scribble_init(struct dentry *dir) { }
static inline void mios_scribble_lie(struct mios_ring *ring) { }
#endif

#endif /* _MIOS_LINK_RING_H */
