/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the images of one program share: the window file, mapped at one address
 * in all of them, and what stands where in it.  Image 1 writes the header
 * before the others read it (image.c); each image's line is written by whom it
 * says.  Everything an image allocates lies in the window, too: malloc() is
 * libteam's.
 */
#ifndef CAF_WINDOW_H
#define CAF_WINDOW_H

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CAF_WINDOW_MAGIC	0x4641432d534f494dull	/* MIOS-CAF */
#define CAF_WINDOW_VERSION	2
#define CAF_MAX_IMAGES		1024
#define CAF_FAILED		125	/* exit status: it cannot work */
#define CAF_LINE		64

enum caf_state { CAF_ACTIVE, CAF_STOPPED, CAF_DEAD };

/* An image: its own line, and one that whoever wakes it reads. */
struct caf_image {
	pthread_mutex_t life;		/* robust: its as long as it runs */
	uint32_t instance;
	/* A futex, written by whoever rings it. */
	_Atomic uint32_t bell __attribute__((aligned(CAF_LINE)));
	_Atomic uint32_t sleeps;	/* by itself: the bell has to be rung */
	_Atomic uint32_t state;		/* enum caf_state: by itself or by who
					 * finds that it has died
					 */
	void *_Atomic wants;		/* by itself: the lock it waits for */
};

static_assert(sizeof(struct caf_image) == 2 * CAF_LINE, "two lines");

struct caf_window {
	uint64_t magic;
	uint32_t version, nr_images;
	uint64_t base, size;		/* where it is mapped, of how many bytes */
	uint64_t heap_at, team_at;	/* offsets */
	atomic_uint ready;		/* by image 1: all above is written */
	atomic_uint arrived;		/* how many have it */
	_Atomic uint32_t over;		/* a futex: 1 + status of an error end */
	_Atomic uint32_t losses;	/* how many have stopped or died */
	uint64_t seed;			/* by image 1: of random numbers */
	struct caf_image images[CAF_MAX_IMAGES];
	/* Row by row an image's own: how often it has met each other one. */
	_Atomic uint32_t pairs[CAF_MAX_IMAGES][CAF_MAX_IMAGES];
};

static_assert(offsetof(struct caf_window, ready) == 48, "layout, version 1");

/* This image. */
struct caf_self {
	struct caf_window *window;
	unsigned int number;		/* from 0 */
};

/* self.c APIs: */
extern struct caf_self caf_self;
_Noreturn void caf_die(const char *fmt, ...)
	__attribute__((format(printf, 1, 2)));

/* caf_window.c APIs: */
void window_open(void);

/* Does it lie in memory that all images have? */
static inline bool window_holds(const void *p)
{
	return (uintptr_t)p - (uintptr_t)caf_self.window <
	       caf_self.window->size;
}

#endif /* CAF_WINDOW_H */
