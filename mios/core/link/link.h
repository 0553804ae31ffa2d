/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What mios/core/link/ offers to the directories above it: the ring's members,
 * their states, messages to them.  Callers may sleep unless it says otherwise.
 *
 * Lock order: link_lock (states and descriptors, a mutex) is outermost; the
 * channel locks are spin locks, leaves, and never held while a handler runs.
 */
#ifndef _MIOS_LINK_H
#define _MIOS_LINK_H

#include <linux/notifier.h>
#include <linux/types.h>
#include <linux/mios.h>

#include <mios/layout.h>
#include <mios/msg.h>
#include <mios/nodes.h>

/* How an instance ended, by its own account. */
enum mios_ending {
	MIOS_END_ORDERLY,	/* has begun to power off, halt or reboot */
	MIOS_END_PANIC,
	MIOS_END_UNLOAD,	/* its modules were removed; the kernel lives on */
};

/**
 * struct mios_link_ops - what the link tells the code that boots instances
 * @joined:	the incarnation announced by mios_link_expect() is at its sync
 *		point, and every message to it arrives
 * @leaving:	it says that it ends; to be fenced, then mios_link_dead()
 * @rang:	a doorbell without a message, or any while mios_bell_ending():
 *		perhaps somebody's last words
 * @prepare:	this instance may become host in place of instance 0: get ready
 *		for @take_over, or return -errno, and it will not
 * @take_over:	it has: from now on it ends instances, those that mios_link_heir()
 *		describes
 * @resign:	it is about to be so no more, and mios_link_declares() is false
 *		already; waits for what has been begun
 *
 * Each may be NULL.  All are called in process context without locks, possibly
 * at the same time for different instances; they may call anything in this
 * header.  @joined and @leaving run where other members' acknowledgements come
 * in, and must not wait for them; @rang may.
 */
struct mios_link_ops {
	void (*joined)(u32 instance, u32 incarnation);
	void (*leaving)(u32 instance, u32 incarnation, enum mios_ending how);
	void (*rang)(void);
	int (*prepare)(void);
	void (*take_over)(void);
	void (*resign)(void);
};

/**
 * struct mios_info - a consistent picture of an instance
 * @instance:	its number
 * @state:	enum mios_state
 * @incarnation: number of its present or last boot
 * @ring:	ring, -1: none
 * @node:	NUMA node
 * @nr_cpus:	its CPUs
 * @nr_apicids:	entries of @apicid that are known here
 * @memory:	bytes of memory
 * @cost:	bytes that its kernel occupies
 * @memory_free, @uptime_ms, @load, @nr_running: as of the last heartbeat
 * @beat_age_ms: time since then, -1: not up
 * @log_start:	real time here of stamp 0 of its log, by the TSC; 0: not known
 * @silent_ms:	not 0: suspect, not heard for so long
 * @sent, @received: messages to it from here, and the other way, since it joined
 * @counted:	@counts are known
 * @counts:	what it has done together with others, enum mios_count
 * @next:	its neighbour in the ring, MIOS_NO_INSTANCE: none
 * @pool:	memory of its node that the whole ring shares; size 0: none
 * @release:	its uname -r
 * @apicid:	the CPUs
 */
struct mios_info {
	u32 instance;
	enum mios_state state;
	u32 incarnation;
	s32 ring;
	u32 node;
	u32 nr_cpus, nr_apicids;
	u64 memory;
	u64 cost;
	u64 memory_free;
	u64 uptime_ms;
	s64 beat_age_ms;
	u64 log_start, sent, received;
	bool counted;
	u64 counts[MIOS_COUNTS];
	u32 silent_ms;
	u32 load[3], nr_running, next;
	struct mios_range pool;
	char release[MIOS_RELEASE_LEN];
	u32 apicid[MIOS_AREA_CPUS];
};

/* link.c: life of the link */

/**
 * struct mios_link_host - what instance 0 knows before it begins
 * @incarnation: its own number, which it has never had before
 * @nr:		instances that the machine may have, itself included
 * @pools:	memory of each node that ring 0 shares; size 0: none
 */
struct mios_link_host {
	u32 incarnation;
	u32 nr;
	const struct mios_range *pools;
};

