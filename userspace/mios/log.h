/* SPDX-License-Identifier: GPL-2.0 */
/* One kernel log that is read: log_read.c, for log.c and journal.c. */
#ifndef MIOS_LOG_H
#define MIOS_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct log_options {
	long lines;		/* the last so many, -1: all */
	double since;		/* stamp; below 0: before the last; 0: all */
	bool follow, name;
};

struct log {
	int instance, fd;	/* -1: at its end */
	bool self;		/* records of /dev/kmsg, else text */
	bool follows;		/* what was there has been printed */
	const struct log_options *opt;
	char *text;		/* read and not printed yet */
	size_t len, size;
	double since;		/* as a stamp of this log */
};

int log_open(struct log *log, int instance, bool self,
	     const struct log_options *opt);
void log_close(struct log *log);
int log_print(struct log *log);
int log_fill(struct log *log);
const char *log_end(const struct log *log);
void log_forget(struct log *log, const char *end);
const char *log_next_line(const char *line, const char *end);
double log_stamp(const char *line, const char *end, double before);

/* log.c: */
uint64_t log_all(int self);
bool log_may_read(const char *who, int self, int instance);

#endif /* MIOS_LOG_H */
