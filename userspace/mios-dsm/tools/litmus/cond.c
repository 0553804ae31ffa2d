// SPDX-License-Identifier: GPL-2.0
/*
 * Outcomes of a litmus test: where each value has its place in the record,
 * sets of them, and whether the test's condition holds.  Used by the oracle
 * and by everything that runs tests.
 */
#include <string.h>

#include "litmus.h"

const char *const lit_reg_name[LIT_REGS] = {
	"rax", "rbx", "rcx", "rdx", "rsi", "rdi", "rbp", "rsp",
	"r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15",
};

int lit_slot_reg(const struct lit_test *t, int thread, int reg)
{
	int slot = 0;

	for (int i = 0; i < thread; i++)
		slot += __builtin_popcount(t->used[i]);
	return slot + __builtin_popcount(t->used[thread] & ((1u << reg) - 1));
}

int lit_slot_var(const struct lit_test *t, int var, int index)
{
	int slot = 0;

	for (int i = 0; i < t->threads; i++)
		slot += __builtin_popcount(t->used[i]);
	for (int v = 0; v < var; v++)
		slot += t->var[v].count;
	return slot + index;
}

int lit_values(const struct lit_test *t)
{
	return lit_slot_var(t, t->vars, 0);
}

bool lit_set_has(const struct lit_set *s, const struct lit_outcome *o)
{
	for (int i = 0; i < s->count; i++)
		if (!memcmp(&s->outcome[i], o, sizeof(*o)))
			return true;
	return false;
}

bool lit_set_add(struct lit_set *s, const struct lit_outcome *o)
{
	if (lit_set_has(s, o))
		return true;
	if (s->count == LIT_OUTCOMES) {
		s->overflow = true;
		return false;
	}
	s->outcome[s->count++] = *o;
	return true;
}

static bool same(uint64_t a, int64_t b, int size)
{
	return (a & lit_mask(size)) == ((uint64_t)b & lit_mask(size));
}

static bool holds(const struct lit_test *t, const struct lit_outcome *o,
		  int at)
{
	const struct lit_node *n = &t->node[at];
	uint64_t v;

	switch (n->kind) {
	case N_TRUE:
		return true;
	case N_AND:
		return holds(t, o, n->left) && holds(t, o, n->right);
	case N_OR:
		return holds(t, o, n->left) || holds(t, o, n->right);
	case N_NOT:
		return !holds(t, o, n->left);
	case N_IMPLIES:
		return !holds(t, o, n->left) || holds(t, o, n->right);
	case N_REG:
		v = t->used[n->thread] >> n->reg & 1 ?
			o->value[lit_slot_reg(t, n->thread, n->reg)] :
			t->reg[n->thread][n->reg];
		return same(v, n->value, n->size);
	case N_VAR:
		v = o->value[lit_slot_var(t, n->var, n->index)];
		if (n->other >= 0)
			return v == o->value[lit_slot_var(t, n->other, 0)];
		return same(v, n->value, t->var[n->var].size);
	default:
		return false;
	}
}

bool lit_counts(const struct lit_test *t, const struct lit_outcome *o)
{
	return holds(t, o, t->filter);
}

bool lit_holds(const struct lit_test *t, const struct lit_outcome *o)
{
	return holds(t, o, t->root);
}

bool lit_verdict(const struct lit_test *t, const struct lit_set *s,
		 int *witnesses)
{
	int all = 0;

	*witnesses = 0;
	for (int i = 0; i < s->count; i++) {
		if (!lit_counts(t, &s->outcome[i]))
			continue;
		*witnesses += lit_holds(t, &s->outcome[i]);
		all++;
	}
	if (t->quant == Q_EXISTS)
		return *witnesses > 0;
	if (t->quant == Q_NOT_EXISTS)
		return *witnesses == 0;
	return *witnesses == all;
}

void lit_print(FILE *f, const struct lit_test *t,
	       const struct lit_outcome *o)
{
	for (int i = 0; i < t->threads; i++)
		for (int r = 0; r < LIT_REGS; r++)
			if (t->used[i] >> r & 1)
				fprintf(f, "%d:%s=%lld; ", i,
					lit_reg_name[r], (long long)
					o->value[lit_slot_reg(t, i, r)]);
	for (int v = 0; v < t->vars; v++) {
		for (int k = 0; k < t->var[v].count; k++) {
			fprintf(f, "%s", t->var[v].name);
			if (t->var[v].count > 1)
				fprintf(f, "[%d]", k);
			fprintf(f, "=%lld; ", (long long)
				o->value[lit_slot_var(t, v, k)]);
		}
	}
}
