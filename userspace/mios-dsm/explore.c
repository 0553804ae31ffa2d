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

#define MOVES_MAX	64
#define DEPTH_MAX	2000

struct frame {
	u8 *state;
	int count, next;
	struct wmove move[MOVES_MAX];
};

struct walk {
	struct world *w;
	struct visited seen;
	struct frame *frame;
	int depth;
	const struct lit_set *allowed;
	struct lit_set *outcomes;
	struct explored *out;
};

static void violated(struct walk *k, const char *why)
{
	k->out->violated = true;
	snprintf(k->out->why, sizeof(k->out->why), "%s", why);
}

/* No move is left: a proper end, or stuck. */
static void ended(struct walk *k, struct wstate *s)
{
	struct lit_outcome o;

	if (!world_over(k->w, s)) {
		violated(k, "deadlock: a CPU waits for ever");
		return;
	}
	world_outcome(k->w, s, &o);
	if (*k->w->broken) {
		violated(k, k->w->broken);
		return;
	}
	/* A death may take data with it: only safety is judged then. */
	if (s->dead)
		return;
	lit_set_add(k->outcomes, &o);
	if (!lit_set_has(k->allowed, &o)) {
		k->out->bad = o;
		k->out->bad_outcome = true;
		violated(k, "outcome forbidden by x86-TSO");
	}
}

static int push(struct walk *k, const void *state, size_t size)
{
	struct frame *f = &k->frame[k->depth];
	struct wstate *s;
	int new = visited_add(&k->seen, state, size);

	if (new <= 0)
		return new;
	if (k->depth == DEPTH_MAX - 1) {
		violated(k, "livelock: no end after 2000 moves");
		return 0;
	}
	if (!f->state)
		f->state = malloc(W_STATE);
	if (!f->state)
		return -1;
	memset(f->state, 0, W_STATE);
	memcpy(f->state, state, size);
	s = (struct wstate *)f->state;
	f->next = 0;
	f->count = world_moves(k->w, s, f->move, MOVES_MAX);
	k->depth++;
	if (k->depth > k->out->depth)
		k->out->depth = k->depth;
	if (!f->count)
		ended(k, s);
	else if (f->count == MOVES_MAX)
		return -1;
	return 0;
}

static void trace_print(struct walk *k, FILE *f)
{
	for (int i = 0; i < k->depth; i++) {
		struct frame *fr = &k->frame[i];

		if (fr->next)
			world_print(f, k->w, (struct wstate *)fr->state,
				    fr->move[fr->next - 1]);
	}
}

static int descend(struct walk *k, uint64_t limit, u8 *scratch)
{
	struct wstate *s = (struct wstate *)scratch;

	while (k->depth && !k->out->violated) {
		struct frame *f = &k->frame[k->depth - 1];
		struct wstate *top = (struct wstate *)f->state;
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
		memset(scratch + used, 0, 8 * sizeof(struct wmsg) < W_STATE -
		       used ? 8 * sizeof(struct wmsg) : W_STATE - used);
		k->out->moves++;
		if (!world_move(k->w, s, f->move[f->next++]))
			continue;
		if (*k->w->broken) {
			violated(k, k->w->broken);
			return 0;
		}
		if (push(k, s, world_size(k->w, s)) < 0)
			return -1;
	}
	return 0;
}

int explore(struct world *w, const struct lit_set *allowed,
	    struct lit_set *seen, uint64_t limit, FILE *trace,
	    struct explored *out)
{
	struct walk k = { .w = w, .allowed = allowed, .outcomes = seen,
			  .out = out };
	u8 *scratch = calloc(1, W_STATE);
	int err = -1;

	memset(out, 0, sizeof(*out));
	out->complete = true;
	k.frame = calloc(DEPTH_MAX, sizeof(*k.frame));
	if (!scratch || !k.frame || visited_init(&k.seen))
		goto free;
	if (world_init(w, (struct wstate *)scratch)) {
		fprintf(stderr, "mios-dsm: %s\n", w->broken);
		goto free;
	}
	if (push(&k, scratch, world_size(w, (void *)scratch)) < 0)
		goto free;
	err = descend(&k, limit, scratch);
	if (out->violated && trace)
		trace_print(&k, trace);
	out->states = k.seen.count;
	if (err)
		fprintf(stderr, "mios-dsm: out of memory\n");
free:
	for (int i = 0; k.frame && i < DEPTH_MAX; i++)
		free(k.frame[i].state);
	free(k.frame);
	visited_free(&k.seen);
	free(scratch);
	return err;
}
