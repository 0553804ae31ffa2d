// SPDX-License-Identifier: GPL-2.0
/*
 * The explorer: depth first over all interleavings of CPUs, store buffers
 * and messages, hashing the engines' real state.  Besides outcomes it
 * checks, in every state, one writer or many readers and one owner, and at
 * each end that nothing is stuck and all copies agree.
 */
#include <stdlib.h>
#include <string.h>

#include "explore.h"

#define DEPTH_MAX	2000

struct frame {
	u8 *state;
	int count, next;
	struct world_move move[W_MOVES];
};

struct walk {
	struct world *w;
	struct visited seen;
	struct frame *frame;
	int depth;
	struct judge *judge;
	struct explored *out;
};

/* Version numbers rise, so a livelock never comes back to a state. */
static void too_deep(struct walk *k)
{
	if (lit_loops(k->w->t))
		verdict_limit(&k->out->v,
			      "a loop has not ended after 2000 moves");
	else
		verdict_violated(&k->out->v,
				 "livelock: no end after 2000 moves");
}

/* Nothing has to happen any more: what is spare may yet, or be refused. */
static bool at_end(const struct frame *f)
{
	for (int i = 0; i < f->count; i++)
		if (f->move[i].kind < W_EVICT || f->move[i].kind >= W_TELL)
			return false;
	return true;
}

static int push(struct walk *k, const void *state, size_t size)
{
	struct frame *f = &k->frame[k->depth];
	struct world_state *s;
	int new = visited_add(&k->seen, state, size);

	if (new <= 0)
		return new;
	if (k->depth == DEPTH_MAX - 1) {
		too_deep(k);
		return 0;
	}
	if (!f->state)
		f->state = malloc(W_STATE);
	if (!f->state)
		return -1;
	memset(f->state, 0, W_STATE);
	memcpy(f->state, state, size);
	s = (struct world_state *)f->state;
	f->next = 0;
	f->count = world_moves(k->w, s, f->move, W_MOVES);
	k->depth++;
	if (k->depth > k->out->depth)
		k->out->depth = k->depth;
	if (at_end(f))
		judge_end(k->judge, k->w, s, &k->out->v);
	return 0;
}

static void trace_print(struct walk *k, FILE *f)
{
	for (int i = 0; i < k->depth; i++) {
		struct frame *fr = &k->frame[i];

		if (fr->next)
			world_print(f, k->w, (struct world_state *)fr->state,
				    fr->move[fr->next - 1]);
	}
}

static int descend(struct walk *k, uint64_t limit, u8 *scratch)
{
	struct world_state *s = (struct world_state *)scratch;

	while (k->depth && !k->out->v.violated && !k->out->v.limit) {
		struct frame *f = &k->frame[k->depth - 1];
		struct world_state *top = (struct world_state *)f->state;
		size_t used = world_size(k->w, top);

		if (f->next == f->count) {
			k->depth--;
			continue;
		}
		if (k->seen.count >= limit) {
			k->out->complete = false;
			return 0;
		}
		/* What an earlier move left behind must not be hashed. */
		memcpy(s, top, used);
		memset(scratch + used, 0,
		       8 * sizeof(struct world_msg) < W_STATE - used ?
		       8 * sizeof(struct world_msg) : W_STATE - used);
		k->out->moves++;
		if (!world_move(k->w, s, f->move[f->next++]))
			continue;
		if (*k->w->broken) {
			verdict_broken(&k->out->v, k->w);
			return 0;
		}
		if (push(k, s, world_size(k->w, s)) < 0)
			return -1;
	}
	return 0;
}

int explore(struct world *w, struct judge *j, uint64_t limit, FILE *trace,
	    struct explored *out)
{
	struct walk k = { .w = w, .judge = j, .out = out };
	u8 *scratch = calloc(1, W_STATE);
	int err = -1;

	memset(out, 0, sizeof(*out));
	out->complete = true;
	k.frame = calloc(DEPTH_MAX, sizeof(*k.frame));
	if (!scratch || !k.frame || visited_init(&k.seen)) {
		fprintf(stderr, "mios-dsm: out of memory\n");
		goto free;
	}
	if (world_init(w, (struct world_state *)scratch)) {
		fprintf(stderr, "mios-dsm: %s: %s\n", w->t->name, w->broken);
		goto free;
	}
	if (push(&k, scratch, world_size(w, (void *)scratch)) < 0)
		goto free;
	err = descend(&k, limit, scratch);
	if (out->v.violated && trace)
		trace_print(&k, trace);
	out->states = k.seen.count;
	if (err)
		fprintf(stderr, "mios-dsm: %s: out of memory after %llu states\n",
			w->t->name, (unsigned long long)k.seen.count);
free:
	for (int i = 0; k.frame && i < DEPTH_MAX; i++)
		free(k.frame[i].state);
	free(k.frame);
	visited_free(&k.seen);
	free(scratch);
	return err;
}
