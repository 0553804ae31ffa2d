/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The interface of the DSM engine: what a caller tells it (events), what it
 * asks of the caller (actions), what travels between nodes (messages) and
 * how it is set up.  Read by the runtime, the simulator, the
 * explorer and the fuzzers.  The caller serialises all calls on one engine;
 * the engine keeps no other state than the memory it was given, which holds
 * no pointer and may be copied.
 */
#ifndef DSM_H
#define DSM_H

#include "os.h"
#include "set.h"

#define DSM_PAGE_SIZE	4096
#define DSM_CPUS_MAX	1024
/*
 * Distinct pages that one instruction may touch before it is given up: a guest's
 * has two of code and two or more of data, and each of these four tables' pages.
 */
#define DSM_TOUCH_MAX	32
#define DSM_NOBODY	0xffffu
#define DSM_LIFE_MAX	0x7fffffffu

/* How a transport orders what it delivers; each includes the one above. */
enum dsm_order {
	DSM_ORDER_FIFO,		/* per sender and receiver */
	DSM_ORDER_CAUSAL,	/* nothing before what caused it */
	DSM_ORDER_TOTAL,	/* and all broadcasts alike at all receivers */
};

enum dsm_protocol {
	DSM_WI,			/* write-invalidate */
	DSM_WU,			/* write-update as published */
	DSM_WUPLUS,		/* and atomics at the owner */
	DSM_WUSEQ,		/* write-update in one order for all */
	DSM_PROTOCOLS,
};

/* The mode of a page: who may write it without owning it. */
enum dsm_mode {
	DSM_MODE_WI,		/* nobody */
	DSM_MODE_MW,		/* everybody, by updates */
	DSM_MODE_SW,		/* nobody; the owner sends updates */
	DSM_MODES,
};

/* States of a page at one node; docs/dsm.md has the table. */
enum dsm_state {
	DSM_I,			/* no copy */
	DSM_S,			/* a copy, owned elsewhere */
	DSM_O,			/* owned, others may hold copies */
	DSM_M,			/* owned, the only copy, writable */
	DSM_IS,			/* no copy, asked to read */
	DSM_IM,			/* no copy, asked to write */
	DSM_IO,			/* no copy, asked for ownership */
	DSM_SM,			/* a copy, asked to write */
	DSM_SO,			/* a copy, asked for ownership */
	DSM_OI,			/* owned, collecting INV_ACKs */
	DSM_OC,			/* owned, collecting MODE_ACKs */
	DSM_STATES,
};

enum dsm_msg_type {
	DSM_GET_S,		/* a copy, please */
	DSM_GET_X,		/* ownership and all copies gone, please */
	DSM_GET_O,		/* ownership, copies may stay, please */
	DSM_DATA_S,		/* here is a copy */
	DSM_DATA_X,		/* ownership: invalidate this copyset */
	DSM_DATA_O,		/* ownership: keep this copyset */
	DSM_INV,		/* drop your copy */
	DSM_INV_ACK,
	DSM_EVICT,		/* to the manager: take this page from me */
	DSM_GAVE,		/* to the manager: node has it, out of line */
	DSM_SEAT,		/* manager: you are in line */
	DSM_UPD,		/* a batch of writes */
	DSM_MODE,		/* the page has another mode now */
	DSM_MODE_ACK,
	DSM_FLUSH,		/* node died: all I sent before is out */
	DSM_HOLD,		/* to the manager: I hold this page */
	DSM_HOLD_END,		/* to all: I have reported every page */
	DSM_TAKE,		/* manager: you own this page now */
	DSM_OWNED,		/* manager: this node owns the page now */
	DSM_GONE,		/* manager: nobody holds this page */
	DSM_READY,		/* manager: my pages have owners again */
	DSM_MSGS,
};

/* dsm_msg.flags */
#define DSM_F_DATA	1	/* the page's bytes follow the body */
#define DSM_F_HAVE	2	/* the sender's copy is still valid */
#define DSM_F_DIRECTED	4	/* by the manager: you own it, or will */
#define DSM_F_ORDER	8	/* UPD: by the head, see order.c */

/*
 * A message without link header: 24 bytes on the wire.  The body depends on
 * the type: a copyset, counts and probable owners for DATA_*, records for UPD.
 */
struct dsm_msg {
	u8 type;
	u8 flags;
	u8 mode;		/* of the page, as its owner knows it */
	u8 hops;
	u8 src;
	u8 node;		/* who asked */
	u16 pad;
	u32 page;
	/*
	 * Names the request that this answers; UPD: low bits of the sender's
	 * Lamport clock.
	 */
	u32 tag;
	u64 ver;		/* number of the ownership meant */
};

