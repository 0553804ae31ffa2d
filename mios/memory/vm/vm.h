/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Copying from and to the memory of a process of another instance: what
 * process_vm_readv() and process_vm_writev() do with its PID, asked by the hook
 * of linux/vm/.  Once, from its pages to the caller's: nothing lies between.
 *
 *	who copies			whose process it is
 *	far.c	the system call		serve.c	may he, and where are the pages?
 *	kept.c	what was answered	watched.c watches the process: what was
 *	ask.c	asks the other side		answered counts until it changes
 *	copy.c	copies, if it counts
 *
 * watched.c says why nothing is copied from a page that is somebody else's by now.
 */
#ifndef _MIOS_VM_H
#define _MIOS_VM_H

#include <linux/types.h>
#include <mios/layout.h>
#include <mios/msg.h>

#include "../../arch/x86/window.h"

struct mm_struct;

/* vm.c */
int mios_vm_init(void);
void mios_vm_exit(void);

/* count.c: /sys/kernel/debug/mios/copies */
enum mios_copy_count {
	MIOS_COPY_ASKED,	/* questions to other instances */
	MIOS_COPY_KEPT,		/* copies without one */
	MIOS_COPY_STALE,	/* answers that had ceased to count */
	MIOS_COPY_BYTES,
	MIOS_COPY_COUNTS
};

void mios_copy_count(enum mios_copy_count which, u64 more);
int mios_count_init(void);
void mios_count_exit(void);

/* far.c */
int mios_far_init(void);
void mios_far_exit(void);

/* copy.c */
struct iov_iter;
struct mios_pages;

/**
 * mios_pages_copy() - copy between pages of a process elsewhere and a user's memory
 * @pages: where they are, as that one's kernel has said
 * @offset: where it begins in the first one
 * @size: bytes, not beyond the last one
 * @iter: the user's
 * @write: to the pages
 *
 * Return: bytes, fewer where the user's own page is not there; or -ESTALE: what
 * @pages say does not count any more.
 */
ssize_t mios_pages_copy(const struct mios_pages *pages, size_t offset, size_t size,
			struct iov_iter *iter, bool write);

/* ask.c */

/**
 * mios_copy_ask() - ask an instance for pages of a process
 * @instance: whose it is
 * @ask: the question; its @id is filled in
 * @answer: out; its @result is at least 1 where any pages were asked for
 * @incarnation: out, which boot of @instance has answered
 *
 * As long as it takes there, but for a signal that kills the caller.
 *
 * Return: 0; or what process_vm_readv() says: -ESRCH, -EPERM, -EFAULT, -EINTR.
 */
int mios_copy_ask(u32 instance, struct mios_msg_copy_ask *ask,
		  struct mios_msg_copy_pages *answer, u32 *incarnation);

/* It answers nobody any more. */
void mios_copy_left(u32 instance);
int mios_ask_init(void);
void mios_ask_exit(void);

/* kept.c */

/**
 * struct mios_pages - pages of a process of another instance
 * @instance, @incarnation: which boot of which
 * @slot, @generation: as in struct mios_msg_copy_pages
 * @nr:		entries of @pfn
 * @pfn:	the pages, one after another in the process
 */
struct mios_pages {
	u32 instance;
	u32 incarnation;
	u32 slot;
	u64 generation;
	u32 nr;
	u64 pfn[MIOS_WINDOW_PAGES];
};

/**
 * mios_kept_find() - pages that were asked for before
 * @ask: the question: process, first page, who, and what for
 * @nr: at most so many, and not beyond the first one's chunk
 * @pages: out
 *
 * Return: is there any?
 */
bool mios_kept_find(const struct mios_msg_copy_ask *ask, u32 nr,
		    struct mios_pages *pages);

/* Remember an answer, whose pages have been looked at. */
void mios_kept_add(const struct mios_msg_copy_ask *ask,
		   const struct mios_msg_copy_pages *answer, u32 incarnation);
int mios_kept_init(void);
void mios_kept_exit(void);

/* serve.c */

/* Somebody has joined: on instance 0 there is an area now, if there was none. */
void mios_serve_joined(void);
int mios_serve_init(void);
void mios_serve_exit(void);

/* watched.c */
struct mios_watch;

/**
 * mios_watch_get() - watch the memory of a process
 * @tgid: which
 * @mm: its memory, which the caller holds
 *
 * May sleep.
 *
 * Return: until mios_watch_put(); or -EBUSY: try again; -ENOMEM, -EINTR.
 */
struct mios_watch *mios_watch_get(pid_t tgid, struct mm_struct *mm);

/* The same, if it is watched already, without waiting; else -EAGAIN. */
struct mios_watch *mios_watch_find(pid_t tgid, struct mm_struct *mm);
void mios_watch_put(struct mios_watch *w);

/**
 * mios_watch_begin() - what is looked up from now on counts for a generation
 * @w: the process
 * @instance: who is told of it
 * @start, @end: addresses that are looked up
 * @wait: until none of it changes; else -EAGAIN
 * @answer: out: slot and generation
 *
 * -EINTR: killed.
 */
int mios_watch_begin(struct mios_watch *w, u32 instance, unsigned long start,
		     unsigned long end, bool wait,
		     struct mios_msg_copy_pages *answer);

/* Who may attach to current, whose memory is @mm, has changed.  Any context. */
void mios_watch_changed(struct mm_struct *mm);

/**
 * mios_copiers_leave() - wait until nobody copies from or to an instance's memory
 * @instance: it is fenced, so nobody begins to
 */
void mios_copiers_leave(u32 instance);
int mios_watch_init(void);
void mios_watch_exit(void);

#endif /* _MIOS_VM_H */
