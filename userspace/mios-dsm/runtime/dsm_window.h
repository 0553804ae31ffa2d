/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The window as one node has it: memory that the program touches at an address
 * that is the same on every node, and the same memory under a second address,
 * where the service thread reads and writes it whatever the program may do.
 * All calls are the service thread's.
 */
#ifndef DSM_WINDOW_H
#define DSM_WINDOW_H

#include <stdint.h>
#include <sys/types.h>

#include "../../../mios/dsm/dsm.h"

/* Where programs see it: above all that Linux puts anywhere by itself. */
#define WINDOW_AT	0x100000000000ULL

struct window {
	int uffd, memfd;
	u32 pages;
	u8 *base;		/* the program's */
	u8 *alias;		/* the service thread's */
	u8 *mapped;		/* enum dsm_access, of each page */
	bool *held;		/* the file has memory for it, */
	u32 resident, most;	/* which are, or were, so many */
	u32 limit;		/* 0: none */
	bool continue_wp;	/* Linux 6.4: a page can appear protected */
	bool poison;		/* Linux 6.6: a page can be made to raise SIGBUS */
	bool system_calls;	/* may touch it, too */
	bool own;		/* a fault is its thread's SIGBUS */
	bool readable;		/* there may be a fault to be read */
	u32 knobs;		/* of a test's build */
};

/* A thread that has stopped at a page. */
struct window_fault {
	u32 page;
	pid_t tid;
	bool write;
};

/* Rules to break: */
#define WINDOW_NO_PROTECT	1	/* a page leaves, its threads go on */
#define WINDOW_EARLY		2	/* a page is seen before all of it is here */
#define WINDOW_NOT_ATOMIC	8	/* an emulated atomic is a plain store */
#define WINDOW_UNHELD		16	/* messages overtake what caused them */
#define WINDOW_FORGET		64	/* a page that is given back is lost */
#define WINDOW_UNBORN		128	/* who comes back is not taken in */
/* Not broken, but a wire that loses frames: */
#define WINDOW_LOSSY		32
/* As Linux 6.1 has it, on any: */
#define WINDOW_OLD		4

/* 0, or -errno after a line on stderr. */
int window_open(struct window *w, u32 pages, bool own);
void window_close(struct window *w);
/* False when there is none left. */
bool window_fault(struct window *w, struct window_fault *f);
/* Complete when every thread of the program has seen it. */
int window_access(struct window *w, u32 page, enum dsm_access access);
/* The same, and who waits for it goes on. */
int window_grant(struct window *w, u32 page, enum dsm_access access);
/* All of a page, which nobody can see; bytes may be there already. */
void window_install(struct window *w, u32 page, const void *bytes);
/* Some bytes of a word, all at once; whatever the program does beside it. */
void window_apply(struct window *w, u32 page, u16 word, u8 mask, u64 value);
/* Gives a page's memory back; it is zeros when it comes again. */
void window_drop(struct window *w, u32 page);
/* A page as the service thread sees it; it has memory from then on. */
u8 *window_bytes(struct window *w, u32 page);
/* Who waits for one of so many pages. */
void window_wake(struct window *w, u32 page, u32 pages);
/* Whoever touches the page gets SIGBUS; tid: who waits for it. */
void window_lost(struct window *w, u32 page, pid_t tid);

/* All of it; false if none or a part of it is. */
static inline bool window_has(const struct window *w, u64 at, u64 size)
{
	u64 off = at - (u64)(uintptr_t)w->base;
	u64 all = (u64)w->pages * DSM_PAGE_SIZE;

	return off < all && size <= all - off;
}

#endif /* DSM_WINDOW_H */
