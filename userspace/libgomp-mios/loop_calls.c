// SPDX-License-Identifier: GPL-2.0
/*
 * The entry points of loops, by schedule, kind and sign: what the compiler
 * calls.  Each fills in a struct loop and hands on to the others.
 */
#include "api.h"
#include "gomp.h"

static struct loop with(struct loop plain, enum schedule schedule,
			uint64_t chunk, bool ordered)
{
	struct loop loop = plain;

	loop.schedule = schedule;
	loop.chunk = chunk;
	loop.ordered = ordered;
	return loop;
}

/* A schedule that only OMP_SCHEDULE and omp_set_schedule() know. */
static struct loop at_run_time(struct loop loop, bool ordered)
{
	const struct icvs *own = icvs();

	return with(loop, own->schedule == AUTO ? STATIC : own->schedule,
		    own->chunk, ordered);
}

static bool begin(struct loop loop, uint64_t *first, uint64_t *end)
{
	loop_begin(&loop, NULL);
	return loop_take(first, end);
}

/* As the compiler has it, with a bit for "monotonic"; ours are from 1 on. */
static struct loop by_number(struct loop loop, long number, uint64_t chunk,
			     bool ordered)
{
	number &= ~0x80000000l;
	if (!number)
		return at_run_time(loop, ordered);
	return with(loop, number == AUTO ? STATIC : number, chunk, ordered);
}

/* The compiler counts static iterations itself: then @first is NULL. */
static bool begin_extra(struct loop loop, uint64_t *first, uint64_t *end,
			uintptr_t *reductions, void **memory)
{
	struct extra extra = { reductions, memory };

	loop_begin(&loop, &extra);
	return !first || loop_take(first, end);
}

#define LOOP_EXTRA(KIND, ORDERED)					\
bool GOMP_loop_##KIND##start(long start, long stop, long step,		\
			     long schedule, long chunk, long *first,	\
			     long *end, uintptr_t *reductions,		\
			     void **memory)				\
{									\
	return begin_extra(by_number(loop_signed(start, stop, step),	\
				     schedule, chunk, ORDERED),		\
			   (uint64_t *)first, (uint64_t *)end,		\
			   reductions, memory);				\
}									\
bool GOMP_loop_ull_##KIND##start(bool up, uint64_t start,		\
				 uint64_t stop, uint64_t step,		\
				 long schedule, uint64_t chunk,		\
				 uint64_t *first, uint64_t *end,	\
				 uintptr_t *reductions, void **memory)	\
{									\
	return begin_extra(by_number(loop_unsigned(up, start, stop, step),\
				     schedule, chunk, ORDERED),		\
			   first, end, reductions, memory);		\
}

LOOP_EXTRA(, false)
LOOP_EXTRA(ordered_, true)

/* ordered(n): the compiler counts from 0, of the outermost loop are shared. */
static struct loop crossed(uint32_t dimensions, const uint64_t *counts)
{
	struct loop loop = loop_unsigned(true, 0, counts[0], 1);

	loop.dimensions = dimensions;
	loop.counts = counts;
	return loop;
}

static bool begin_crossed(struct loop loop, uint64_t *first, uint64_t *end)
{
	return begin_extra(loop, first, end, NULL, NULL);
}

/* What is long in one and unsigned in the other is the same to us. */
#define CROSSED(KIND, SCHEDULE)						\
bool GOMP_loop_##KIND##_start(unsigned int n, uint64_t *counts,	\
			      uint64_t chunk, uint64_t *first,		\
			      uint64_t *end)				\
{									\
	return begin_crossed(with(crossed(n, counts), SCHEDULE, chunk,	\
				  false), first, end);			\
}

#define CROSSED_ANY(KIND)						\
CROSSED(KIND##_static, STATIC)						\
CROSSED(KIND##_dynamic, DYNAMIC)					\
CROSSED(KIND##_guided, GUIDED)						\
bool GOMP_loop_##KIND##_runtime_start(unsigned int n, uint64_t *counts,	\
				      uint64_t *first, uint64_t *end)	\
{									\
	return begin_crossed(at_run_time(crossed(n, counts), false),	\
			     first, end);				\
}									\
bool GOMP_loop_##KIND##_start(unsigned int n, uint64_t *counts,	\
			      long schedule, uint64_t chunk,		\
			      uint64_t *first, uint64_t *end,		\
			      uintptr_t *reductions, void **memory)	\
{									\
	return begin_extra(by_number(crossed(n, counts), schedule,	\
				     chunk, false), first, end,		\
			   reductions, memory);				\
}

CROSSED_ANY(doacross)
CROSSED_ANY(ull_doacross)

/* @KIND: the name's part; the step of a loop down is negative in both. */
#define LOOP_NEXT(KIND)							\
bool GOMP_loop_##KIND##_next(long *first, long *end)			\
{									\
	return loop_take((uint64_t *)first, (uint64_t *)end);		\
}									\
bool GOMP_loop_ull_##KIND##_next(uint64_t *first, uint64_t *end)	\
{									\
	return loop_take(first, end);					\
}

#define LOOP(KIND, SCHEDULE, ORDERED)					\
bool GOMP_loop_##KIND##_start(long start, long stop, long step,	\
			      long chunk, long *first, long *end)	\
{									\
	return begin(with(loop_signed(start, stop, step), SCHEDULE,	\
			  chunk, ORDERED), (uint64_t *)first,		\
		     (uint64_t *)end);					\
}									\
bool GOMP_loop_ull_##KIND##_start(bool up, uint64_t start,		\
				  uint64_t stop, uint64_t step,		\
				  uint64_t chunk, uint64_t *first,	\
				  uint64_t *end)			\
{									\
	return begin(with(loop_unsigned(up, start, stop, step),		\
			  SCHEDULE, chunk, ORDERED), first, end);	\
}									\
LOOP_NEXT(KIND)

