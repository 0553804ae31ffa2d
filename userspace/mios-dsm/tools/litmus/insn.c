// SPDX-License-Identifier: GPL-2.0
/*
 * One cell of a litmus table: an x86 instruction, cut into operations that
 * touch memory at most once.  Called by parse.c.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "parse.h"

enum kind { NONE, IMM, REG, MEM };

struct operand {
	enum kind kind;
	int size;		/* REG: its own; MEM: its variable's, or 0 */
	int reg, index, scale;
	int64_t value;		/* IMM; MEM: constant part of the address */
	int var;		/* MEM: -1 if addressed by register only */
};

struct insn {
	int thread, alu, size;
	bool lock;
	struct operand dst, src;
};

static const struct { const char *name; int alu; } mnemonic[] = {
	{ "mov", ALU_MOV }, { "movnti", ALU_MOV }, { "xor", ALU_XOR },
	{ "or", ALU_OR }, { "and", ALU_AND }, { "add", ALU_ADD },
	{ "sub", ALU_SUB }, { "cmp", ALU_CMP }, { "test", ALU_TEST },
	{ "inc", ALU_ADD }, { "dec", ALU_SUB }, { "neg", ALU_NEG },
	{ "not", ALU_NOT }, { "xchg", ALU_XCHG }, { "xadd", ALU_XADD },
	{ "cmpxchg", ALU_CMPXCHG }, { "bts", ALU_BTS }, { "btr", ALU_BTR },
	{ "btc", ALU_BTC },
};

static const struct { const char *name; int cond; } condition[] = {
	{ "mp", COND_ALWAYS }, { "e", COND_E }, { "z", COND_E },
	{ "ne", COND_NE }, { "nz", COND_NE }, { "l", COND_L },
	{ "lt", COND_L }, { "le", COND_LE }, { "g", COND_G },
	{ "gt", COND_G }, { "ge", COND_GE }, { "s", COND_S },
	{ "ns", COND_NS }, { "c", COND_C }, { "b", COND_C },
	{ "nc", COND_NC }, { "nb", COND_NC }, { "ae", COND_NC },
};

static struct lit_op *emit(struct text *x, int thread, int code, int size)
{
	struct lit_test *t = x->t;
	struct lit_op *op;

	if (t->ops[thread] == LIT_OPS) {
		text_error(x, "P%d has more than %d operations", thread,
			   LIT_OPS);
		return NULL;
	}
	op = &t->op[thread][t->ops[thread]++];
	memset(op, 0, sizeof(*op));
	op->code = code;
	op->size = size;
	op->base = op->index = -1;
	return op;
}

/* ",%rbx,8" behind a base register */
static int operand_index(struct text *x, struct operand *o)
{
	char word[32];
	int64_t scale = 1;
	int size;

	text_word(x, word, sizeof(word));
	o->index = text_register(word, &size);
	if (o->index < 0)
		return text_error(x, "index register expected");
	if (text_eat(x, ",") && !text_number(x, &scale))
		return text_error(x, "scale expected");
	/* Herd's own tests scale by 0. */
	if (scale && scale != 1 && scale != 2 && scale != 4 && scale != 8)
		return text_error(x, "scale must be 1, 2, 4 or 8");
	o->scale = scale;
	return 0;
}

/* "[x]", "(x)", "[x+4]", "4(%rdi)", "[rdi]", "8(%rax,%rbx,4)" */
static int operand_memory(struct text *x, struct operand *o)
{
	char word[32];
	int64_t plus;
	int size;

	o->kind = MEM;
	o->var = -1;
	o->reg = o->index = -1;
	if (!text_eat(x, "[") && !text_eat(x, "("))
		return text_error(x, "operand not understood");
	text_word(x, word, sizeof(word));
	o->reg = text_register(word, &size);
	if (o->reg < 0) {
		o->var = text_var(x, word, 0);
		if (o->var < 0)
			return -1;
		o->value += LIT_ADDR(o->var);
		o->size = x->t->var[o->var].size;
	}
	if (text_eat(x, "+")) {
		if (!text_number(x, &plus))
			return text_error(x, "offset expected");
		o->value += plus;
	}
	if (text_eat(x, ",") && operand_index(x, o))
		return -1;
	if (!text_eat(x, "]") && !text_eat(x, ")"))
		return text_error(x, "address not understood");
	return 0;
}

