/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The engine's inside: one node's state and the functions by which its
 * files call each other, grouped by file.  Nobody else reads it.
 */
#ifndef DSM_ENGINE_H
#define DSM_ENGINE_H

#include "dsm.h"
#include "knobs.h"

#define DSM_NIL		0xffffu
#define DSM_NO_PAGE	0xffffffffu
#define DSM_PROBOWNER_RING 64	/* changes of owner that a node remembers */

/* dsm_page.flags */
#define PAGE_EVICT	1	/* leave as soon as we do not own it */
#define PAGE_INV	2	/* an INV waits for the lease to end */
#define PAGE_ASTRAY	4	/* the guess was wrong, ask the manager */
#define PAGE_LOST	8	/* died with its only holder */
#define PAGE_OWNED	32	/* recovery: its owner has reported */
#define PAGE_POISON	16	/* the pool ran out: fetch it again */
#define PAGE_TODO	64	/* in the list of dsm.todo */
#define PAGE_AHEAD	128	/* recovery: its bytes know stores that we do not */

/* Elements of a pool, by index; DSM_NIL: none (queue.c). */
struct dsm_queue {
	u16 first, last;
};

struct dsm_page {
	u64 ver;		/* number of the latest ownership we know */
	u64 ticket;		/* manager: seat given out last, even */
	u64 seat;		/* owner: our seat in the line, */
	u64 seat_for;		/* which we hold if this is ver */
	u64 left;		/* who has this seat follows heir, not us */
	u64 guess;		/* owner is a guess: number it got it under */
	u64 mine;		/* number of our own request, if known */
	u64 inv_ver;		/* copies older than this are void */
	u64 inv_pending;	/* PAGE_INV: its version */
	u32 heard;		/* of that: when, by dsm.heard */
	u32 tag;		/* of our request under way */
	u32 lease;		/* so many CPUs must complete an instruction */
	u32 todo;		/* PAGE_TODO: the next one */
	u16 run;		/* local writes since the last remote one */
	u16 pins;
	struct dsm_queue requests;	/* deferred */
	struct dsm_queue flights;	/* updates received during a fetch */
	u8 state;
	u8 mode;
	u8 owner;		/* manager: last to get it; else a guess */
	u8 flags;
	u8 inv_from;		/* PAGE_INV: who waits for our ack */
	u8 tries;		/* copies invalidated on their way here */
	u8 next_mode;
	u8 heir;		/* whom we gave the page out of line */
	u32 ahead;		/* PAGE_AHEAD: how many stores it knows of */
	struct dsm_set copyset;	/* owner: who else may hold a copy */
	struct dsm_set acks;	/* OI, OC: who has not answered */
};

/* A request that waits at the owner, or for the ownership to arrive. */
struct dsm_request {
	u16 next;
	u16 pad;
	struct dsm_msg msg;
};

/* An update to a page that is on its way here. */
struct dsm_flight {
	u16 next;
	u8 src;
	u8 mask;
	u16 word;
	u16 pad;
	u32 index;		/* the how-manieth UPD of src */
	u64 value;
};

/* One slot of the merge buffer. */
struct dsm_slot {
	u64 seq;		/* 0: never used */
	u64 older;		/* sequence number of the next in its chain */
	u32 page;
	u16 word;
	u8 mask;
	u8 pad;
};

struct dsm_cpu {
	u8 count;		/* pages this instruction has touched */
	u8 at;			/* the one it waits for */
	bool waits;
	bool leased;
	bool woken;		/* to be looked at when there is room */
	bool writing;		/* wu-seq: its store has no place yet, */
	u32 write;		/* of ours the how-manieth */
	bool timed;		/* by a tick since its leases began, */
	u64 since;		/* at that time */
	u32 page[DSM_TOUCH_MAX]; /* ascending */
	u8 touch[DSM_TOUCH_MAX];
	bool held[DSM_TOUCH_MAX]; /* counted in dsm_page.lease */
};

struct dsm {
	struct dsm_config cfg;
	u64 off_page, off_request, off_flight, off_batch, off_slot;
	u64 off_head, off_probowner, off_view, off_log;
	u64 off_cpu, off_node, off_stats, size;
	/* wu-seq: stores performed, by all as far as we know, */
	u64 number, stable;
	u64 said;		/* when we last told how far we have got; */
	u32 writes;		/* our own; */
	u16 head;		/* who gives places; */
	bool fresh;		/* born again, has no number yet */
	u64 clock;		/* of the last write we know: never wraps */
	u64 announced;		/* clock when last broadcast */
	u64 ahead;		/* the latest clock that anybody claims */
	u32 asked;		/* pages in STATES_ASKED */
	u64 tags;		/* handed out so far */
	u32 heard;		/* changes of owner so far */
	u16 free_request, free_flight;
	u16 pending;		/* records not sent yet */
	bool stalled;		/* some CPU waits for the merge window */
	bool woken;		/* some CPU is */
	bool crowded;		/* some CPU may not ask for its page yet, */
	u16 turn;		/* the first of them */
	bool tx_full;
	u8 recovering;		/* recovery.c */
	bool joining;		/* born again, not told to begin yet */
	bool asking;		/* recovery: requests are sent again */
	u32 todo;		/* pages to kick when there is room */
	u64 cursor;		/* recovery: next page to visit, */
	u16 home;		/* of those that this node would manage */
	struct dsm_set live;
	struct dsm_set buried;	/* recovery: gone from pages behind cursor */
	struct dsm_set flushes;	/* FLUSH not yet received */
	struct dsm_set ends;	/* HOLD_END not yet received */
	struct dsm_set readies;	/* READY not yet received */
};