/* One record of an UPD body. */
struct dsm_write {
	u32 page;
	u32 clock;		/* low bits of its number */
	u16 word;		/* 8-byte word within the page */
	u8 mask;		/* bytes written */
	u8 node;		/* wu-seq: whose store, clock its how-manieth */
	u32 low, high;		/* the word's new value */
};

/* At the end of a DATA_* body: who owns some page. */
struct dsm_probowner {
	u32 page;
	u32 what;		/* low 24 bits of the number, and the owner */
};

/* In HOLD, TAKE, OWNED and GONE: what a recovery says of a page. */
struct dsm_fate {
	u32 page;
	u32 owner;		/* HOLD: the reporter, if it owns it, or nobody */
	u64 ver;
};

#define DSM_PROBOWNER_MAX	8	/* in one answer */

static_assert(sizeof(struct dsm_msg) == 24, "wire header");
static_assert(sizeof(struct dsm_probowner) == 8, "probable owner record");
static_assert(sizeof(struct dsm_fate) == 16, "recovery record");
static_assert(sizeof(struct dsm_write) == 20, "update record");

enum dsm_access { DSM_NONE, DSM_RO, DSM_RW };

/* What the faulting instruction does to the page. */
enum dsm_touch {
	DSM_READ,
	DSM_WRITE,		/* a store that can be emulated */
	DSM_ATOMIC,		/* a locked instruction that can be emulated */
	DSM_EXCLUSIVE,		/* anything else that writes */
};

enum dsm_event_type {
	DSM_EV_FAULT,		/* cpu, page, touch, word, mask, value */
	DSM_EV_RETIRED,		/* cpu: an instruction has completed */
	DSM_EV_MSG,		/* msg, body, len */
	DSM_EV_TICK,		/* now; nothing else reads the clock */
	DSM_EV_TX_IDLE,		/* the transmit queue ran empty */
	DSM_EV_EVICT,		/* page: until EVICTED, ask again */
	DSM_EV_HINT,		/* page, mode */
	DSM_EV_PIN,		/* page: for DMA; must be writable */
	DSM_EV_UNPIN,		/* page */
	DSM_EV_DOWN,		/* node, life: has been fenced and is dead */
	DSM_EV_UP,		/* node, life: was born again; ourselves: join */
	DSM_EV_AGAIN,		/* after DSM_ACT_AGAIN */
};

struct dsm_event {
	u8 type;
	u8 touch;
	u8 mode;
	bool tx_idle;		/* a message sent now leaves at once */
	bool tx_full;		/* no room for updates: hold writers */
	u8 mask;
	u16 cpu;
	u16 word;
	u16 node;
	u16 len;
	u32 page;
	u32 life;		/* incarnation of node */
	u64 value;		/* new value of the word, under mask */
	u64 now;		/* any unit, as dsm_config.lease */
	struct dsm_msg msg;
	const void *body;
};

enum dsm_action_type {
	/*
	 * Page access for all CPUs of the node: complete when every TLB
	 * and store buffer has seen it.
	 */
	DSM_ACT_ACCESS,
	/* Send msg with its body, and the page's bytes if DSM_F_DATA. */
	DSM_ACT_SEND,
	DSM_ACT_INSTALL,	/* write the message's bytes to the page */
	DSM_ACT_APPLY,		/* write the masked bytes of a word */
	DSM_ACT_RETRY,		/* cpu: execute the instruction again */
	DSM_ACT_DONE,		/* cpu: emulated, go on behind it */
	DSM_ACT_FAIL,		/* the event was refused */
	DSM_ACT_EVICTED,	/* the page's frame is free */
	DSM_ACT_LOST,		/* page: died with its only holder */
	DSM_ACT_ERROR,		/* cpu: touches a page that is lost */
	DSM_ACT_AGAIN,		/* more to do: DSM_EV_AGAIN, soon */
};

struct dsm_action {
	u8 type;
	u8 access;
	u8 mask;
	u16 cpu;
	u16 word;
	u16 len;		/* of the body */
	u32 page;
	u32 body;		/* offset in dsm_actions.body */
	u64 value;
	struct dsm_msg msg;
	struct dsm_set to;
};

#define DSM_ACTIONS_MAX	256
#define DSM_BODY_MAX	(32 + 4 * DSM_NODES_MAX + 8 * DSM_PROBOWNER_MAX)
#define DSM_BATCH_MAX	50

