/* SPDX-License-Identifier: GPL-2.0 */
/*
 * "mios check --try": boots a small part as an instance, measures what goes between
 * it and this one, and gives everything back.  try.c is the table of contents.
 */
#ifndef MIOS_TRY_H
#define MIOS_TRY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TRY_NODE	1	/* the only part, and so the instance's number */
#define TRY_SECONDS	60	/* its program, and so the instance, ends then by itself */
#define TRY_FILE	"trial"	/* of miosfs, between the two */
#define TRY_TRIES	1000
#define TRY_COPY	65536

/* Where there is room for a trial, in the words of the module's parameters. */
struct try_place {
	int cpu;
	uint64_t memory;
	char parts[256], pool[64];
};

/* What is measured; in nanoseconds, sorted. */
enum try_what {
	TRY_TAKE, TRY_LOAD, TRY_BOOT, TRY_BELL, TRY_WAKE, TRY_COPIED, TRY_BACK,
	TRY_NR
};

struct try_sample {
	uint64_t count, min, median, p99, max;
};

/**
 * struct try_found - what has been found, in memory that both processes share
 * @sample:	by what it is of; count 0: it could not be measured
 * @stopped:	whoever called it has gone, or wants an end
 */
struct try_found {
	struct try_sample sample[TRY_NR];
	bool stopped;
};

/**
 * struct try_page - the file between the two
 * @ready:	the other one has begun; each word is a futex
 * @there:	counted up by this side, TRY_END: it is over
 * @back:	the other side's answer, the same number
 * @pid:	the other one's
 * @buffer:	in its memory, TRY_COPY bytes of try_byte()
 */
struct try_page {
	uint32_t ready, there, back;
	int32_t pid;
	uint64_t buffer;
};

#define TRY_END		UINT32_MAX

static inline unsigned char try_byte(size_t i)
{
	return i * 7 + i / 4096;
}

/* try_place.c: false with a line where there is none */
bool try_place_find(struct try_place *place);

/* try_module.c: false with a line about what has failed */
struct try_before {
	char modules[16384], cpus[4096];
};

void try_pause(long ms);
void try_before_read(struct try_before *before);
bool try_loaded(void);
bool try_load(const struct try_place *place);
bool try_take_out(const struct try_before *before);
bool try_compare(const struct try_before *before);

/* try_measure.c: what a child process does; the exit status */
int try_work(const struct try_place *place, struct try_found *found);

/* try_peer.c: the other side */
int try_futex(uint32_t *word, int op, uint32_t value, unsigned int ms);
int try_peer(const char *path);

struct libscols_table;

/* try_show.c: what has been measured; with @things, the table of mios check, as JSON */
void try_show(const struct try_place *place, const struct try_found *found,
	      struct libscols_table *things);

/* try.c */
void try_begin(bool json);
int check_try(const struct try_place *place, struct libscols_table *things);

#endif /* MIOS_TRY_H */
