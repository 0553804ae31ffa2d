// SPDX-License-Identifier: GPL-2.0
/*
 * Judging the end of a litmus test.  As long as all nodes live, the outcome
 * must be one that x86-TSO allows.  After a death the dead node's CPUs have
 * stopped somewhere and their last stores are gone, a CPU that touched a
 * page which died with its only holder has stopped there, and such a page
 * has no value: the rest must be what x86-TSO leaves behind at some point at
 * which just these CPUs have come so far.  Called by explore.c, walk.c and
 * sim_litmus.c.
 */
#include <string.h>

#include "judge.h"

void verdict_violated(struct verdict *v, const char *why)
{
	if (v->violated || v->limit)
		return;
	v->violated = true;
	snprintf(v->why, sizeof(v->why), "%s", why);
}

void verdict_limit(struct verdict *v, const char *why)
{
	if (v->violated || v->limit)
		return;
	v->limit = true;
	snprintf(v->why, sizeof(v->why), "%s", why);
}

void verdict_broken(struct verdict *v, const struct world *w)
{
	if (w->limit)
		verdict_limit(v, w->broken);
	else
		verdict_violated(v, w->broken);
}

static void forbidden(struct verdict *out, const struct lit_outcome *o,
		      const char *why)
{
	if (out->violated || out->limit)
		return;
	out->bad = *o;
	out->bad_outcome = true;
	verdict_violated(out, why);
}

/* The values that are still there: registers of the living, held pages. */
static uint32_t values_left(const struct world *w, u8 gone, uint32_t dead)
{
	const struct lit_test *t = w->t;
	uint32_t mask = 0;

	for (int i = 0; i < t->threads; i++)
		for (int r = 0; r < LIT_REGS; r++)
			if (t->used[i] >> r & 1 && !(dead >> i & 1))
				mask |= 1u << lit_slot_reg(t, i, r);
	for (int v = 0; v < t->vars; v++) {
		const struct lit_var *var = &t->var[v];

		for (int k = 0; k < var->count; k++) {
			int first = var->offset + k * var->size;
			int last = first + var->size - 1;

			if (!(gone >> (var->page + first / DSM_PAGE_SIZE) & 1) &&
			    !(gone >> (var->page + last / DSM_PAGE_SIZE) & 1))
				mask |= 1u << lit_slot_var(t, v, k);
		}
	}
	return mask;
}

static bool written_by_somebody(const struct lit_cuts *cuts,
				const struct lit_cut *c, uint32_t mask)
{
	for (int v = 0; v < LIT_VALUES; v++) {
		bool found = !(mask >> v & 1);

		for (int i = 0; i < cuts->count && !found; i++)
			found = cuts->cut[i].o.value[v] == c->o.value[v];
		if (!found)
			return false;
	}
	return true;
}

static void judge_death(struct judge *j, struct world *w, struct world_state *s,
			u8 gone, const struct lit_outcome *o,
			struct verdict *out)
{
	const struct lit_test *t = w->t;
	struct lit_cut c = { .o = *o };
	uint32_t dead = 0, mask;

	for (int i = 0; i < t->threads; i++) {
		if (s->crashed >> w->node_of[i] & 1)
			dead |= 1u << i;
		c.pc[i] = dead >> i & 1 ? LIT_DEAD : s->cpu[i].th.pc;
	}
	if (!j->have[dead]) {
		if (!lit_oracle_cuts(t, dead, &j->cuts[dead])) {
			verdict_limit(out, "out of memory");
			return;
		}
		j->have[dead] = true;
	}
	mask = values_left(w, gone, dead);
	if (w->protocol == DSM_WU || w->protocol == DSM_WUPLUS) {
		/* Updates may have reached some only: see docs/dsm.md. */
		if (!written_by_somebody(&j->cuts[dead], &c, mask))
			forbidden(out, o, "after a death: a value that "
				  "nobody wrote");
		return;
	}
	if (!lit_cuts_have(&j->cuts[dead], &c, mask))
		forbidden(out, o, "after a death: x86-TSO cannot leave this "
			  "behind");
}

/* Who lives has been told of just those pages that nobody holds. */
static void judge_lost(struct world *w, struct world_state *s, u8 gone,
		       struct verdict *out)
{
	for (int n = 0; n < w->nodes; n++)
		if (!(s->dead >> n & 1) && s->lost[n] != gone)
			verdict_violated(out, s->lost[n] & ~gone ?
					 "reported lost, but there" :
					 "lost, but not reported");
}

void judge_end(struct judge *j, struct world *w, struct world_state *s,
	       struct verdict *out)
{
	struct lit_outcome o;
	u8 gone;

	if (!world_over(w, s)) {
		verdict_violated(out, "deadlock: a CPU waits for ever");
		return;
	}
	gone = world_outcome(w, s, &o);
	if (*w->broken) {
		verdict_broken(out, w);
		return;
	}
	judge_lost(w, s, gone, out);
	if (s->crashed) {
		judge_death(j, w, s, gone, &o, out);
		return;
	}
	lit_set_add(j->seen, &o);
	if (!lit_set_has(j->allowed, &o))
		forbidden(out, &o, "outcome forbidden by x86-TSO");
}

void judge_free(struct judge *j)
{
	for (int i = 0; i < 1 << LIT_THREADS; i++)
		if (j->have[i])
			lit_cuts_free(&j->cuts[i]);
	memset(j->have, 0, sizeof(j->have));
}
