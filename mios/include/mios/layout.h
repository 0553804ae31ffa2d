/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The ring area: the one piece of memory that all instances of a ring share.
 * It lies in instance 0's memory, every member maps it, and every address in
 * it is computed from its base and the constants below, never from a pointer
 * found in it.  Included by mios/core/link/, and by its user-space tests.
 *
 *   header | distances | CPUs | pools | nodes | block 0 | ... | block nr-1 | log
 *   block:   descriptor | lines | copies | inbound from 0 | inbound from 1 | ...
 *	     (all but the block's own instance)
 *   inbound: control channel | console channel | net channel
 *
 * The log is instance 0's, which alone writes it: it must be there for the
 * others when instance 0 is not.
 *
 * Block i is written by instance i alone, except for the words marked
 * "peers": the channels' slots and producer lines, by the instance that they
 * come from, and ->pending, ->devices.quiet and ->host, by everybody, with
 * atomic operations only.
 * A reader copies what it needs, then checks the copy.
 */
#ifndef _MIOS_LAYOUT_H
#define _MIOS_LAYOUT_H

#include <linux/build_bug.h>
#include <linux/stddef.h>
#include <linux/types.h>

#include <mios/counted.h>
#include <mios/held.h>

#define MIOS_AREA_MAGIC		0x41455241534f494dULL	/* "MIOSAREA" */
#define MIOS_AREA_VERSION	13
#define MIOS_DESC_MAGIC		0x45444f4e534f494dULL	/* "MIOSNODE" */
#define MIOS_DESC_VERSION	4

#define MIOS_AREA_PAGE		4096u
#define MIOS_AREA_INSTANCES	64u	/* = MIOS_MAX_INSTANCES of the uapi */
#define MIOS_AREA_CPUS		256u	/* = MIOS_MAX_CPUS of the manifest */
#define MIOS_DESC_RANGES	8u
#define MIOS_RELEASE_LEN	72u
#define MIOS_NO_INSTANCE	0xffffffffu
/*
 * The doorbell of every instance, x86's platform IPI.  Another vector could be
 * one that stops a CPU, so a descriptor that names one is not believed.
 */
#define MIOS_DOORBELL_VECTOR	0xf7u

/**
 * struct mios_area_header - first page of the area (instance 0, constant)
 * @magic:	MIOS_AREA_MAGIC, written last
 * @version:	MIOS_AREA_VERSION
 * @size:	bytes of this structure
 * @self:	physical address of the area: a copy elsewhere is not one
 * @area_size:	bytes of the whole area
 * @ring:	which ring it serves
 * @nr:		blocks in it
 * @net_slots:	slots of each net channel, a power of two
 * @reserved:	0
 */
struct mios_area_header {
	__u64 magic;
	__u32 version;
	__u32 size;
	__u64 self;
	__u64 area_size;
	__u32 ring;
	__u32 nr;
	__u32 net_slots;
	__u32 reserved;
};

static_assert(offsetof(struct mios_area_header, self) == 16);
static_assert(offsetof(struct mios_area_header, ring) == 32);
static_assert(sizeof(struct mios_area_header) == 48);

/* Second page (instance 0, constant): NUMA distance from node i to node j. */
struct mios_area_distances {
	__u8 from[MIOS_AREA_INSTANCES][MIOS_AREA_INSTANCES];
};

static_assert(sizeof(struct mios_area_distances) == MIOS_AREA_PAGE);

/**
 * struct mios_area_cpus - which CPUs an instance has (instance 0)
 * @sequence:	odd while the rest changes
 * @nr:		entries of @apicid
 * @apicid:	the CPUs
 *
 * One for each instance, from the third page on.  A descriptor that names
 * another CPU is not believed.  That of an instance which is started holds its
 * node's CPUs and does not change; instance 0's own grows before a CPU appears
 * in its descriptor, and shrinks after it has vanished there.
 */
struct mios_area_cpus {
	__u32 sequence;
	__u32 nr;
	__u32 apicid[MIOS_AREA_CPUS];
};

#define MIOS_AREA_CPUS_AT	(2 * MIOS_AREA_PAGE)
#define MIOS_AREA_POOLS_AT	(19 * MIOS_AREA_PAGE)
#define MIOS_AREA_NODES_AT	(20 * MIOS_AREA_PAGE)	/* mios/nodes.h */
#define MIOS_AREA_BLOCKS_AT	(21 * MIOS_AREA_PAGE)

static_assert(offsetof(struct mios_area_cpus, apicid) == 8);
static_assert(sizeof(struct mios_area_cpus) == 1032);
static_assert(MIOS_AREA_CPUS_AT + MIOS_AREA_INSTANCES *
	      sizeof(struct mios_area_cpus) <= MIOS_AREA_POOLS_AT);

struct mios_range {
	__u64 base;
	__u64 size;
};

/* Of a pool both are multiples of it. */
#define MIOS_POOL_PIECE		(2ull << 20)

/**
 * struct mios_area_pools - memory that no kernel has (instance 0, constant)
 * @checksum:	mios_crc32() of @of
 * @reserved:	0
 * @of:		pool of each node, from which all may allocate; size 0: none
 *
 * All are empty in the area of another ring than 0: who is in that hears too
 * little of the deaths in ring 0.
 */
struct mios_area_pools {
	__u32 checksum;
	__u32 reserved;
	struct mios_range of[MIOS_AREA_INSTANCES];
};

static_assert(offsetof(struct mios_area_pools, of) == 8);
static_assert(sizeof(struct mios_area_pools) == 1032);
static_assert(MIOS_AREA_POOLS_AT + sizeof(struct mios_area_pools) <=
	      MIOS_AREA_NODES_AT);

/* A page that begins with struct mios_log of asm/mios.h, and the text. */
#define MIOS_AREA_LOG_SIZE	(65 * MIOS_AREA_PAGE)

/* What an instance says of itself; 0 is memory nobody has written yet. */
enum mios_desc_state {
	MIOS_DESC_EMPTY = 0,
	MIOS_DESC_UP,		/* at the sync point, member of the ring */
	MIOS_DESC_STOPPING,	/* powering off in order, still a member */
	MIOS_DESC_PANICKED,	/* ended: panic */
	MIOS_DESC_LEFT,		/* its modules went, its kernel lives on */
	MIOS_DESC_DEAD,		/* fenced; written by instance 0 */
	MIOS_DESC_STATES
};

/**
 * struct mios_desc_body - what is covered by the descriptor's checksum
 * @magic:	MIOS_DESC_MAGIC
 * @version:	MIOS_DESC_VERSION
 * @size:	bytes of this structure
 * @instance:	block that it stands in
 * @ring:	ring that it is a member of
 * @incarnation: number of this boot of this instance
 * @state:	enum mios_desc_state
 * @node:	NUMA node that it runs on
 * @next:	next higher live member, the lowest one after the highest
 * @doorbell_apicid: CPU that takes its doorbells; one of @apicid
 * @doorbell_vector: the vector
 * @nr_cpus:	entries of @apicid
 * @nr_ranges:	entries of @memory
 * @area_version: MIOS_AREA_VERSION of its modules
 * @manifest_version: version of the manifest that its kernel understands
 * @memory_bytes: all of it; @memory has the first ranges
 * @cost_bytes:	what its kernel occupies (docs/abi/sysfs-kernel-mios, "cost")
 * @memory:	physical memory that it owns
 * @release:	its uname -r
 * @apicid:	its CPUs
 */
struct mios_desc_body {
	__u64 magic;
	__u32 version;
	__u32 size;
	__u32 instance;
	__u32 ring;
	__u32 incarnation;
	__u32 state;
	__u32 node;
	__u32 next;
	__u32 doorbell_apicid;
	__u32 doorbell_vector;
	__u32 nr_cpus;
	__u32 nr_ranges;
	__u32 area_version;
	__u32 manifest_version;
	__u64 memory_bytes;
	__u64 cost_bytes;
	struct mios_range memory[MIOS_DESC_RANGES];
	char release[MIOS_RELEASE_LEN];
	__u32 apicid[MIOS_AREA_CPUS];
};

static_assert(offsetof(struct mios_desc_body, state) == 28);
static_assert(offsetof(struct mios_desc_body, next) == 36);
static_assert(offsetof(struct mios_desc_body, memory_bytes) == 64);
static_assert(offsetof(struct mios_desc_body, memory) == 80);
static_assert(offsetof(struct mios_desc_body, apicid) == 280);
static_assert(sizeof(struct mios_desc_body) == 1304);

/**
 * struct mios_desc - node descriptor, first page of a block
 * @sequence:	odd while @body changes
 * @checksum:	mios_crc32() of @body
 * @body:	the description
 */
struct mios_desc {
	__u32 sequence;
	__u32 checksum;
	struct mios_desc_body body;
};

static_assert(offsetof(struct mios_desc, body) == 8);
static_assert(sizeof(struct mios_desc) <= MIOS_AREA_PAGE);

/**
 * struct mios_beat - sign of life, rewritten at every heartbeat
 * @sequence:	odd while the rest changes
 * @nr_running:	runnable tasks
 * @count:	heartbeats so far
 * @tsc:	TSC at this one
 * @uptime_ns:	CLOCK_BOOTTIME at this one
 * @memory_free: free bytes
 * @load:	load averages over 1, 5, 15 minutes, in hundredths
 * @interval_ms: time to the next one
 * @log_ns:	what a line of its log would have been stamped with at @tsc
 */
struct mios_beat {
	__u32 sequence;
	__u32 nr_running;
	__u64 count;
	__u64 tsc;
	__u64 uptime_ns;
	__u64 memory_free;
	__u32 load[3];
	__u32 interval_ms;
	__u64 log_ns;
};

static_assert(offsetof(struct mios_beat, count) == 8);
static_assert(offsetof(struct mios_beat, log_ns) == 56);
static_assert(sizeof(struct mios_beat) == 64);

/**
 * struct mios_anchor - instance 0's clock, rewritten at every heartbeat
 * @sequence:	odd while the rest changes
 * @reserved:	0
 * @tsc:	TSC of one instant
 * @real_ns:	CLOCK_REALTIME of it
 * @mult:	nanoseconds per TSC tick, times 2^32
 */
struct mios_anchor {
	__u32 sequence;
	__u32 reserved;
	__u64 tsc;
	__u64 real_ns;
	__u64 mult;
};

static_assert(offsetof(struct mios_anchor, tsc) == 8);
static_assert(sizeof(struct mios_anchor) == 32);

/**
 * struct mios_view - what the host knows of an instance, in its own block
 * @stamp:	incarnation in the upper half, enum mios_state in the lower
 * @memory:	bytes of memory
 * @ring:	ring, -1: none
 * @node:	NUMA node
 * @nr_cpus:	CPUs
 * @reserved:	0
 *
 * The other words are written before @stamp, which is released; they change
 * only while the instance is down.
 */
struct mios_view {
	__u64 stamp;
	__u64 memory;
	__s32 ring;
	__u32 node;
	__u32 nr_cpus;
	__u32 reserved;
};

static_assert(sizeof(struct mios_view) == 32);

/* Which PCI functions instance 0 has, as far as others could turn them off. */
enum mios_reach {
	MIOS_REACH_UNKNOWN = 0,
	MIOS_REACH_PORTS,	/* all are in segment 0, behind the ports */
	MIOS_REACH_BEYOND,	/* some are not */
	MIOS_REACH_CRASH,	/* a crash kernel uses them, and the ports */
};

/* How far it is with making them quiet; in that order. */
enum mios_quiet_phase {
	MIOS_QUIET_NOBODY = 0,
	MIOS_QUIET_AT_WORK,	/* by a survivor, who may die in it */
	MIOS_QUIET_DONE,	/* they write nothing any more */
	MIOS_QUIET_NEVER,	/* they may, for good */
};

/**
 * struct mios_devices - what a dead instance 0 leaves (block 0)
 * @quiet:	its incarnation in the upper half; enum mios_quiet_phase in the
 *		lowest byte, who is at it in the next (peers, by compare and
 *		exchange)
 * @reach:	enum mios_reach
 * @reserved:	0
 */
struct mios_devices {
	__u64 quiet;
	__u32 reach;
	__u32 reserved;
};

static_assert(sizeof(struct mios_devices) == 16);

/* Reasons for a doorbell: one word of ->pending each. */
enum mios_bell {
	MIOS_BELL_CONTROL = 0,	/* = the three channel classes */
	MIOS_BELL_CONSOLE,
	MIOS_BELL_NET,
	MIOS_BELL_SPACE,	/* a channel towards the ringer has room again */
	MIOS_BELL_CHANGE,	/* the ringer's descriptor or view has changed */
	MIOS_BELL_ECHO,		/* answer ->echo_request in ->echo_reply */
	MIOS_BELLS = 8
};

/**
 * struct mios_lines - second page of a block: words that change often
 * @pending:	why the doorbell was rung; bit j: instance j (peers, atomic)
 * @beat:	sign of life
 * @anchor:	the clock (block 0)
 * @ack:	incarnation of instance j whose death has been told here last; the
 *		own word is the own incarnation: deaths are waited for here
 * @echo_request: number of the last doorbell echo asked of instance j
 * @echo_reply:	number of the last one answered to instance j
 * @view:	what the host knows of instance j (block 0, or its successor's)
 * @devices:	instance 0's, when it is dead (block 0)
 * @host:	who is host since instance 0 has died: its incarnation in the upper
 *		half, in the lower its number; 0: nobody (block 0; peers, by
 *		compare and exchange)
 * @hang:	what instance 0 does about hangs, for that one: hang_timeout in the
 *		upper half, in the lower hang_policy + 1; 0: not known (block 0)
 * @held:	PCI functions that are this instance's
 * @depose:	the host that is to panic, as in @host; 0: none
 * @counted:	what it does together with others
 */
struct mios_lines {
	__u64 pending[MIOS_BELLS];
	struct mios_beat beat;
	struct mios_anchor anchor;
	__u8 pad_anchor[96];
	__u32 ack[MIOS_AREA_INSTANCES];
	__u32 echo_request[MIOS_AREA_INSTANCES];
	__u32 echo_reply[MIOS_AREA_INSTANCES];
	struct mios_view view[MIOS_AREA_INSTANCES];
	struct mios_devices devices;
	__u64 host;
	__u64 hang;
	struct mios_held held;
	__u64 depose;
	struct mios_counted counted;
};

static_assert(offsetof(struct mios_lines, beat) == 64);
static_assert(offsetof(struct mios_lines, anchor) == 128);
static_assert(offsetof(struct mios_lines, ack) == 256);
static_assert(offsetof(struct mios_lines, echo_request) == 512);
static_assert(offsetof(struct mios_lines, echo_reply) == 768);
static_assert(offsetof(struct mios_lines, view) == 1024);
static_assert(offsetof(struct mios_lines, devices) == 3072);
static_assert(offsetof(struct mios_lines, host) == 3088);
static_assert(offsetof(struct mios_lines, held) == 3104);
static_assert(offsetof(struct mios_lines, counted) == 3184);
static_assert(sizeof(struct mios_lines) <= MIOS_AREA_PAGE);

#define MIOS_COPY_SLOTS		256u

/**
 * struct mios_copies - third page of a block: memory of processes that others
 *			copy from and to
 * @generation:	of each watched process here: what is known elsewhere of its
 *		memory counts only while this has not changed
 * @hazard:	of each CPU here: whose memory it copies from or to right now,
 *		MIOS_COPY_HAZARD(), 0: nobody's
 * @serves:	MIOS_COPY_VERSION: it answers MIOS_MSG_COPY_ASK
 * @reserved:	0
 *
 * mios/memory/vm/watched.c says why the order is right.
 */
struct mios_copies {
	__u64 generation[MIOS_COPY_SLOTS];
	__u32 hazard[MIOS_AREA_CPUS];
	__u32 serves;
	__u32 reserved;
};

#define MIOS_COPY_VERSION	1

/* A watched process: of which instance, and which of its slots. */
#define MIOS_COPY_HAZARD(instance, slot)	(((instance) + 1) << 16 | (slot))
#define MIOS_COPY_INSTANCE(hazard)		(((hazard) >> 16) - 1)

static_assert(offsetof(struct mios_copies, hazard) == 2048);
static_assert(offsetof(struct mios_copies, serves) == 3072);
static_assert(sizeof(struct mios_copies) <= MIOS_AREA_PAGE);

#define MIOS_BLOCK_LINES_AT	MIOS_AREA_PAGE
#define MIOS_BLOCK_COPIES_AT	(2 * MIOS_AREA_PAGE)
#define MIOS_BLOCK_INBOUND_AT	(3 * MIOS_AREA_PAGE)

/* Classes of channels: bulk traffic in one never delays another. */
enum mios_class {
	MIOS_CLASS_CONTROL = 0,
	MIOS_CLASS_CONSOLE,
	MIOS_CLASS_NET,
	MIOS_CLASSES
};

#define MIOS_CONTROL_SLOT	256u
#define MIOS_CONTROL_SLOTS	32u
#define MIOS_CONSOLE_SLOT	256u
#define MIOS_CONSOLE_SLOTS	32u
#define MIOS_NET_SLOT		2048u
#define MIOS_NET_SLOTS_MIN	64u	/* holds one frame of the largest size */
#define MIOS_NET_SLOTS_MAX	1024u

/**
 * struct mios_chan - head of a channel; its slots follow
 * @accept:	session in the upper half, in the lower the incarnation of the
 *		producer that it is for, 0: closed (consumer)
 * @credit:	session in the upper half, in the lower the position up to
 *		which slots are free again (consumer)
 * @armed:	not 0: ring after publishing; a new value for every arming
 *		(consumer)
 * @consumer:	incarnation of the consumer (consumer)
 * @heard:	@hello that this session answers (consumer)
 * @want:	not 0: ring when there is room; a new value for every wish
 *		(peers: producer)
 * @hello:	a new value asks for a new session (peers: producer)
 * @tail:	session in the upper half, in the lower the position of the next
 *		slot: only a hint (peers: producer)
 *
 * docs/channels.md has the protocol and why its order is right.
 */
struct mios_chan {
	__u64 accept;
	__u64 credit;
	__u32 armed;
	__u32 consumer;
	__u32 heard;
	__u8 pad_consumer[100];
	__u32 want;
	__u32 hello;
	__u64 tail;
	__u8 pad_producer[112];
};

static_assert(offsetof(struct mios_chan, credit) == 8);
static_assert(offsetof(struct mios_chan, armed) == 16);
static_assert(offsetof(struct mios_chan, want) == 128);
static_assert(sizeof(struct mios_chan) == 256);

#define MIOS_SLOT_FIRST		(1u << 0)	/* begins a message */

/**
 * struct mios_slot - one slot of a channel (peers: producer)
 * @stamp:	session in the upper half, position + 1 in the lower; released
 *		after everything else
 * @incarnation: of the producer
 * @type:	enum mios_msg_type, the same in every slot of a message
 * @flags:	MIOS_SLOT_*
 * @length:	bytes of @data in this slot
 * @total:	bytes of the whole message
 * @reserved:	0
 * @data:	the bytes
 */
struct mios_slot {
	__u64 stamp;
	__u32 incarnation;
	__u16 type;
	__u16 flags;
	__u32 length;
	__u32 total;
	__u64 reserved;
	__u8 data[];
};

static_assert(offsetof(struct mios_slot, incarnation) == 8);
static_assert(offsetof(struct mios_slot, length) == 16);
static_assert(offsetof(struct mios_slot, data) == 32);

#endif /* _MIOS_LAYOUT_H */