/**
 * mios_link_init() - start the link; in a child this is the sync point
 * @ops: whom to tell about the others; stays valid until mios_link_exit()
 * @host: on instance 0, else NULL
 *
 * Instance 0 becomes able to host rings; a child maps the area that its
 * manifest names, publishes its descriptor and joins.  -EPROTO: the area is
 * of a version that this module does not speak, or damaged.
 */
int mios_link_init(const struct mios_link_ops *ops,
		   const struct mios_link_host *host);

/**
 * mios_link_exit() - leave the ring and stop; nothing is sent afterwards
 */
void mios_link_exit(void);

/**
 * mios_link_quiet() - call none of the ops from now on; waits for those at work
 */
void mios_link_quiet(void);

/**
 * mios_link_silent_ms() - how long has a member of a ring here been suspect?
 * @instance: its number
 * @incarnation: another one is not meant
 *
 * Only a suspicion: fence it before anything is taken from it.  May sleep.
 *
 * Return: milliseconds of silence, 0: it is heard.
 */
u32 mios_link_silent_ms(u32 instance, u32 incarnation);

/* Number of this instance, and how many the machine may have. */
u32 mios_link_self(void);
u32 mios_link_nr(void);

/* area.c */
void *mios_memory_map(u64 base, u64 size);
bool mios_memory_is_write_back(const void *map, u64 size);

/* host.c: instance 0 only; from mios_link_state() on its successor, too */

/**
 * mios_link_area() - physical place of a ring's area, made at the first use
 * @ring: which ring
 * @base: out, for the manifest's area_base
 * @size: out, for the manifest's area_size
 */
int mios_link_area(u32 ring, u64 *base, u64 *size);

/**
 * struct mios_link_node - what is known of an instance that is not up
 * @node:	its NUMA node
 * @nr_cpus:	CPUs of the node
 * @apicid:	their APIC ids: no others get a doorbell that is for it
 * @memory:	bytes of memory of the node
 * @ranges:	its memory, MIOS_AREA_PIECES at most; the head lies in the first
 * @nr_ranges:	how many there are
 * @slice:	physical address of its slice of low memory
 */
struct mios_link_node {
	u32 node;
	u32 nr_cpus;
	const u32 *apicid;
	u64 memory;
	const struct mios_range *ranges;
	u32 nr_ranges;
	u64 slice;
};

/* Tell it, and where incarnations are kept, before the first ring is made. */
void mios_link_describe(u32 instance, const struct mios_link_node *node);
void mios_link_describe_epoch(u64 page);

/**
 * mios_link_expect() - allow one incarnation of an instance to join
 * @ring: the ring that its manifest names
 * @instance: which
 * @incarnation: the one that is about to be started; no other gets in
 */
int mios_link_expect(u32 ring, u32 instance, u32 incarnation);

/**
 * mios_link_state() - publish a state that only the boot code knows
 * @instance: which
 * @state: any but MIOS_STATE_UP, which the link sets when it has joined
 *
 * DOWN also ends mios_link_expect().
 */
void mios_link_state(u32 instance, enum mios_state state);

/**
 * mios_link_dead() - after the fence: make every survivor forget it
 * @instance: which; all its CPUs are stopped for good
 * @incarnation: which boot of it
 *
 * Who has not done so yet is told by mios_link_owing().
 */
void mios_link_dead(u32 instance, u32 incarnation);

/**
 * mios_bell_ending() - is somebody expected to say his last words?
 * @some: while true, each doorbell is also taken for one without a message
 *
 * A full barrier.  Callable from any context.
 */
void mios_bell_ending(bool some);

/**
 * mios_link_owing() - who may still use something of a dead instance?
 * @instance: which; mios_link_dead() has been called
 * @incarnation: which boot of it
 *
 * Everybody whom its ring admits, until he has told his listeners of the death
 * (MIOS_EVENT_DEAD) and said so, or is dead himself.  May sleep.
 *
 * Return: a bit for each instance, this one included; 0: its memory may be
 * used again.
 */
u64 mios_link_owing(u32 instance, u32 incarnation);

/**
 * mios_link_request_shutdown() - ask an instance to power off in order
 * @instance: which; -ENOTCONN if it is not up, -EAGAIN if it does not listen
 */
int mios_link_request_shutdown(u32 instance);

/**
 * mios_link_pid_is_over() - was it a task of a boot that is over?
 * @pid: in the initial PID namespace of whichever instance
 *
 * After the fence, for good until the second boot after that.  Any context.
 */
bool mios_link_pid_is_over(u32 pid);

