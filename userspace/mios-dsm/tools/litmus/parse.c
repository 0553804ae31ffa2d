// SPDX-License-Identifier: GPL-2.0
/*
 * Reads a litmus file as herd and litmus7 accept it, for X86 (destination
 * first) and X86_64 (source first): header, initial state, table of
 * instructions, condition.  One comment is ours: (* dsm: x at 1:4092 *)
 * puts x on page 1 at offset 4092, so that a test can cross pages.
 */
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "../../../../mios/dsm/dsm.h"
#include "parse.h"

int text_error(struct text *x, const char *fmt, ...)
{
	char what[200];
	va_list ap;
	int line = 1;

	if (x->failed)
		return -1;
	x->failed = true;
	for (char *p = x->all; p && p < x->at; p++)
		line += *p == '\n';
	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	/* What it quotes may be anything: one line, and printable. */
	for (char *p = what; *p; p++)
		if (!isprint((unsigned char)*p))
			*p = ' ';
	fprintf(stderr, "mios-dsm: %s:%d: %s\n", x->path, line, what);
	return -1;
}

void text_space(struct text *x)
{
	while (isspace((unsigned char)*x->at))
		x->at++;
}

bool text_eat(struct text *x, const char *what)
{
	size_t len = strlen(what);

	text_space(x);
	if (strncmp(x->at, what, len))
		return false;
	/* A keyword must not be the start of a longer name. */
	if (isalpha((unsigned char)*what) &&
	    (isalnum((unsigned char)x->at[len]) || x->at[len] == '_'))
		return false;
	x->at += len;
	return true;
}

void text_word(struct text *x, char *out, size_t size)
{
	size_t n = 0;

	text_space(x);
	while (isalnum((unsigned char)*x->at) || *x->at == '_' ||
	       *x->at == '.' || *x->at == '%') {
		if (n + 1 < size)
			out[n++] = *x->at;
		x->at++;
	}
	out[n] = 0;
}

bool text_number(struct text *x, int64_t *value)
{
	char *end;

	text_space(x);
	if (!isdigit((unsigned char)*x->at) &&
	    !(*x->at == '-' && isdigit((unsigned char)x->at[1])))
		return false;
	errno = 0;
	*value = *x->at == '-' ? strtoll(x->at, &end, 0) :
		(int64_t)strtoull(x->at, &end, 0);
	if (errno)
		text_error(x, "number too large");
	x->at = end;
	return true;
}

int text_register(const char *name, int *size)
{
	static const char two[8][3] = { "ax", "bx", "cx", "dx",
					"si", "di", "bp", "sp" };
	char low[8] = "";

	if (*name == '%')
		name++;
	for (int i = 0; name[i] && i < 7; i++)
		low[i] = tolower((unsigned char)name[i]);
	for (int r = 0; r < 8; r++) {
		char byte[4] = { two[r][0], 'l', 0 };
		bool wide = strlen(low) == 3;

		*size = wide && low[0] == 'r' ? 8 : 4;
		if (wide && (low[0] == 'r' || low[0] == 'e') &&
		    !strcmp(low + 1, two[r]))
			return r;
		*size = 2;
		if (!strcmp(low, two[r]))
			return r;
		*size = 1;
		if (r < 4 && !strcmp(low, byte))
			return r;
	}
	for (int r = 8; r < LIT_REGS; r++) {
		static const char *const end[] = { "", "d", "w", "b" };

		for (int k = 0; k < 4; k++) {
			char full[8];

			snprintf(full, sizeof(full), "r%d%s", r, end[k]);
			*size = 8 >> k;
			if (!strcmp(low, full))
				return r;
		}
	}
	return -1;
}

/* The variable of that name, made if new; size is what an access needs. */
int text_var(struct text *x, const char *name, int size)
{
	struct lit_test *t = x->t;
	struct lit_var *v;
	int i;

	for (i = 0; i < t->vars; i++)
		if (!strcmp(t->var[i].name, name))
			break;
	if (i == LIT_VARS)
		return text_error(x, "more than %d variables", LIT_VARS);
	v = &t->var[i];
	if (i == t->vars) {
		if (!isalpha((unsigned char)*name) && *name != '_')
			return text_error(x, "not a name: '%s'", name);
		t->vars++;
		snprintf(v->name, sizeof(v->name), "%s", name);
		v->size = 4;
		v->count = 1;
	}
	if (!x->declared[i] && size > v->size)
		v->size = size;
	return i;
}

/* "x at 1:4092" */
static int directive(struct text *x, char *what)
{
	char name[32];
	unsigned int page, offset;
	int v;

	if (sscanf(what, " %31s at %u:%u", name, &page, &offset) != 3 ||
	    page > 3 || offset > 4095)
		return text_error(x, "bad directive 'dsm:%.40s'", what);
	v = text_var(x, name, 0);
	if (v < 0)
		return -1;
	x->t->var[v].page = page;
	x->t->var[v].offset = offset;
	x->t->var[v].placed = true;
	return 0;
}

