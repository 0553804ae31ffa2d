/* SPDX-License-Identifier: GPL-2.0 */
/*
 * symbols.c: which function of a program an instruction belongs to.
 */
#ifndef SYMBOLS_H
#define SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct symbols {
	int fd;
	struct Elf *elf;	/* NULL: nothing is known */
};

void symbols_open(struct symbols *s, const char *path);
/* "name+0x12" of an address in the file; false if none has it. */
bool symbols_name(const struct symbols *s, uint64_t at, char *text,
		  size_t room);
void symbols_close(struct symbols *s);

#endif /* SYMBOLS_H */