static int operand(struct text *x, struct operand *o)
{
	char word[32], *at;
	bool dollar;

	memset(o, 0, sizeof(*o));
	text_space(x);
	dollar = text_eat(x, "$");
	if (text_number(x, &o->value)) {
		text_space(x);
		o->kind = IMM;
		if (!dollar && (*x->at == '(' || *x->at == '['))
			return operand_memory(x, o);
		return 0;
	}
	if (*x->at == '[' || *x->at == '(')
		return operand_memory(x, o);
	at = x->at;
	text_word(x, word, sizeof(word));
	o->reg = text_register(word, &o->size);
	if (o->reg < 0) {
		x->at = at;
		return text_error(x, "no such operand: '%s'", word);
	}
	o->kind = REG;
	return 0;
}

static void memory(struct lit_op *op, const struct operand *o)
{
	op->addr = o->value;
	op->base = o->reg;
	op->index = o->index;
	op->scale = o->scale;
}

static void source(struct lit_op *op, const struct operand *o)
{
	op->imm = o->kind == IMM;
	op->value = o->value;
	op->src = o->kind == REG ? o->reg : 0;
}

static int emit_load(struct text *x, const struct insn *in, int reg,
		     const struct operand *from)
{
	struct lit_op *op = emit(x, in->thread, OP_LOAD, in->size);

	if (!op)
		return -1;
	op->reg = reg;
	memory(op, from);
	return 0;
}

static int emit_alu(struct text *x, const struct insn *in, int reg)
{
	struct lit_op *op = emit(x, in->thread, OP_ALU, in->size);

	if (!op)
		return -1;
	op->alu = in->alu;
	op->reg = reg;
	source(op, &in->src);
	if (in->src.kind == MEM)
		op->src = LIT_TMP;
	return 0;
}

static int emit_store(struct text *x, const struct insn *in, int reg)
{
	struct lit_op *op = emit(x, in->thread, OP_STORE, in->size);

	if (!op)
		return -1;
	memory(op, &in->dst);
	if (reg >= 0)
		op->src = reg;
	else
		source(op, &in->src);
	return 0;
}

static int emit_rmw(struct text *x, const struct insn *in)
{
	struct lit_op *op = emit(x, in->thread, OP_RMW, in->size);

	if (!op)
		return -1;
	op->alu = in->alu;
	memory(op, &in->dst);
	source(op, &in->src);
	return 0;
}

static void used(struct text *x, const struct insn *in)
{
	uint32_t *mask = &x->t->used[in->thread];

	if (in->dst.kind == REG && in->alu != ALU_CMP && in->alu != ALU_TEST)
		*mask |= 1u << in->dst.reg;
	if ((in->alu == ALU_XCHG || in->alu == ALU_XADD) &&
	    in->src.kind == REG)
		*mask |= 1u << in->src.reg;
	if (in->alu == ALU_CMPXCHG)
		*mask |= 1;
}

static int emit_insn(struct text *x, const struct insn *in)
{
	bool reads_only = in->alu == ALU_CMP || in->alu == ALU_TEST;
	bool swaps = in->alu == ALU_XCHG || in->alu == ALU_XADD ||
		in->alu == ALU_CMPXCHG;

	used(x, in);
	if (in->dst.kind == MEM && in->src.kind == MEM)
		return text_error(x, "two memory operands");
	if (in->dst.kind == IMM || in->dst.kind == NONE)
		return text_error(x, "no destination");
	if (in->lock && (in->dst.kind != MEM || reads_only ||
			 in->alu == ALU_MOV))
		return text_error(x, "instruction cannot be locked");
	if (in->dst.kind == MEM && (in->lock || in->alu == ALU_XCHG))
		return emit_rmw(x, in);
	if (swaps)
		return text_error(x, "only with lock and memory");
	if (in->alu == ALU_MOV && in->dst.kind == MEM)
		return emit_store(x, in, -1);
	if (in->alu == ALU_MOV && in->src.kind == MEM)
		return emit_load(x, in, in->dst.reg, &in->src);
	if (in->src.kind == MEM)
		return emit_load(x, in, LIT_TMP, &in->src) ||
			emit_alu(x, in, in->dst.reg) ? -1 : 0;
	if (in->dst.kind == REG)
		return emit_alu(x, in, in->dst.reg);
	if (emit_load(x, in, LIT_TMP, &in->dst) ||
	    emit_alu(x, in, LIT_TMP))
		return -1;
	return reads_only ? 0 : emit_store(x, in, LIT_TMP);
}

