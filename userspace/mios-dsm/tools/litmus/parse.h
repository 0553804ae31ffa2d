/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The text of a litmus file while it is read: shared by parse.c (the file's
 * sections), insn.c (the instructions) and expr.c (the condition).
 */
#ifndef PARSE_H
#define PARSE_H

#include "litmus.h"

struct text {
	const char *path;
	char *all;		/* comments blanked out */
	char *at;
	struct lit_test *t;
	bool declared[LIT_VARS];
	bool failed;
	/* Labels of the thread in hand, and jumps to them. */
	struct { char name[32]; int thread, op; } label[32], jump[32];
	int labels, jumps;
	int depth;		/* of the condition in hand */
};

/* Prints "file:line: what" once; always returns -1. */
int text_error(struct text *x, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void text_space(struct text *x);
bool text_eat(struct text *x, const char *what);
/* A name or number at the cursor, empty if there is none. */
void text_word(struct text *x, char *out, size_t size);
bool text_number(struct text *x, int64_t *value);
int text_register(const char *name, int *size);
int text_var(struct text *x, const char *name, int size);

int insn_parse(struct text *x, int thread, char *cell);
int insn_finish(struct text *x);
int expr_parse(struct text *x);

#endif /* PARSE_H */
