/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a run has recorded: a text of one thing on each line, which record.c
 * writes for mios-dsm run and draw.c reads.
 */
#ifndef RECORD_H
#define RECORD_H

#include <stdbool.h>

#include "../../runtime/stats.h"

#define RECORD_VERSION	1
#define RECORD_SAMPLES	2048	/* the pause is doubled where there are more */
#define RECORD_PAGES	32	/* the hottest */
#define RECORD_NAME	120

struct record_sample {
	uint64_t ms;
	uint64_t messages[STATS_NODES];	/* so far */
};

struct record {
	uint64_t pause, next;	/* ms */
	int samples;
	struct record_sample sample[RECORD_SAMPLES];
};

/* Has a look, if it is time for one; at is the memory of the counts. */
void record_look(struct record *r, const struct stats_head *head, void *at);
/* All that is known in the end; 0 or cli_error(). */
int record_write(const struct record *r, const char *path,
		 const struct stats_head *head, void *at, const char *program);

/* draw.c: draws what the file says; 0 or cli_error() */
int report_draw(const char *from, const char *to);

#endif /* RECORD_H */
