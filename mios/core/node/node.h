/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a node is and has: its CPUs and memory, on their way to and from
 * instance 0, the state that it is in and who may change it.  On instance 0,
 * and as far as it takes to end an instance on its successor.  Below end/,
 * watch/, start/ and dev/, which include this.
 */
#ifndef MIOS_NODE_H
#define MIOS_NODE_H

#include <linux/cpumask.h>
#include <linux/moduleparam.h>
#include <linux/mutex.h>
#include <linux/time64.h>
#include <linux/types.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <asm/mios.h>
#include <uapi/linux/mios.h>
#include <mios/layout.h>
#include <mios/nodes.h>
#include <mios/notes.h>

#define MIOS_NODE_RANGES	4

/*
 * How the head of a node's memory is laid out while it has an instance; what
 * follows is free for the image.  The head counts as RAM of the child, which
 * keeps manifest and log from its allocator; a randomised kernel is never
 * placed below MIOS_HEAD_END.
 */
#define MIOS_HEAD_MANIFEST	0UL
#define MIOS_HEAD_SEED		(1UL * PAGE_SIZE)
#define MIOS_HEAD_SETUP		(MIOS_HEAD_SEED + 256)
#define MIOS_HEAD_LOG		(2UL * PAGE_SIZE)
#define MIOS_LOG_SIZE		(512UL << 10)	/* a power of two */
#define MIOS_HEAD_END		(1UL << 20)
static_assert(MIOS_HEAD_LOG + sizeof(struct mios_log) + MIOS_LOG_SIZE <=
	      MIOS_NOTES_OFFSET);
static_assert(MIOS_NOTES_OFFSET + MIOS_NOTES_SIZE <= MIOS_HEAD_END);
static_assert(MIOS_NOTES_CPUS == MIOS_MAX_CPUS);

/* One more page where the slices are, for the whole machine: epoch.c. */
#define MIOS_EPOCH_SIZE		PAGE_SIZE

/**
 * struct mios_pulse - a sign of life of an instance, as seen by the watch
 * @seen:	the count at the last look
 * @looks:	looks since it last changed, 0: never looked
 * @told:	somebody has been told that it stands still
 */
struct mios_pulse {
	u64 seen;
	unsigned int looks;
	bool told;
};

/* A register and what is to be in it, for the code in arch/x86/. */
struct mios_msr {
	u32 msr;
	u32 low;
	u32 high;
};

struct mios_link_ops;
struct mios_log_source;

/**
 * struct mios_node - a node, or a part of one, that can have an instance
 * @id:		number of node or part, and of the instance
 * @ranges:	its memory, the largest range first, aligned to 2 MiB
 * @nr_ranges:	how many there are
 * @size:	bytes in all of them
 * @cpus:	its CPUs, as instance 0 numbers them
 * @apicid:	their APIC ids, in the order of @cpus
 * @nr_cpus:	how many there are
 * @perf:	how fast each may run when it is not instance 0's
 * @slice:	physical address of its slice of low memory
 * @kept:	this kernel is host in place of instance 0: the node, when its
 *		instance is dead, is nobody's, and stays so until it is booted
 * @lock:	held while the node changes hands; guards everything below
 * @stamp:	number of the last boot in the upper half, enum mios_state in the
 *		lower: one word, so that nobody acts on the next boot for what he
 *		knows of the last.  Written under @lock, but for BOOTING to UP, which
 *		is a cmpxchg; read anywhere by state_of(), incarnation_of()
 * @lender:	who adds its memory to instance 0, which nobody else may online
 * @claimer:	the open file that holds the node before the start, or NULL
 * @ring:	ring of the last boot
 * @head:	mapping of the head, while an instance has the node
 * @entry:	what START jumps to, physical
 * @zero_page:	struct boot_params for it, physical
 * @leaving:	who has announced his end: incarnation in the upper half, enum
 *		mios_ending in the lower; written without @lock, only forward
 * @overdue:	when the present incarnation, having done so, is ended by force,
 *		in jiffies; 0: it has not
 * @last_words: enum mios_manifest_state of its last end, read after the fence
 * @loaded:	segments are in place and were found intact
 * @log:	log of the present instance, or of the last one; or NULL
 * @owing:	while it is dead: instances that have not let go of it yet
 * @late:	looks for which this instance has not let go of a dead one
 * @stopped:	incarnation whose CPUs have been sent the NMI of the fence
 * @tick, @task: what the watch knows of each CPU: interrupts and tasks
 * @memory:	and of all of them: pages
 * @again:	to be booted again once it is down
 * @reboots:	how often it was, for hanging, since @reboots_since (jiffies)
 * @crashed:	it has panicked, or was ended because it hung or was not heard
 * @unwanted:	nobody is to dump it, or nobody is any more
 * @dumper:	the open file through which its memory is read, or NULL
 * @held_until:	when its memory goes back undumped, in jiffies; 0: no limit
 * @reaper:	takes the node back when its instance has ended
 */
struct mios_node {
	u32 id;
	struct mios_range ranges[MIOS_NODE_RANGES];
	unsigned int nr_ranges;
	u64 size;
	struct cpumask cpus;
	u32 apicid[MIOS_MAX_CPUS];
	unsigned int nr_cpus;
	struct mios_msr perf[MIOS_MAX_CPUS];
	u64 slice;
	bool kept;