/**
 * mios_devices_quiet() - does no device of a dead instance write any more?
 * @instance: which
 *
 * Once it is so it stays so; of instance 0 when it is known.  Any context.
 */
bool mios_devices_quiet(u32 instance);

/* Is it known that some may write for good?  It is dead, then. */
bool mios_devices_never_quiet(u32 instance);

bool mios_link_runs(u32 instance, u32 incarnation);

/* role.c: who is host in place of a dead instance 0 */

/* Seconds: a sign of life comes once a second, and may come late. */
#define MIOS_HANG_LEAST		3U

enum mios_hang_policy { MIOS_HANG_REPORT, MIOS_HANG_KILL, MIOS_HANG_REBOOT };

/*
 * What instance 0 does about hangs, in seconds; and on the others what it said that
 * it does: -ENODATA where that is not known, or nonsense.
 */
void mios_link_hang_set(u32 policy, u32 timeout);
int mios_link_hang_get(u32 *policy, u32 *timeout);

/* Who is host: its number; MIOS_NO_INSTANCE: nobody, as far as is known here. */
u32 mios_link_host_now(void);

/* member.c: who is there */

/**
 * mios_link_info() - what is known here of an instance
 * @instance: which, below mios_link_nr()
 * @info: out
 */
int mios_link_info(u32 instance, struct mios_info *info);

/* NUMA distance between two nodes, 0 if it is not known. */
u32 mios_link_distance(u32 from, u32 to);

/*
 * Of each node of the machine (MIOS_AREA_INSTANCES) what its ring shares; size
 * 0: nothing.  Does not change from the join on.
 */
const struct mios_range *mios_link_pools(void);

/* Words of an instance in the area of ring 0; NULL: this one is in another. */
struct mios_copies *mios_link_copies(u32 instance);

/* The area of the ring that instance 0's clock is read from, or NULL. */
const struct mios_anchor *mios_link_anchor(void);

/**
 * mios_link_hostlog() - on a child, the log of instance 0
 * @size: out, bytes that may be read from there
 *
 * Stays mapped until mios_link_exit().
 */
const void *mios_link_hostlog(size_t *size);

/**
 * enum mios_event - what has happened to a member; the value of the notifier
 * @MIOS_EVENT_JOINED:	messages to it arrive from now on
 * @MIOS_EVENT_LEFT:	its incarnation is gone, channels are closed
 * @MIOS_EVENT_FENCED:	its CPUs have stopped, but calls of it may still be served
 *			here, and devices of it write: let go on who waits for
 *			what it holds, use nothing of it
 * @MIOS_EVENT_DEAD:	it has been fenced: recover what it held; what it had is
 *			used again once all listeners have returned, if
 *			mios_devices_quiet().  Instance 0 is by its own word;
 *			nobody uses its own memory
 * @MIOS_EVENT_STATE:	a state in mios_link_info() has changed
 * @MIOS_EVENT_SUSPECT:	it has become suspect, or is so no more
 */
enum mios_event {
	MIOS_EVENT_JOINED,
	MIOS_EVENT_LEFT,
	MIOS_EVENT_FENCED,
	MIOS_EVENT_DEAD,
	MIOS_EVENT_STATE,
	MIOS_EVENT_SUSPECT,
};

/* The data of the notifier. */
struct mios_change {
	u32 ring;
	u32 instance;
	u32 incarnation;
};

/* Blocking notifier chain of enum mios_event, struct mios_change. */
int mios_link_register(struct notifier_block *nb);
void mios_link_unregister(struct notifier_block *nb);

/* message.c: messages and their handlers */

/**
 * struct mios_handler - reader of one message type
 * @fn:	called with a private copy of the payload, in softirq context
 * @ctx: its first argument
 */
struct mios_handler {
	void (*fn)(void *ctx, u32 instance, u32 incarnation,
		   const void *data, u32 length);
	void *ctx;
};

/**
 * mios_handler_register() - read a message type from now on
 * @type: control or console type; -EBUSY if it has a reader
 * @handler: stays valid until mios_handler_unregister()
 */
int mios_handler_register(u32 type, const struct mios_handler *handler);

/**
 * mios_handler_unregister() - stop reading; @type's reader runs no more
 * @type: as registered
 */
void mios_handler_unregister(u32 type);