/* What we know about each node. */
struct dsm_node {
	u64 heard;		/* its clock, as of its last UPD; its number */
	u64 flushed;		/* its number, as of its last FLUSH */
	u32 got;		/* UPDs received from it; ours: sent */
	u32 told;		/* dsm.heard when we last told it owners */
};

#define DSM_TABLE(name, type)						\
static inline struct type *name##_at(struct dsm *d, u32 i)		\
{									\
	return (struct type *)((char *)d + d->off_##name) + i;		\
}

DSM_TABLE(page, dsm_page)
DSM_TABLE(request, dsm_request)
DSM_TABLE(flight, dsm_flight)
DSM_TABLE(batch, dsm_write)
DSM_TABLE(slot, dsm_slot)
DSM_TABLE(log, dsm_write)
DSM_TABLE(cpu, dsm_cpu)
DSM_TABLE(node, dsm_node)

static inline u64 *head_at(struct dsm *d, u32 i)
{
	return (u64 *)((char *)d + d->off_head) + i;
}

/* The page of each of the last changes of owner. */
static inline u32 *probowner_at(struct dsm *d, u32 i)
{
	return (u32 *)((char *)d + d->off_probowner) + i;
}

/* Who lives, as this node had it in its last FLUSH; ours: as we have it. */
static inline u32 *view_at(struct dsm *d, u16 node)
{
	return (u32 *)((char *)d + d->off_view) + (u32)node * d->cfg.nodes;
}

static inline struct dsm_stats *stats_of(struct dsm *d)
{
	return (struct dsm_stats *)((char *)d + d->off_stats);
}

/* The call under way: engine, event and where the actions go. */
struct step {
	struct dsm *d;
	const struct dsm_event *ev;
	struct dsm_actions *out;
};

static inline bool state_in(const struct dsm_page *p, u32 states)
{
	return states >> p->state & 1;
}

#define IN(s)		(1u << DSM_##s)
#define STATES_COPY	(IN(S) | IN(O) | IN(M) | IN(SM) | IN(SO) | \
			 IN(OI) | IN(OC))
#define STATES_OWNER	(IN(O) | IN(M) | IN(OI) | IN(OC))
#define STATES_STABLE	(IN(I) | IN(S) | IN(O) | IN(M))
#define STATES_FETCH	(IN(IS) | IN(IM) | IN(IO))
#define STATES_ASKED	(STATES_FETCH | IN(SM) | IN(SO))

/* inspect.c: what CPUs may do in each state */
extern const u8 dsm_access_of[DSM_STATES];

static inline enum dsm_access page_allows(const struct dsm_page *p)
{
	return p->flags & PAGE_AHEAD ? DSM_NONE : dsm_access_of[p->state];
}

/* engine.c */
u16 dsm_manager(const struct dsm *d, u32 page);
struct dsm_action *step_act(struct step *s, enum dsm_action_type type);
bool step_room(const struct step *s);
void step_access(struct step *s, u32 page, enum dsm_access access);
void step_again(struct step *s);
void msg_init(struct step *s, struct dsm_msg *m, u8 type, u32 page);
void msg_send(struct step *s, const struct dsm_msg *m, u16 to,
	      const void *body, u16 len);
void msg_cast(struct step *s, const struct dsm_msg *m,
	      const struct dsm_set *to, const void *body, u16 len);
void msg_refuse(struct step *s);
void page_set_state(struct step *s, u32 page, enum dsm_state state);
void page_settle(struct step *s, u32 page);
void page_kick(struct step *s, u32 page);
void page_later(struct step *s, u32 page);

/* fault.c */
void fault_take(struct step *s);
bool fault_can(struct dsm *d, u32 page, u8 touch);
void cpu_advance(struct step *s, u16 cpu);
void cpu_retire(struct step *s, u16 cpu);
void cpu_wake(struct step *s);
void cpu_wake_all(struct step *s);
void cpu_expire(struct step *s, u64 now);

/* queue.c: what queues are made of */
struct dsm_pool {
	char *at;
	u32 size;		/* of an element, */
	u16 *free;		/* the first that is in no queue, or DSM_NIL */
};