	struct mutex lock;	/* everything below */
	u64 stamp;
	const struct task_struct *lender;
	const void *claimer;
	u32 ring;
	void *head;
	u64 entry;
	u64 zero_page;
	u64 leaving;
	unsigned long overdue;
	u32 last_words;
	bool loaded;
	struct mios_segment segments[MIOS_MAX_SEGMENTS];
	unsigned int nr_segments;
	struct mios_log_source *log;
	u64 owing;
	unsigned int late;
	u32 stopped;
	struct mios_pulse tick[MIOS_MAX_CPUS];
	struct mios_pulse task[MIOS_MAX_CPUS];
	struct mios_pulse memory;
	bool again;
	unsigned int reboots;
	unsigned long reboots_since;
	bool crashed;
	bool unwanted;
	const void *dumper;
	unsigned long held_until;
	struct work_struct reaper;
};

/* reason.c: the line a person sees after a failed call; see MIOS_IOC_REASON. */
__printf(2, 3) void mios_reason_set(struct mios_reason *why, const char *fmt,
				    ...);

/* node.c: which nodes, or parts of nodes, there are */
void mios_nodes_init(void);
void mios_nodes_exit(void);
u32 mios_nodes_end(void);
struct mios_node *mios_node_get(u32 instance);
struct mios_node *mios_node_add(int id);

/* pool.c: what nodes have set aside for all */
void mios_pools_init(void);
const struct mios_range *mios_node_pools(void);
bool mios_node_is_pool(u64 base);

static inline u64 node_stamp(u32 incarnation, u32 state)
{
	return (u64)incarnation << 32 | state;
}

static inline u32 state_of(const struct mios_node *node)
{
	return READ_ONCE(node->stamp);
}

static inline u32 incarnation_of(const struct mios_node *node)
{
	return READ_ONCE(node->stamp) >> 32;
}

/* Is it a kernel that has joined? */
static inline bool node_joined(const struct mios_node *node)
{
	return state_of(node) == MIOS_STATE_UP ||
	       state_of(node) == MIOS_STATE_STOPPING;
}

/* Is it a kernel, whatever it does? */
static inline bool node_running(const struct mios_node *node)
{
	return state_of(node) == MIOS_STATE_BOOTING || node_joined(node);
}

static inline struct mios_manifest *mios_node_manifest(struct mios_node *node)
{
	return node->head + MIOS_HEAD_MANIFEST;
}

static inline struct mios_log *mios_node_log(struct mios_node *node)
{
	return node->head + MIOS_HEAD_LOG;
}

static inline u64 mios_node_base(const struct mios_node *node)
{
	return node->ranges[0].base;
}

/* epoch.c: incarnations that never repeat */
void mios_epoch_init(u64 page);
void mios_epoch_exit(void);
u64 mios_epoch_page(void);
void mios_epoch_passed(u32 instance, u32 incarnation);
u32 mios_epoch_next(u32 instance);

/* memory.c: memory of a node, to and from instance 0 */
int mios_memory_init(void);
void mios_memory_exit(void);
int mios_memory_lend(struct mios_node *node);
int mios_memory_take(struct mios_node *node, struct mios_reason *why);

/* cpu.c: CPUs of a node, to and from instance 0 */
int mios_cpus_init(void);
void mios_cpus_exit(void);
int mios_cpus_usable(const struct mios_node *node, struct mios_reason *why);
int mios_cpus_take(struct mios_node *node, struct mios_reason *why);
int mios_cpus_return(struct mios_node *node);
extern const u8 mios_sipi_code[], mios_sipi_params[], mios_sipi_end[];
int mios_cpu_start(struct mios_node *node, struct mios_reason *why);

/* park.c: stopping CPUs */
/* How long a CPU may take to show itself: an emulated one waits for a core. */
#define MIOS_PARK_WAIT_US	20000000
/* A SIPI that has not arrived by then is taken for lost. */
#define MIOS_SIPI_AGAIN_US	200000

extern const u8 mios_park_code[], mios_park_params[], mios_park_end[];
int mios_sipi_arrives(const struct mios_node *node, u32 apicid,
		      const u32 *word, u32 before);
int mios_cpus_stop(const struct mios_node *node);

/* mtrr.c: which memory is cached how */
int mios_mtrrs_read(struct mios_msr *to, unsigned int room);

/* perf.c: how fast a CPU may run */
void mios_perf_read(unsigned int cpu, struct mios_msr *to);

/* machine.c: what no instance can be started on */
int mios_machine_usable(struct mios_reason *why);

/* state.c: the states of a node */
/* No person waits longer than an hour for an instance. */
#define MIOS_WAIT_MAX	(3600U * MSEC_PER_SEC)

/* Woken whenever a node changes state. */
extern wait_queue_head_t mios_state_wait;

void mios_node_state(struct mios_node *node, u32 state);
bool mios_nodes_close(void);
void mios_nodes_open(void);
int mios_nodes_still_open(struct mios_reason *why);
int mios_node_hosted(const struct mios_node *node, struct mios_reason *why);
void mios_nodes_disown(void);
struct mios_node *mios_node_find(u32 instance, struct mios_reason *why,
				 int *err);
struct mios_node *mios_node_find_locked(u32 instance, struct mios_reason *why,
					int *err);
long mios_node_settle(const struct mios_node *node, unsigned int timeout_ms);
bool mios_node_idle(const struct mios_node *node);
int mios_node_head_map(struct mios_node *node);
void mios_node_head_unmap(struct mios_node *node);
void mios_node_return(struct mios_node *node);

#endif /* MIOS_NODE_H */
