/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Our libgomp.so.1: one team, whose members are threads of several processes.
 * What they share lies in the window's runtime area (struct team); what a
 * thread knows of itself is its context, a stack of nested regions.
 */
#ifndef MIOS_GOMP_H
#define MIOS_GOMP_H

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "../libteam/team.h"
#include "task.h"

#define OMP_LEVELS	4		/* that a number of threads is kept for */
#define OMP_MOST_LEVELS	255		/* of regions in a region */
#define SHARES		8		/* work shares that overlap, by nowait */
#define CODES		64		/* regions and tasks that are remembered */

typedef void (*body_fn)(void *data);

/* A loop, as iterations 0 to total - 1; i is start + i * step. */
struct loop {
	uint64_t start, step, total, chunk;
	enum schedule schedule;
	bool ordered;
	uint32_t dimensions;		/* of ordered(n), else 0 */
	const uint64_t *counts;		/* iterations of each */
};

/*
 * A loop, sections or single that the members of a team share.  They meet
 * them in the same order, so the n-th of each thread is the n-th of all; it
 * lies in share n modulo SHARES.  Whoever comes first makes it.
 */
struct share {
	_Atomic uint64_t next;		/* iteration that nobody has taken */
	/* what all read: not where each of them writes */
	_Atomic uint64_t ordered __attribute__((aligned(LINE)));	/* all before it are done */
	_Atomic uint64_t owner;		/* number of the share that is, or was, here */
	_Atomic uint64_t ready;		/* the same, once it is made */
	_Atomic uint64_t done;		/* the same, once all have left it */
	_Atomic uint32_t left;		/* so many have */
	struct loop loop;
	bool adds;			/* ->next may go beyond the end: see loop.c */
	void *copy;			/* of copyprivate */
	void *memory;			/* of the construct, until the next one */
	struct cross *cross;		/* likewise: see cross.c */
	uintptr_t *reductions;		/* of who came first */
} __attribute__((aligned(LINE)));

/* What a construct has besides its iterations; each may be NULL. */
struct extra {
	uintptr_t *reductions;
	void **memory;			/* how many bytes, then where */
};

/* Members meet within their process first; the last one goes on to the rest. */
struct meeting {
	_Atomic uint32_t count, round;
	uint32_t expected;
} __attribute__((aligned(LINE)));

/* What a member is to do; written by the master when it is idle. */
/*
 * How a thread computes: rounding, which exceptions are signals, whether what is
 * very small is zero.  See float_modes.c.
 */
struct float_modes {
	uint32_t mxcsr;
	uint16_t x87;
};

struct mailbox {
	_Atomic uint32_t region;	/* number of the last one given */
	uint32_t size;
	uint64_t shares;
	body_fn fn;
	void *data;
	struct group *group;
	struct context *outer;		/* of its master, if it is of one process */
	_Atomic uint32_t *at_work;	/* its master's */
	struct float_modes modes;	/* of its master */
	struct icvs icvs;
} __attribute__((aligned(LINE)));

/* OMP_* variables; what omp_set_*() makes of some is a task's: struct icvs. */
struct settings {
	uint32_t threads;
	uint32_t inner[OMP_LEVELS];	/* of regions in a region; 0: not said */
	uint32_t limit;			/* of threads at work; 0: none */
	int max_priority;		/* of tasks */
	enum schedule schedule;
	uint64_t chunk;
	int max_active, dynamic;
	bool cancellation, show_affinity;
	bool must_offload, no_offload;	/* OMP_TARGET_OFFLOAD */
	int device;			/* the default one */
	int most_teams, team_limit;	/* what teams would be asked for; 0: not said */
	uintptr_t allocator;
};

struct team {
	_Atomic uint32_t critical, atomic;	/* locks without a name */
	uint32_t size;			/* of the present region */
	bool inner;			/* of one process: see nested.c */
	bool busy;			/* its master is in a region of it */
	bool shows;			/* OMP_DISPLAY_AFFINITY: it is new, or has changed */
	uint32_t begun;			/* how many there have been */
	uint64_t shares_met;		/* in all regions before this one */
	_Atomic uint32_t cancelled, work_cancelled;	/* see cancel.c */
	struct settings settings;
	struct meeting all, joined;
	struct tasks tasks;
	struct meeting places[OMP_MAX_PLACES];
	struct meeting ends[OMP_MAX_PLACES], all_end;	/* of the region */
	_Atomic uint16_t cpus[OMP_MAX_MEMBERS];	/* 1 + that of each: see places.c */
	struct share shares[SHARES];
	struct mailbox members[OMP_MAX_MEMBERS];
};

static_assert(OMP_RUNTIME_AT + sizeof(struct team) <= OMP_DATA_AT, "area");