/* Blanks out (* comments *), nested, minding our own directives. */
static int comments(struct text *x)
{
	char *start = NULL;
	int depth = 0;

	for (char *p = x->all; *p; p++) {
		if (p[0] == '(' && p[1] == '*' && !depth++)
			start = p;
		if (!depth)
			continue;
		if (p[0] == '*' && p[1] == ')' && p > start + 1 && !--depth) {
			*p = 0;
			x->at = start;
			start += 2;
			start += strspn(start, " \t");
			if (!strncmp(start, "dsm:", 4) &&
			    directive(x, start + 4))
				return -1;
			*p = ' ';
			p[1] = ' ';
			for (char *q = x->at; q < p; q++)
				if (*q != '\n')
					*q = ' ';
		}
	}
	x->at = start ? start : x->all;
	return depth ? text_error(x, "comment not closed") : 0;
}

static int header(struct text *x)
{
	char arch[16];

	x->at = x->all;
	text_word(x, arch, sizeof(arch));
	if (!strcmp(arch, "X86_64"))
		x->t->wide = true;
	else if (strcmp(arch, "X86"))
		return text_error(x, "not an X86 or X86_64 litmus file");
	while (*x->at == ' ' || *x->at == '\t')
		x->at++;
	for (size_t n = 0; *x->at && !isspace((unsigned char)*x->at) &&
	     n + 1 < sizeof(x->t->name); x->at++)
		x->t->name[n++] = *x->at;
	/* Comments on the test: a string, lines with key=value. */
	x->at += strcspn(x->at, "{");
	if (!text_eat(x, "{"))
		return text_error(x, "no initial state: '{' expected");
	return 0;
}

static int type_size(const char *word)
{
	static const struct { const char *name; int size; } type[] = {
		{ "int8_t", 1 }, { "uint8_t", 1 }, { "char", 1 },
		{ "int16_t", 2 }, { "uint16_t", 2 }, { "short", 2 },
		{ "int32_t", 4 }, { "uint32_t", 4 }, { "int", 4 },
		{ "int64_t", 8 }, { "uint64_t", 8 }, { "long", 8 },
	};

	for (size_t i = 0; i < sizeof(type) / sizeof(*type); i++)
		if (!strcmp(word, type[i].name))
			return type[i].size;
	return 0;
}

static int init_register(struct text *x, int thread)
{
	char name[32];
	int64_t v;
	int reg, size, var;

	text_word(x, name, sizeof(name));
	reg = text_register(name, &size);
	if (thread < 0 || thread >= LIT_THREADS || reg < 0)
		return text_error(x, "no such register: %d:%s", thread, name);
	if (!text_eat(x, "="))
		return 0;
	if (!text_number(x, &v)) {
		text_eat(x, "&");
		text_word(x, name, sizeof(name));
		var = text_var(x, name, 0);
		if (var < 0)
			return -1;
		v = LIT_ADDR(var);
	}
	x->t->reg[thread][reg] = v;
	return 0;
}

static int init_values(struct text *x, struct lit_var *v)
{
	int64_t value;
	bool list = text_eat(x, "{");

	for (int i = 0; i < v->count; i++) {
		if (i && !text_eat(x, ","))
			return text_error(x, "%d values expected", v->count);
		if (!text_number(x, &value))
			return text_error(x, "number expected");
		v->init[i] = value & lit_mask(v->size);
		if (!list)
			break;
	}
	if (list && !text_eat(x, "}"))
		return text_error(x, "'}' expected");
	return 0;
}

static int init_one(struct text *x)
{
	char word[32];
	struct lit_var *v;
	int64_t n;
	int i, size = 0;
	bool bracket;

	text_space(x);
	text_word(x, word, sizeof(word));
	if (type_size(word)) {
		size = type_size(word);
		text_eat(x, "*");
		text_word(x, word, sizeof(word));
	}
	if (isdigit((unsigned char)*word) && text_eat(x, ":"))
		return init_register(x, atoi(word));
	bracket = !*word && text_eat(x, "[");
	if (bracket)
		text_word(x, word, sizeof(word));
	if (!*word)
		return text_error(x, "initial state not understood");
	i = text_var(x, word, size);
	if (i < 0)
		return -1;
	v = &x->t->var[i];
	if (size) {
		v->size = size;
		x->declared[i] = true;
	}
	if (bracket && !text_eat(x, "]"))
		return text_error(x, "']' expected");
	if (!bracket && text_eat(x, "[")) {
		if (!text_number(x, &n) || n < 1 || n > 8 ||
		    !text_eat(x, "]"))
			return text_error(x, "bad array size");
		v->count = n;
	}
	return text_eat(x, "=") ? init_values(x, v) : 0;
}