/* The operand size: suffix, else register, else the variable's. */
static int fit(struct text *x, struct insn *in, int suffix)
{
	struct operand *mem = in->dst.kind == MEM ? &in->dst : &in->src;

	in->size = suffix;
	if (!in->size && in->dst.kind == REG)
		in->size = in->dst.size;
	if (!in->size && in->src.kind == REG)
		in->size = in->src.size;
	if (!in->size && mem->kind == MEM)
		in->size = mem->size;
	if (!in->size)
		in->size = 4;
	if (mem->kind == MEM && mem->var >= 0) {
		const char *name = x->t->var[mem->var].name;
		int end = mem->value - LIT_ADDR(mem->var) + in->size;
		const struct lit_var *v;

		text_var(x, name, end <= 8 ? end : 0);
		v = &x->t->var[mem->var];
		if (end < in->size || end > v->size * v->count)
			return text_error(x, "access outside of %s", name);
	}
	return 0;
}

static int operands(struct text *x, struct insn *in, const char *name,
		    int suffix)
{
	struct operand first, second = { .kind = NONE };
	bool one;

	if (operand(x, &first))
		return -1;
	if (text_eat(x, ",") && operand(x, &second))
		return -1;
	one = second.kind == NONE;
	if (!strcmp(name, "inc") || !strcmp(name, "dec")) {
		second.kind = IMM;
		second.value = 1;
	} else if (in->alu == ALU_NEG || in->alu == ALU_NOT) {
		second.kind = IMM;
	} else if (one) {
		return text_error(x, "'%s' needs two operands", name);
	}
	/* Intel's order, or AT&T's; swaps take memory wherever it is. */
	if (one || (in->alu >= ALU_XCHG && in->alu <= ALU_CMPXCHG ?
		    first.kind == MEM : !x->t->wide)) {
		in->dst = first;
		in->src = second;
	} else {
		in->dst = second;
		in->src = first;
	}
	return fit(x, in, suffix) || emit_insn(x, in) ? -1 : 0;
}

static int branch(struct text *x, int thread, const char *cond)
{
	char name[32];
	struct lit_op *op;

	for (size_t i = 0; i < sizeof(condition) / sizeof(*condition); i++) {
		if (strcmp(cond, condition[i].name))
			continue;
		op = emit(x, thread, OP_JUMP, 8);
		text_word(x, name, sizeof(name));
		if (!op || x->jumps == 32)
			return text_error(x, "too many jumps");
		op->cond = condition[i].cond;
		snprintf(x->jump[x->jumps].name, 32, "%s", name);
		x->jump[x->jumps].thread = thread;
		x->jump[x->jumps++].op = x->t->ops[thread] - 1;
		return 0;
	}
	return text_error(x, "unknown instruction 'j%s'", cond);
}

/* The thread ends here. */
static int finish(struct text *x, int thread)
{
	struct lit_op *op = emit(x, thread, OP_JUMP, 8);

	if (!op || x->jumps == 32)
		return text_error(x, "too many jumps");
	op->cond = COND_ALWAYS;
	x->jump[x->jumps].name[0] = 0;
	x->jump[x->jumps].thread = thread;
	x->jump[x->jumps++].op = x->t->ops[thread] - 1;
	return 0;
}