/* A region that this thread is in; in one of its own it is alone. */
struct context {
	struct context *outer;
	struct team *team;		/* NULL: alone */
	uint32_t number, size, level, active;
	uint32_t region;		/* the team's ->begun of it */
	uint64_t shares;		/* how many it has met */
	_Atomic uint32_t *at_work;	/* where a limit is counted: see team.c */
	_Atomic uint32_t own_at_work;	/* of who is no thread of a region around it */
	struct share *share;		/* the present one */
	uint64_t chunk, chunk_end;	/* of the loop, now at work */
	uint64_t taken;			/* static: chunks */
	struct share own;		/* for who is alone */
	struct task part;		/* of the region */
	struct task *task;		/* at work: that, or one of tasks */
	struct tasks *tasks;		/* of the team, or see tasks_alone() */
};

/* context.c APIs: */
extern struct omp_window *gomp_window;	/* NULL: no team, all are alone */
extern unsigned int gomp_place;
extern __thread struct context *team_context;	/* NULL: a thread that is new here */
struct context *context_create(void);
struct team *gomp_team(void);
void region_enter(struct context *c, struct context *outer, struct team *team,
		  uint32_t number, uint32_t size, struct group *group);
void region_leave(struct context *c, struct context *before);
extern struct settings *settings;	/* the team's, once there is one */
extern _Atomic uintptr_t team_codes[CODES];

/* Before @code is run by other processes: they have it, too. */
static inline void team_demand(const struct team *team, body_fn code)
{
	_Atomic uintptr_t *known = &team_codes[(uintptr_t)code / 16 % CODES];

	if (team->inner || atomic_load_explicit(known, memory_order_relaxed) ==
			   (uintptr_t)code)
		return;
	mios_omp_demand_code(code);
	atomic_store_explicit(known, (uintptr_t)code, memory_order_relaxed);
}

void icvs_first(struct icvs *icvs);

/* By every entry point, so it is no call. */
static inline struct context *context(void)
{
	return team_context ? team_context : context_create();
}

/* Of the task at work. */
static inline struct icvs *icvs(void)
{
	return &context()->task->icvs;
}

/* float_modes.c APIs: */
struct float_modes float_modes(void);
void float_follow(struct float_modes modes);

/* member.c APIs: */
void members_start(void);
void members_work(struct team *team, const struct context *c, body_fn fn,
		  void *data);
void members_end(struct team *team, uint32_t threads);
void member_serve(struct team *team, uint32_t number);

/* team.c APIs: */
uint32_t team_size(unsigned int threads);
void team_lead(bool does);
uint32_t team_run(body_fn fn, body_fn code, void *data, unsigned int threads,
		  struct group *group);

/* once.c APIs: */
void once_start(struct team *team);

/* nested.c APIs: */
struct team *crew_team(uint32_t *size);
void crew_forget(void);

/* places.c APIs: */
void places_start(void);
void place_bind(uint32_t member);
void place_inherit(int place);
void places_say(FILE *out);

/* env.c APIs: */
void settings_complain(const char *name, const char *text);
bool setting_is_true(const char *name);

/* memory.c APIs: */
uintptr_t allocator_of(const char *name);
const char *allocator_name(uintptr_t handle);

/* display.c APIs: */
void display_start(void);

/* say.c APIs: */
const char *affinity_format(void);
void affinity_start(void);

/* sync.c APIs: */
void meet_set(struct team *team, uint32_t size);
bool meet_all(struct team *team, bool may_leave);
void meet_join(struct team *team, bool master);
void GOMP_barrier(void);

/* cancel.c APIs: */
bool tasks_given_up(struct group *group);
void team_restore(struct team *team);

static inline bool tasks_cancelled(struct group *group)
{
	return settings->cancellation && tasks_given_up(group);
}

static inline bool team_cancelled(const struct team *team)
{
	return atomic_load_explicit(&team->cancelled, memory_order_acquire);
}

/* share.c APIs: */
bool share_enter(struct context *c);
void share_made(struct context *c);
void share_begin(struct context *c, const struct loop *loop,
		 const struct extra *extra);
void share_leave(struct context *c);

/* cross.c APIs: */
struct cross *cross_create(const struct loop *loop);

/* reduction.c APIs: */
void reductions_make(uintptr_t *record, const uintptr_t *first,
		     uintptr_t *outer, uint32_t members);
void reductions_add(uintptr_t *record, const uintptr_t *first);
void reductions_none(uintptr_t *record);
void GOMP_taskgroup_reduction_unregister(uintptr_t *record);

/* loop.c APIs: */
void loop_begin(const struct loop *loop, const struct extra *extra);
bool loop_take(uint64_t *first, uint64_t *end);
void loop_end(void);
struct loop loop_signed(long start, long end, long step);
struct loop loop_unsigned(bool up, uint64_t start, uint64_t end, uint64_t step);

#endif /* MIOS_GOMP_H */