struct dsm_actions {
	u32 count;
	u32 used;		/* bytes of body */
	bool full;		/* never: an action was lost */
	struct dsm_action act[DSM_ACTIONS_MAX];
	u8 body[16 * DSM_BODY_MAX];
};

/* What happened, for tables and plots; no decision reads it. */
struct dsm_stats {
	u64 sent[DSM_MSGS];
	u64 bytes[DSM_MSGS];	/* headers and bodies, no page bytes */
	u64 pages_sent;
	u64 emulated;		/* trapped writes and atomics */
	u64 misses;		/* requests answered */
	u64 misses_two_hops;
	u64 owned;		/* those that brought ownership */
	u64 owned_two_hops;
	u64 retried;		/* copies invalidated on their way */
	u64 window_stalls;
	u64 merged_away;	/* updates wholly hidden by newer ones */
	u64 announced;		/* periodic updates */
	u64 refused;		/* messages that broke a rule */
	u64 expired;		/* leases taken back */
};

struct dsm_config {
	u16 nodes;
	u16 self;
	/*
	 * Which incarnation of this node begins, below DSM_LIFE_MAX.  The
	 * first one of all nodes is 0 and begins with its share of the pages;
	 * a later one has none, is told who died and who was born again, and
	 * then DSM_EV_UP of itself.
	 */
	u32 life;
	u16 cpus;
	u8 protocol;
	u8 order;		/* what the transport declares */
	u8 mode;		/* of every page at first */
	u32 pages;
	u32 chunk;		/* pages in a row with the same manager */
	/*
	 * Pool of deferred requests.  A node asks for requests / nodes pages
	 * at a time, so it always suffices; alike on every node, best
	 * nodes * (cpus + 1).  A request that no CPU waits for any more keeps
	 * its place until it is answered, for a pinned page that may be late.
	 */
	u16 requests;
	u16 inflight;		/* pool of updates to pages in flight */
	u16 batch;		/* records in an UPD, up to DSM_BATCH_MAX */
	u16 run;		/* writes in a row that take a page alone */
	u32 window;		/* merge buffer slots, a power of two */
	u64 key[2];		/* random, secret, new in each life; see tag.c */
	u64 lease;		/* a grant is protected so long, and a tick */
	bool serial;		/* GiantVM: one invalidation at a time */
	bool read_owns;		/* GiantVM: a read moves ownership */
	bool no_hints;		/* ask the manager always */
	u8 probowners;		/* most items in an answer, DSM_PROBOWNER_MAX */
	u32 knobs;		/* rules to break, see knobs.h */
};

struct dsm;

/* Bytes of memory the engine needs, 0 if the configuration is impossible. */
size_t dsm_size(const struct dsm_config *cfg);
/* Zero or -EINVAL; -EPROTO if the transport's order is too weak. */
int dsm_init(struct dsm *d, const struct dsm_config *cfg);
/* Give a page another first owner and mode, alike on every node. */
int dsm_place(struct dsm *d, u32 page, u16 owner,
	      const struct dsm_set *copyset, u8 mode);
/* From now on a grant is protected so long. */
void dsm_lease(struct dsm *d, u64 lease);
void dsm_step(struct dsm *d, const struct dsm_event *ev,
	      struct dsm_actions *out);

enum dsm_order dsm_needs(enum dsm_protocol protocol);
enum dsm_state dsm_page_state(const struct dsm *d, u32 page);
enum dsm_mode dsm_page_mode(const struct dsm *d, u32 page);
enum dsm_access dsm_page_access(const struct dsm *d, u32 page);
/*
 * What this answer brings will be installed, unless something happens before it
 * is taken: until then nobody sees what the page's memory has, and anything may
 * be written there.
 */
bool dsm_page_awaits(const struct dsm *d, const struct dsm_msg *m);
bool dsm_cpu_holds(const struct dsm *d, u16 cpu);
bool dsm_cpu_waits(const struct dsm *d, u16 cpu);
bool dsm_pending(const struct dsm *d);
const struct dsm_set *dsm_page_copyset(const struct dsm *d, u32 page);
const struct dsm_stats *dsm_statistics(const struct dsm *d);
/* Bytes at the front that decide what happens next: all but statistics. */
size_t dsm_state_size(const struct dsm *d);

extern const char *const dsm_state_name[DSM_STATES];
extern const char *const dsm_msg_name[DSM_MSGS];
extern const char *const dsm_mode_name[DSM_MODES];

#endif /* DSM_H */