static int setcc(struct text *x, int thread, const char *cond)
{
	struct operand o;
	struct lit_op *op;

	for (size_t i = 0; i < sizeof(condition) / sizeof(*condition); i++) {
		if (!i || strcmp(cond, condition[i].name))
			continue;
		if (operand(x, &o))
			return -1;
		if (o.kind != REG)
			return text_error(x, "set%s needs a register", cond);
		op = emit(x, thread, OP_SET, 1);
		if (!op)
			return -1;
		op->cond = condition[i].cond;
		op->reg = o.reg;
		x->t->used[thread] |= 1u << o.reg;
		return 0;
	}
	return text_error(x, "unknown instruction 'set%s'", cond);
}

static int known(struct text *x, struct insn *in, const char *word)
{
	static const char suffix[] = "bwlq";

	for (size_t i = 0; i < sizeof(mnemonic) / sizeof(*mnemonic); i++) {
		size_t len = strlen(mnemonic[i].name);
		const char *end = word + len, *s;

		if (strncmp(word, mnemonic[i].name, len))
			continue;
		s = *end ? strchr(suffix, *end) : NULL;
		if (*end && (!s || end[1]))
			continue;
		in->alu = mnemonic[i].alu;
		return operands(x, in, mnemonic[i].name,
				s ? 1 << (s - suffix) : 0);
	}
	return text_error(x, "unknown instruction '%s'", word);
}

static int one_insn(struct text *x, struct insn *in)
{
	char word[32];

	text_word(x, word, sizeof(word));
	for (char *p = word; *p; p++)
		*p = tolower((unsigned char)*p);
	if (!*word)
		return *x->at ? text_error(x, "instruction expected") : 0;
	if (!strcmp(word, "lock")) {
		in->lock = true;
		return one_insn(x, in);
	}
	if (!strcmp(word, "mfence"))
		return emit(x, in->thread, OP_FENCE, 8) ? 0 : -1;
	/* Neither orders anything that x86-TSO does not order already. */
	if (!strcmp(word, "lfence") || !strcmp(word, "sfence") ||
	    !strcmp(word, "endbr64"))
		return 0;
	if (!strcmp(word, "nop") || !strcmp(word, "nopw") ||
	    !strcmp(word, "nopl")) {
		x->at += strlen(x->at);	/* its operand is not used */
		return 0;
	}
	if (!strcmp(word, "ret"))
		return finish(x, in->thread);
	if (*word == 'j')
		return branch(x, in->thread, word + 1);
	if (!strncmp(word, "set", 3))
		return setcc(x, in->thread, word + 3);
	return known(x, in, word);
}

int insn_parse(struct text *x, int thread, char *cell)
{
	struct insn in = { .thread = thread };
	int before = x->t->ops[thread];
	char *colon = strchr(cell, ':');

	x->at = cell;
	if (colon) {
		if (x->labels == 32)
			return text_error(x, "too many labels");
		text_word(x, x->label[x->labels].name, 32);
		for (int l = 0; l < x->labels; l++)
			if (x->label[l].thread == thread &&
			    !strcmp(x->label[l].name,
				    x->label[x->labels].name))
				return text_error(x, "label '%s' twice",
						  x->label[l].name);
		x->label[x->labels].thread = thread;
		x->label[x->labels++].op = before;
		x->at = colon + 1;
	}
	if (one_insn(x, &in))
		return -1;
	text_space(x);
	if (*x->at)
		return text_error(x, "unexpected '%.20s'", x->at);
	if (x->t->ops[thread] > before)
		x->t->op[thread][x->t->ops[thread] - 1].end = 1;
	return 0;
}

/* All rows are read: jumps find their labels. */
int insn_finish(struct text *x)
{
	for (int j = 0; j < x->jumps; j++) {
		int l = 0;

		if (!*x->jump[j].name) {
			x->t->op[x->jump[j].thread][x->jump[j].op].target =
				x->t->ops[x->jump[j].thread];
			continue;
		}
		while (l < x->labels &&
		       (strcmp(x->label[l].name, x->jump[j].name) ||
			x->label[l].thread != x->jump[j].thread))
			l++;
		if (l == x->labels)
			return text_error(x, "no label '%s'",
					  x->jump[j].name);
		x->t->op[x->jump[j].thread][x->jump[j].op].target =
			x->label[l].op;
	}
	return 0;
}
