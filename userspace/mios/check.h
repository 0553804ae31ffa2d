/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What "mios check" has found: check.c prints it, and what looks at one side of
 * the machine each has a file, check_*.c.  They change nothing.
 */
#ifndef MIOS_CHECK_H
#define MIOS_CHECK_H

#include <stdbool.h>
#include <stddef.h>

/**
 * enum verdict - what a finding means for instances on this machine
 * @CHECK_GOOD:		it is as it must be
 * @CHECK_PART:		instances work, something beside them does not
 * @CHECK_UNKNOWN:	not tried on such a machine, or not to be seen
 * @CHECK_NOT_YET:	the machine can, it has not been set up
 * @CHECK_STOPS:	it will not work so
 */
enum verdict {
	CHECK_GOOD, CHECK_PART, CHECK_UNKNOWN, CHECK_NOT_YET, CHECK_STOPS,
	NR_VERDICTS
};

/* check.c: one line of what is printed */
void check_say(enum verdict verdict, const char *thing, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* check_read.c: the sources */
bool check_read(const char *path, char *buf, size_t size);
bool check_line(const char *path, const char *start, char *buf, size_t size);
bool check_word_nth(const char *name, int nth, char *value, size_t size);
bool check_word(const char *name, char *value, size_t size);
bool check_any_up(void);
bool check_flag(const char *flag);
bool check_msr(unsigned int number, unsigned long long *value);
int check_differ(const char *field, char *first, size_t size);

/* check_cpu.c, check_kernel.c, check_memory.c, check_device.c */
void check_cpu(void);
void check_kernel(void);
void check_memory(void);
void check_device(void);

#endif /* MIOS_CHECK_H */