/**
 * mios_send() - send a control or console message; any context
 * @instance: to whom
 * @type: enum mios_msg_type
 * @data: payload, copied
 * @length: bytes of it
 *
 * -EAGAIN: the channel is full; -ENOTCONN: not a member of a common ring;
 * -EMSGSIZE: too long for its class.  Never waits.
 */
int mios_send(u32 instance, u32 type, const void *data, u32 length);

/**
 * mios_send_wait() - the same, but waits for room
 * @instance: to whom
 * @type: enum mios_msg_type
 * @data: payload
 * @length: bytes of it
 * @timeout_ms: how long; -ETIMEDOUT after that
 */
int mios_send_wait(u32 instance, u32 type, const void *data, u32 length,
		   u32 timeout_ms);

/* call.c: requests and their answers */

/**
 * struct mios_callee - who serves one kind of call
 * @fn:	called with a private copy of what the caller sent; may sleep, and may
 *	call.  Writes at most MIOS_CALL_MAX bytes of @answer and their number to
 *	@size; returns 0, or -errno, which is the caller's result.  Until it
 *	returns, nobody forgets the caller (MIOS_EVENT_DEAD comes after it)
 * @ctx: its first argument
 */
struct mios_callee {
	int (*fn)(void *ctx, u32 instance, u32 incarnation, const void *data,
		  u32 length, void *answer, u32 *size);
	void *ctx;
};

/**
 * mios_callee_register() - serve a kind of call from now on
 * @what: enum mios_call_type; -EBUSY if somebody serves it
 * @callee: stays valid until mios_callee_unregister()
 */
int mios_callee_register(u32 what, const struct mios_callee *callee);

/**
 * mios_callee_unregister() - serve it no more; waits for those being served
 * @what: as registered
 */
void mios_callee_unregister(u32 what);

/**
 * mios_call() - ask another instance and wait for its answer
 * @instance: whom
 * @what: enum mios_call_type
 * @data: what to send, copied
 * @length: bytes of it, at most MIOS_CALL_MAX
 * @answer: where the answer goes
 * @size: room there; a longer one is -EPROTO
 * @timeout_ms: how long it may take in all
 *
 * Return: bytes of the answer, or the error that the callee returned; or
 * -ENOTCONN: not a member of a common ring, or no more; -ETIMEDOUT;
 * -EOPNOTSUPP: nobody serves that there; -ECANCELED: this is done for the call
 * of one that is gone.  Whether a call that has failed so
 * was served is not known; that it is not begun any more is.  What it does when
 * it was begun, and ends later, the callee has to fence (docs/channels.md).
 */
int mios_call(u32 instance, u32 what, const void *data, u32 length,
	      void *answer, u32 size, u32 timeout_ms);

/**
 * mios_call_wanted() - does the caller still wait for the call served by current?
 *
 * For a callee that may have waited since it was called, right before it does what
 * must not be done late.
 *
 * Return: 0; -ETIMEDOUT: his time is over; -ECANCELED: he is gone.
 */
int mios_call_wanted(void);

/**
 * struct mios_ask - one of those that are asked at once
 * @instance:	whom
 * @answer:	where the answer goes
 * @size:	room there
 * @soon:	it takes some microseconds: first wait so long without sleeping
 * @result:	out: what mios_call() would return
 */
struct mios_ask {
	u32 instance;
	void *answer;
	u32 size;
	bool soon;
	int result;
};

/**
 * mios_call_all() - ask several instances the same, and wait for all answers
 * @ask: whom
 * @nr: how many
 * @what: enum mios_call_type
 * @data: what to send, copied
 * @length: bytes of it, at most MIOS_CALL_MAX
 * @timeout_ms: how long it may take in all
 *
 * All calls are on their way before the first answer is waited for.
 */
void mios_call_all(struct mios_ask *ask, u32 nr, u32 what, const void *data,
		   u32 length, u32 timeout_ms);

/* range_owner.c */
int mios_link_owns(u32 instance, u64 base, u64 size);
bool mios_link_has_memory(u32 instance, u64 base, u64 size);

/* console: how mios.ko finds mios_console.ko */
int mios_console_register(struct file *(*open)(u32 instance),
			  struct module *owner);
void mios_console_unregister(void);

/**
 * mios_console_open() - the file that is an instance's console
 * @instance: which; -EOPNOTSUPP without mios_console.ko, -EBUSY if attached
 */
struct file *mios_console_open(u32 instance);

#endif /* _MIOS_LINK_H */