static inline struct dsm_pool request_pool(struct dsm *d)
{
	return (struct dsm_pool){ (char *)request_at(d, 0),
		sizeof(struct dsm_request), &d->free_request };
}

static inline struct dsm_pool flight_pool(struct dsm *d)
{
	return (struct dsm_pool){ (char *)flight_at(d, 0),
		sizeof(struct dsm_flight), &d->free_flight };
}

/* All elements are free. */
void pool_init(const struct dsm_pool *pool, u16 count);
/* An element at the end of a queue, or DSM_NIL if all are in use. */
u16 queue_add(struct dsm_queue *q, const struct dsm_pool *pool);
/* The first one of a queue is free again. */
void queue_drop(struct dsm_queue *q, const struct dsm_pool *pool);
void queue_clear(struct dsm_queue *q, const struct dsm_pool *pool);

/* request.c */
bool request_room(const struct dsm *d);
void request_send(struct step *s, u32 page, enum dsm_msg_type type);
void request_repeat(struct step *s, u32 page, u16 to);
void request_take(struct step *s, const struct dsm_msg *m);
void request_serve_queue(struct step *s, u32 page);
void request_drop_queue(struct dsm *d, u32 page);
void owner_learn(struct dsm *d, u32 page, u8 owner, u64 ver);

/* tag.c */
u32 tag_next(struct dsm *d, u32 last);

/* handoff.c */
bool handoff_allowed(const struct dsm_page *p);
bool handoff_passes(const struct dsm_page *p, const struct dsm_msg *m);
void handoff_tell(struct step *s, u32 page, u8 heir);
void gave_take(struct step *s);
void seat_take(struct step *s);

/* probowner.c */
void probowner_note(struct dsm *d, u32 page, u64 ver);
u16 probowner_tell(struct dsm *d, u16 to, u8 *body);
bool probowner_good(const struct dsm *d, const u8 *body, u16 len);
void probowner_take(struct dsm *d, const u8 *body, u16 len);

/* grant.c */
void grant_take(struct step *s);
void invalidate_start(struct step *s, u32 page);
void copy_drop(struct step *s, u32 page);
void inv_take(struct step *s);
void inv_do(struct step *s, u32 page, u8 from, u64 ver);
bool acks_one(struct step *s, enum dsm_state state);
void inv_ack_take(struct step *s);
void acks_done(struct step *s, u32 page);

/* update.c */
bool update_room(struct dsm *d);
void update_stall(struct step *s);
void update_store(struct step *s);
void update_flush(struct step *s);
void update_announce(struct step *s);
u16 update_counts_size(const struct dsm *d);
void update_take(struct step *s);
void clock_forget(struct dsm *d);
u16 update_counts(struct dsm *d, u8 *body);
void flight_apply(struct step *s, u32 page, u8 src, const u8 *counts);
void flight_drop(struct dsm *d, u32 page);

/* order.c */
#define ORDER_LOG_MAX	(DSM_ACTIONS_MAX / 2)
#define ORDER_NONE	(~0ULL)
u64 order_number(const struct dsm *d);
bool order_used(const struct dsm *d);
bool order_room(const struct dsm *d);
void order_store(struct step *s);
void order_take(struct step *s);
void order_retry(struct dsm *d);
bool order_level(struct step *s);
bool order_good(struct step *s, const u8 *count);
void order_ahead(struct step *s, u32 page, const u8 *count);
void order_replay(struct step *s, u32 page, const u8 *count);
void order_caught_up(struct step *s, u32 page);

/* merge.c */
u8 merge_insert(struct dsm *d, u64 seq, u32 page, u16 word, u8 mask);

/* Copies may differ for a while: each node merges what it hears. */
static inline bool merge_used(const struct dsm *d)
{
	return d->cfg.protocol == DSM_WU || d->cfg.protocol == DSM_WUPLUS;
}

/* mode.c */
bool mode_known(u8 protocol, u8 mode);
void mode_start(struct step *s, u32 page, u8 mode);
void mode_take(struct step *s);
void hint_take(struct step *s);

/* evict.c */
void evict_take(struct step *s);
void evict_msg_take(struct step *s);
void evict_finish(struct step *s, u32 page);
void pin_take(struct step *s, bool pin);

/* membership.c */
bool view_same(struct dsm *d, u16 node);
bool view_learn(struct dsm *d, u16 node, u32 life, bool up);
bool view_take(struct step *s);
u16 view_tell(struct dsm *d, u8 *body);

/* recovery.c */
void recover_start(struct step *s);
void recover_join(struct dsm *d);
void recover_msg_take(struct step *s);
void recover_again(struct step *s);
bool recover_ahead(const struct dsm *d, u32 page);

/* assign.c */
void page_report(struct step *s, u32 page);
void page_assign(struct step *s, u32 page);
void fates_take(struct step *s);

#endif /* DSM_ENGINE_H */