LOOP(static, STATIC, false)
LOOP(dynamic, DYNAMIC, false)
LOOP(guided, GUIDED, false)
LOOP(nonmonotonic_dynamic, DYNAMIC, false)
LOOP(nonmonotonic_guided, GUIDED, false)
LOOP(ordered_static, STATIC, true)
LOOP(ordered_dynamic, DYNAMIC, true)
LOOP(ordered_guided, GUIDED, true)

#define LOOP_RUNTIME(KIND, ORDERED)					\
bool GOMP_loop_##KIND##_start(long start, long stop, long step,	\
			      long *first, long *end)			\
{									\
	return begin(at_run_time(loop_signed(start, stop, step),	\
				 ORDERED), (uint64_t *)first,		\
		     (uint64_t *)end);					\
}									\
bool GOMP_loop_ull_##KIND##_start(bool up, uint64_t start,		\
				  uint64_t stop, uint64_t step,		\
				  uint64_t *first, uint64_t *end)	\
{									\
	return begin(at_run_time(loop_unsigned(up, start, stop, step),	\
				 ORDERED), first, end);			\
}									\
LOOP_NEXT(KIND)

LOOP_RUNTIME(runtime, false)
LOOP_RUNTIME(nonmonotonic_runtime, false)
LOOP_RUNTIME(maybe_nonmonotonic_runtime, false)
LOOP_RUNTIME(ordered_runtime, true)

void GOMP_loop_end_nowait(void)
{
	loop_end();
}

void GOMP_loop_end(void)
{
	loop_end();
	GOMP_barrier();
}

/* A region that is one loop: every member begins with that loop. */
struct region {
	struct loop loop;
	body_fn fn;
	void *data;
};

static void run_region(void *p)
{
	const struct region *r = p;

	loop_begin(&r->loop, NULL);
	r->fn(r->data);
}

static void run_loop(body_fn fn, void *data, unsigned int threads,
		     struct loop loop)
{
	struct region r = { loop, fn, data };

	team_run(run_region, fn, &r, threads, NULL);
}

#define PARALLEL_LOOP(KIND, SCHEDULE)					\
void GOMP_parallel_loop_##KIND(body_fn fn, void *data,			\
			       unsigned int threads, long start,	\
			       long stop, long step, long chunk,	\
			       unsigned int flags)			\
{									\
	run_loop(fn, data, threads,					\
		 with(loop_signed(start, stop, step), SCHEDULE, chunk,	\
		      false));						\
}

PARALLEL_LOOP(static, STATIC)
PARALLEL_LOOP(dynamic, DYNAMIC)
PARALLEL_LOOP(guided, GUIDED)
PARALLEL_LOOP(nonmonotonic_dynamic, DYNAMIC)
PARALLEL_LOOP(nonmonotonic_guided, GUIDED)

#define PARALLEL_RUNTIME(KIND)						\
void GOMP_parallel_loop_##KIND(body_fn fn, void *data,			\
			       unsigned int threads, long start,	\
			       long stop, long step, unsigned int flags)\
{									\
	run_loop(fn, data, threads,					\
		 at_run_time(loop_signed(start, stop, step), false));	\
}

PARALLEL_RUNTIME(runtime)
PARALLEL_RUNTIME(nonmonotonic_runtime)
PARALLEL_RUNTIME(maybe_nonmonotonic_runtime)

/* Sections are iterations 1 to count, one at a time; 0 is the end. */
static struct loop sections(unsigned int count)
{
	return with(loop_signed(1, count + 1l, 1), DYNAMIC, 1, false);
}

unsigned int GOMP_sections_next(void)
{
	uint64_t first, end;

	return loop_take(&first, &end) ? first : 0;
}

unsigned int GOMP_sections_start(unsigned int count)
{
	struct loop loop = sections(count);

	loop_begin(&loop, NULL);
	return GOMP_sections_next();
}

unsigned int GOMP_sections2_start(unsigned int count, uintptr_t *reductions,
				  void **memory)
{
	struct extra extra = { reductions, memory };
	struct loop loop = sections(count);

	loop_begin(&loop, &extra);
	return GOMP_sections_next();
}

void GOMP_parallel_sections(body_fn fn, void *data, unsigned int threads,
			    unsigned int count, unsigned int flags)
{
	run_loop(fn, data, threads, sections(count));
}

void GOMP_sections_end(void)
{
	GOMP_loop_end();
}

void GOMP_sections_end_nowait(void)
{
	GOMP_loop_end_nowait();
}

bool GOMP_loop_end_cancel(void)
{
	loop_end();
	return GOMP_barrier_cancel();
}

bool GOMP_sections_end_cancel(void)
{
	return GOMP_loop_end_cancel();
}
