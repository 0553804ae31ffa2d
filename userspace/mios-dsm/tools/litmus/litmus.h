/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A litmus test as a program: threads of small operations on registers and
 * memory, a set of places, and a condition on how it ends.  Filled in by
 * parse.c, run by tso.c (the oracle), by explore.c and by simrun.c.
 */
#ifndef LITMUS_H
#define LITMUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define LIT_THREADS	4
#define LIT_OPS		40
#define LIT_REGS	16
#define LIT_VARS	8
#define LIT_NODES	64	/* of a condition */
#define LIT_OUTCOMES	4096
#define LIT_VALUES	24

enum lit_opcode {
	OP_LOAD,		/* reg = memory */
	OP_STORE,		/* memory = operand */
	OP_RMW,			/* atomically, alu says what */
	OP_FENCE,
	OP_ALU,			/* reg = reg alu operand, sets flags */
	OP_JUMP,		/* if cond, to target */
	OP_SET,			/* reg = flag */
	OP_CMOV,		/* reg = tmp if cond */
};

enum lit_alu {
	ALU_MOV, ALU_ADD, ALU_SUB, ALU_AND, ALU_OR, ALU_XOR, ALU_NEG,
	ALU_NOT, ALU_XCHG, ALU_XADD, ALU_CMPXCHG, ALU_CMP, ALU_TEST,
	ALU_BTS, ALU_BTR, ALU_BTC,
};

enum lit_cond {
	COND_ALWAYS, COND_E, COND_NE, COND_L, COND_LE, COND_G, COND_GE,
	COND_S, COND_NS, COND_C, COND_NC,
};

/* Register LIT_TMP holds what an instruction loads from memory. */
#define LIT_TMP		LIT_REGS

struct lit_op {
	uint8_t code;
	uint8_t alu;
	uint8_t cond;
	uint8_t size;		/* bytes */
	uint8_t reg;		/* destination, and left operand */
	int8_t base, index;	/* memory: registers added, or -1 */
	uint8_t scale;		/* times the index */
	bool imm;		/* operand: value, not register */
	uint8_t src;
	uint8_t target;
	uint8_t end;		/* of the instruction: last of its ops */
	int64_t value;
	int64_t addr;		/* memory: constant part */
};

struct lit_var {
	char name[32];
	uint8_t size;		/* of one element */
	uint16_t count;
	uint64_t init[8];
	uint16_t page, offset;	/* where it lies */
	bool placed;		/* by the file, not by us */
};

enum lit_node_kind { N_TRUE, N_FALSE, N_AND, N_OR, N_NOT, N_IMPLIES,
	N_REG, N_VAR };

struct lit_node {
	uint8_t kind;
	uint8_t thread, reg, size;
	uint8_t var, index;
	uint8_t left, right;
	int other;		/* N_VAR: compare with this variable */
	int64_t value;
};

enum lit_quant { Q_EXISTS, Q_NOT_EXISTS, Q_FORALL };

struct lit_test {
	char name[64];
	bool wide;		/* X86_64: operands source first */
	int threads, vars, nodes;
	int ops[LIT_THREADS];
	struct lit_op op[LIT_THREADS][LIT_OPS];
	uint64_t reg[LIT_THREADS][LIT_REGS];
	uint32_t used[LIT_THREADS];	/* registers written */
	struct lit_var var[LIT_VARS];
	struct lit_node node[LIT_NODES];
	enum lit_quant quant;
	uint8_t root;
	uint8_t filter;		/* what does not meet it is not counted */
	bool same_page;		/* layout in use */
};

/* Variables' addresses: one region each, so that they never collide. */
#define LIT_ADDR(var)	(((uint64_t)(var) + 1) << 16)

struct lit_thread {
	uint8_t pc;
	bool zf, sf, cf, of;
	uint64_t reg[LIT_REGS + 1];
};

/* How a run ended: registers written, then the variables' elements. */
struct lit_outcome {
	uint64_t value[LIT_VALUES];
};

struct lit_set {
	int count;
	bool overflow;
	struct lit_outcome outcome[LIT_OUTCOMES];
};

/* parse.c: zero, or a line on stderr and -1. */
int lit_parse(struct lit_test *t, const char *path);

/* ops.c */
void lit_thread_init(const struct lit_test *t, int thread,
		     struct lit_thread *th);
uint64_t lit_address(const struct lit_op *op, const struct lit_thread *th);
bool lit_op_local(const struct lit_op *op);
/* Does some thread jump back?  It may then go round as often as it likes. */
bool lit_loops(const struct lit_test *t);
void lit_run_local(const struct lit_op *op, struct lit_thread *th);
void lit_reg_write(struct lit_thread *th, int reg, int size, uint64_t v);
uint64_t lit_operand(const struct lit_op *op, const struct lit_thread *th);
/* The new value of a locked instruction's memory; old goes to registers. */
uint64_t lit_rmw(const struct lit_op *op, struct lit_thread *th,
		 uint64_t old, bool *writes);
uint64_t lit_mask(int size);
/* The variable an address belongs to, or -1. */
int lit_find(const struct lit_test *t, uint64_t addr, int size);

/* cond.c */
int lit_values(const struct lit_test *t);
bool lit_counts(const struct lit_test *t, const struct lit_outcome *o);
bool lit_holds(const struct lit_test *t, const struct lit_outcome *o);
void lit_print(FILE *f, const struct lit_test *t,
	       const struct lit_outcome *o);
int lit_slot_reg(const struct lit_test *t, int thread, int reg);
int lit_slot_var(const struct lit_test *t, int var, int index);
bool lit_set_add(struct lit_set *s, const struct lit_outcome *o);
bool lit_set_has(const struct lit_set *s, const struct lit_outcome *o);
bool lit_verdict(const struct lit_test *t, const struct lit_set *s,
		 int *witnesses);
extern const char *const lit_reg_name[LIT_REGS];

/* visited.c: states seen, as 128-bit hashes. */
struct visited {
	uint64_t *slot;
	uint64_t size, count;
};

/*
 * tso.c: every outcome that x86-TSO allows.  Zero, -1 if there are too many,
 * -2 if an address is that of no variable, -3 if a loop has no end.
 */
int lit_oracle(const struct lit_test *t, struct lit_set *allowed,
	       uint64_t *states);

/*
 * How far each thread had come and what there was then.  Dead threads have
 * pc LIT_DEAD and no registers: they stopped anywhere, with the stores that
 * had not left their CPU.
 */
#define LIT_DEAD	0xff

struct lit_cut {
	uint8_t pc[8];
	struct lit_outcome o;
};

struct lit_cuts {
	struct lit_cut *cut;
	struct visited seen;
	int count, room;
	uint32_t dead;		/* threads */
};

/* Every point at which the living may stop; false: out of memory. */
bool lit_oracle_cuts(const struct lit_test *t, uint32_t dead,
		     struct lit_cuts *cuts);
/* Is there one like it in the values that mask names? */
bool lit_cuts_have(const struct lit_cuts *cuts, const struct lit_cut *c,
		   uint32_t mask);
void lit_cuts_free(struct lit_cuts *cuts);

/* visited.c */
int visited_init(struct visited *v);
void visited_free(struct visited *v);
/* 1: new, 0: seen before, -1: out of memory. */
int visited_add(struct visited *v, const void *state, size_t len);

#endif /* LITMUS_H */
