/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the processes of one OpenMP team share: the window file, mapped at one
 * address in all of them, and what stands where in it.  Written by the first
 * process, place 0, before the others read it (start.c).
 */
#ifndef MIOS_OMP_WINDOW_H
#define MIOS_OMP_WINDOW_H

#include <assert.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "team.h"

#define OMP_WINDOW_MAGIC	0x504d4f2d534f494dull	/* MIOS-OMP */
#define OMP_WINDOW_VERSION	5
#define OMP_MAX_PLACES		64
#define OMP_MAX_MEMBERS		1024
#define OMP_MAX_OBJECTS		256
#define OMP_OBJECT_NAME		48
#define OMP_FAILED		125	/* exit status */

/* Offsets in the file: this header, the runtime's own, data; stacks, heap, space. */
#define OMP_RUNTIME_AT		0x10000
#define OMP_DATA_AT		0x200000

/* A mapped object: layout.c compares them. */
struct omp_object {
	uint64_t base, build;
	char name[OMP_OBJECT_NAME];
};

struct omp_window {
	uint64_t magic;
	uint32_t version;
	uint32_t nr_places, nr_members, nr_objects;
	uint64_t base, size;		/* where it is mapped, of how many bytes */
	uint64_t stack_at, stack_size;	/* of member 0; of each */
	uint64_t heap_at, space_at;
	atomic_uint ready;		/* by place 0: all above is written */
	atomic_uint arrived;		/* how many of the others have it, too */
	atomic_uint over;		/* 1 + exit status, of the first to end */
	uint32_t first[OMP_MAX_PLACES + 1];	/* member of each place */
	uint32_t files_base, files_each;	/* see files.c */
	atomic_uint files_moved;
	uint64_t desks[OMP_MAX_PLACES];		/* see ask.c */
	uint64_t streams;			/* see streams.c */
	atomic_uint said;			/* somebody writes the last line */
	atomic_uint leaving;			/* 1 + exit status, for place 0: see start.c */
	struct omp_object objects[OMP_MAX_OBJECTS];
};

static_assert(sizeof(struct omp_window) <= OMP_RUNTIME_AT, "header");
static_assert(offsetof(struct omp_window, ready) == 72, "layout, version 5");

/* A process of the team: what it has been told, and where its window is. */
struct omp_place {
	struct omp_window *window;	/* NULL: there is no such team here */
	unsigned int number;
	int fd;				/* of the window, until all is mapped */
	bool strict;			/* malloc() is private */
};

/* window.c APIs: */
extern struct omp_place mios_omp_place;
void window_number(void);
void window_open(const char *path);
_Noreturn void window_end(const char *line, size_t length);

/* layout.c APIs: */
void layout_write(struct omp_window *w);
void layout_compare(const struct omp_window *w);

/* data.c APIs: */
size_t data_size(void);
void data_share(struct omp_window *w);
bool data_holds(const void *p);
bool data_shared(const void *p);
int data_separate(int fd);
void data_each(void (*fn)(const char *name, unsigned long start,
			  unsigned long end));
char **arguments_share(char **argv);

/* explain.c APIs: */
void explain_window(const struct omp_window *w);

/* space.c APIs: */
void space_create(struct omp_window *w);
void space_attach(struct omp_window *w);
void space_separate(void);
void *space_private(size_t size);

#endif /* MIOS_OMP_WINDOW_H */
