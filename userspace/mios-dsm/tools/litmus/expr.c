// SPDX-License-Identifier: GPL-2.0
/*
 * The condition of a litmus file: exists, ~exists or forall, and a formula
 * of /\, \/, ~, => over registers and variables; before it, what to print
 * and which outcomes to count.  Called by parse.c.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "parse.h"

#define DEPTH	100	/* of brackets and negations, on our stack */

static int expr_implies(struct text *x);
static int expr_atom(struct text *x);

static int node(struct text *x, int kind, int left, int right)
{
	struct lit_test *t = x->t;

	if (left < 0 || right < 0)
		return -1;
	if (t->nodes == LIT_NODES)
		return text_error(x, "condition too long");
	memset(&t->node[t->nodes], 0, sizeof(t->node[0]));
	t->node[t->nodes].kind = kind;
	t->node[t->nodes].left = left;
	t->node[t->nodes].right = right;
	t->node[t->nodes].other = -1;
	return t->nodes++;
}

/* "=" or "==", or their contrary. */
static int relation(struct text *x, bool *not)
{
	*not = text_eat(x, "<>") || text_eat(x, "!=");
	if (*not || text_eat(x, "==") || text_eat(x, "="))
		return 0;
	return text_error(x, "'=' expected");
}

static int atom_register(struct text *x, int thread)
{
	char name[32];
	int at, size, reg;
	int64_t v;
	bool not;

	text_word(x, name, sizeof(name));
	reg = text_register(name, &size);
	if (thread < 0 || thread >= x->t->threads || reg < 0)
		return text_error(x, "no such register: %d:%s", thread, name);
	text_eat(x, "]");
	if (relation(x, &not))
		return -1;
	if (!text_number(x, &v))
		return text_error(x, "number expected");
	at = node(x, N_REG, 0, 0);
	if (at < 0)
		return -1;
	x->t->node[at].thread = thread;
	x->t->node[at].reg = reg;
	x->t->node[at].size = size;
	x->t->node[at].value = v;
	return not ? node(x, N_NOT, at, 0) : at;
}

static int atom_variable(struct text *x, char *name)
{
	struct lit_test *t = x->t;
	int64_t index = 0, v = 0;
	int at, var, other = -1, before = t->vars;
	bool not;

	var = text_var(x, name, 0);
	if (var < 0)
		return -1;
	if (var == before)
		return text_error(x, "no such variable: %s", name);
	if (text_eat(x, "[") && (!text_number(x, &index) ||
				 !text_eat(x, "]")))
		return text_error(x, "index expected");
	if (index < 0 || index >= t->var[var].count)
		return text_error(x, "index outside of %s", name);
	text_eat(x, "]");
	if (relation(x, &not))
		return -1;
	if (!text_number(x, &v)) {
		text_eat(x, "[");
		text_word(x, name, 32);
		other = text_var(x, name, 0);
		text_eat(x, "]");
		if (other < 0 || t->vars > before)
			return text_error(x, "no such value: '%s'", name);
	}
	at = node(x, N_VAR, 0, 0);
	if (at < 0)
		return -1;
	t->node[at].var = var;
	t->node[at].index = index;
	t->node[at].other = other;
	t->node[at].value = v;
	return not ? node(x, N_NOT, at, 0) : at;
}

static int expr_plain(struct text *x)
{
	char word[32];
	int inner;

	if (text_eat(x, "~") || text_eat(x, "not"))
		return node(x, N_NOT, expr_atom(x), 0);
	if (text_eat(x, "(")) {
		inner = expr_implies(x);
		if (inner >= 0 && !text_eat(x, ")"))
			return text_error(x, "')' expected");
		return inner;
	}
	if (text_eat(x, "true"))
		return node(x, N_TRUE, 0, 0);
	if (text_eat(x, "false"))
		return node(x, N_FALSE, 0, 0);
	text_eat(x, "[");
	text_word(x, word, sizeof(word));
	if (isdigit((unsigned char)*word) && text_eat(x, ":"))
		return atom_register(x, atoi(word));
	if (!*word)
		return text_error(x, *x->at ? "condition not understood" :
				  "file ends in the condition");
	return atom_variable(x, word);
}

static int expr_atom(struct text *x)
{
	int at;

	if (x->depth == DEPTH)
		return text_error(x, "condition too deep");
	x->depth++;
	at = expr_plain(x);
	x->depth--;
	return at;
}

static int expr_and(struct text *x)
{
	int left = expr_atom(x);

	while (left >= 0 && text_eat(x, "/\\"))
		left = node(x, N_AND, left, expr_atom(x));
	return left;
}

static int expr_or(struct text *x)
{
	int left = expr_and(x);

	while (left >= 0 && text_eat(x, "\\/"))
		left = node(x, N_OR, left, expr_and(x));
	return left;
}

static int expr_implies(struct text *x)
{
	int left = expr_or(x);

	if (left >= 0 && text_eat(x, "=>"))
		return node(x, N_IMPLIES, left, expr_implies(x));
	return left;
}

/* What to print besides: we always print everything. */
static int locations(struct text *x)
{
	int depth = 0;

	do {
		x->at += strcspn(x->at, "[]");
		depth += *x->at == '[' ? 1 : -1;
	} while (*x->at && x->at++ && depth > 0);
	return depth ? text_error(x, "']' expected") : 0;
}

int expr_parse(struct text *x)
{
	struct lit_test *t = x->t;
	int root = node(x, N_TRUE, 0, 0);

	t->filter = root;
	for (;;) {
		if (text_eat(x, "locations")) {
			if (locations(x))
				return -1;
		} else if (text_eat(x, "filter")) {
			root = expr_implies(x);
			if (root < 0)
				return -1;
			t->filter = root;
		} else {
			break;
		}
	}
	if (text_eat(x, "exists") || text_eat(x, "final"))
		t->quant = Q_EXISTS;
	else if (text_eat(x, "~exists") || text_eat(x, "not exists"))
		t->quant = Q_NOT_EXISTS;
	else if (text_eat(x, "~") && text_eat(x, "exists"))
		t->quant = Q_NOT_EXISTS;
	else if (text_eat(x, "forall"))
		t->quant = Q_FORALL;
	else
		return text_error(x, *x->at ? "condition expected" :
				  "file ends before the condition");
	root = expr_implies(x);
	if (root < 0)
		return -1;
	t->root = root;
	text_space(x);
	if (*x->at)
		return text_error(x, "unexpected '%.20s'", x->at);
	return 0;
}