static int init_section(struct text *x)
{
	while (!text_eat(x, "}")) {
		if (text_eat(x, ";"))
			continue;
		if (!*x->at)
			return text_error(x, "file ends in initial state");
		if (init_one(x))
			return -1;
	}
	return 0;
}

/* One row, up to its ';': NULL at the end of the table. */
static char *row(struct text *x)
{
	static const char *const stop[] = { "exists", "~exists", "forall",
		"locations", "filter", "final", "~", "not" };
	char *start, *end;

	text_space(x);
	for (size_t i = 0; i < sizeof(stop) / sizeof(*stop); i++) {
		char *at = x->at;

		if (text_eat(x, stop[i])) {
			x->at = at;
			return NULL;
		}
	}
	start = x->at;
	end = strchr(start, ';');
	if (!end) {
		text_error(x, *start ? "row without ';'" :
			   "file ends before the condition");
		return NULL;
	}
	*end = 0;
	return start;
}

static int table(struct text *x)
{
	struct lit_test *t = x->t;
	char *line, *cell, *bar, want[8];
	int th;

	line = row(x);
	if (!line)
		return text_error(x, "no threads");
	for (cell = line; cell; cell = bar ? bar + 1 : NULL) {
		bar = strchr(cell, '|');
		snprintf(want, sizeof(want), "P%d", t->threads);
		cell += strspn(cell, " \t\n\r");
		if (t->threads == LIT_THREADS ||
		    strncmp(cell, want, strlen(want)))
			return text_error(x, "%s expected, at most P%d",
					  want, LIT_THREADS - 1);
		t->threads++;
	}
	x->at = line + strlen(line) + 1;
	while ((line = row(x))) {
		char *next = line + strlen(line) + 1;

		th = 0;
		for (cell = line; cell; cell = bar ? bar + 1 : NULL, th++) {
			bar = strchr(cell, '|');
			if (bar)
				*bar = 0;
			x->at = cell;
			if (th >= t->threads)
				return text_error(x, "too many columns");
			if (insn_parse(x, th, cell))
				return -1;
		}
		next[-1] = ' ';
		x->at = next;
	}
	return x->failed ? -1 : insn_finish(x);
}

static int place(const struct lit_var *v)
{
	return v->page * DSM_PAGE_SIZE + v->offset;
}

/* The oracle knows of no variables that share bytes. */
static int overlaps(struct text *x)
{
	struct lit_test *t = x->t;

	for (int v = 0; v < t->vars; v++)
		for (int o = 0; o < t->vars; o++)
			if (o != v && place(&t->var[o]) >= place(&t->var[v]) &&
			    place(&t->var[o]) < place(&t->var[v]) +
			    t->var[v].size * t->var[v].count)
				return text_error(x, "%s and %s overlap",
						  t->var[v].name,
						  t->var[o].name);
	return 0;
}

/* Variables without a place of their own: a page each, or page 0 for all. */
static int layout(struct text *x)
{
	struct lit_test *t = x->t;

	for (int v = 0; v < t->vars; v++) {
		struct lit_var *var = &t->var[v];

		if (var->size * var->count > 64)
			return text_error(x, "%s is larger than 64 bytes",
					  var->name);
		if (!var->placed)
			var->page = v & 3;
		if (!var->placed)
			var->offset = v / 4 * 64;
	}
	if (lit_values(t) > LIT_VALUES)
		return text_error(x, "more than %d registers and variables",
				  LIT_VALUES);
	return overlaps(x);
}

static char *slurp(const char *path)
{
	FILE *f = fopen(path, "r");
	char *all = NULL;
	size_t len;

	if (!f) {
		fprintf(stderr, "mios-dsm: %s: %s\n", path, strerror(errno));
		return NULL;
	}
	all = calloc(1, 1 << 16);
	len = all ? fread(all, 1, (1 << 16) - 1, f) : 0;
	if (all && (ferror(f) || len == (1 << 16) - 1 || strlen(all) < len)) {
		fprintf(stderr, "mios-dsm: %s: not a litmus file\n", path);
		free(all);
		all = NULL;
	}
	fclose(f);
	return all;
}

int lit_parse(struct lit_test *t, const char *path)
{
	struct text x = { .path = path, .t = t };
	int err;

	memset(t, 0, sizeof(*t));
	x.all = x.at = slurp(path);
	if (!x.all)
		return -1;
	err = comments(&x) || header(&x) || init_section(&x) || table(&x) ||
		expr_parse(&x) || layout(&x) || x.failed;
	free(x.all);
	return err ? -1 : 0;
}
