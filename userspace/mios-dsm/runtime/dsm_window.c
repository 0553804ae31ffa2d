// SPDX-License-Identifier: GPL-2.0
/*
 * The window on userfaultfd.  Its memory is a file without a name, mapped
 * twice.  What a node may do with a page is what the program's page table says:
 * no entry, a protected one, a writable one.  Taking an entry away or
 * protecting it leaves the bytes where they are, so that they can be sent
 * after the program has lost access; and bytes are written while the program
 * has no entry, so that it never sees a page half installed.  Called by
 * dsm_node.c.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "window_layout.h"
#include "uffd.h"

static u64 page_at(const struct window *w, u32 page)
{
	return (u64)(uintptr_t)w->base + (u64)page * DSM_PAGE_SIZE;
}

/* What a test asks for. */
static u32 knobs(void)
{
#ifdef DSM_KNOBS
	static const char *const name[] = { "no-protect", "early", "old",
		"not-atomic", "unheld", "lossy", "forget",
		"unborn" };
	const char *text = secure_getenv("MIOS_DSM_TEST");

	for (u32 i = 0; text && i < sizeof(name) / sizeof(*name); i++)
		if (!strcmp(text, name[i]))
			return 1u << i | (1u << i == WINDOW_UNHELD ?
					  WINDOW_LOSSY : 0);
#endif
	return 0;
}

static int map(struct window *w)
{
	size_t size = (size_t)w->pages * DSM_PAGE_SIZE;

	w->memfd = memfd_create("mios-dsm", MFD_CLOEXEC);
	if (w->memfd < 0 || ftruncate(w->memfd, size))
		return -errno;
	w->alias = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED,
			w->memfd, 0);
	if (w->alias == MAP_FAILED)
		return -errno;
	w->base = mmap((void *)WINDOW_AT, size, PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_FIXED_NOREPLACE, w->memfd, 0);
	if (w->base == MAP_FAILED)
		return -errno;
	/* A child of the program would see what nobody keeps coherent. */
	if (madvise(w->base, size, MADV_DONTFORK) ||
	    madvise(w->alias, size, MADV_DONTFORK))
		return -errno;
	madvise(w->base, size, MADV_NOHUGEPAGE);
	madvise(w->alias, size, MADV_NOHUGEPAGE);
	w->mapped = calloc(w->pages, 1);
	w->held = calloc(w->pages, sizeof(*w->held));
	return w->mapped && w->held ? 0 : -ENOMEM;
}

int window_open(struct window *w, u32 pages, bool own)
{
	int err;

	memset(w, 0, sizeof(*w));
	w->pages = pages;
	w->own = own;
	w->knobs = knobs();
	w->base = w->alias = MAP_FAILED;
	w->uffd = w->memfd = -1;
	err = map(w);
	if (err)
		fprintf(stderr, "mios-dsm: no window of %u pages at %#llx: %s\n",
			pages, WINDOW_AT, strerror(-err));
	else
		err = window_watch(w);
	if (err)
		window_close(w);
	return err;
}

void window_close(struct window *w)
{
	size_t size = (size_t)w->pages * DSM_PAGE_SIZE;

	if (w->base != MAP_FAILED)
		munmap(w->base, size);
	if (w->alias != MAP_FAILED)
		munmap(w->alias, size);
	if (w->uffd >= 0)
		close(w->uffd);
	if (w->memfd >= 0)
		close(w->memfd);
	free(w->mapped);
	free(w->held);
}

u8 *window_bytes(struct window *w, u32 page)
{
	w->resident += !w->held[page];
	w->held[page] = true;
	if (w->resident > w->most)
		w->most = w->resident;
	return w->alias + (u64)page * DSM_PAGE_SIZE;
}

/* Both mappings lose it as well. */
void window_drop(struct window *w, u32 page)
{
	if (!w->held[page] ||
	    fallocate(w->memfd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
		      (off_t)page * DSM_PAGE_SIZE, DSM_PAGE_SIZE))
		return;
	w->held[page] = false;
	w->resident--;
	w->mapped[page] = DSM_NONE;
}

/* Taking the protection away may wake who waits, for one call less. */
static int protect(struct window *w, u32 page, bool on, bool wake)
{
	struct uffdio_writeprotect p = {
		.range = { page_at(w, page), DSM_PAGE_SIZE },
		.mode = on ? UFFDIO_WRITEPROTECT_MODE_WP :
			wake ? 0 : UFFDIO_WRITEPROTECT_MODE_DONTWAKE,
	};

	return window_ioctl(w, UFFDIO_WRITEPROTECT, &p);
}

/*
 * Before Linux 6.4 a page of the file cannot appear protected.  A copy of it
 * can, in the place of the page that is thrown away.
 */
static int replace(struct window *w, u32 page, bool wake)
{
	static u8 bytes[DSM_PAGE_SIZE] __attribute__((aligned(DSM_PAGE_SIZE)));
	struct uffdio_copy c = {
		.dst = page_at(w, page), .src = (uintptr_t)bytes,
		.len = DSM_PAGE_SIZE,
		.mode = UFFDIO_COPY_MODE_WP |
			(wake ? 0 : UFFDIO_COPY_MODE_DONTWAKE),
	};

	memcpy(bytes, window_bytes(w, page), DSM_PAGE_SIZE);
	if (fallocate(w->memfd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
		      (off_t)page * DSM_PAGE_SIZE, DSM_PAGE_SIZE))
		return -errno;
	return window_ioctl(w, UFFDIO_COPY, &c);
}

static int appear(struct window *w, u32 page, bool writable, bool wake)
{
	struct uffdio_continue c = {
		.range = { page_at(w, page), DSM_PAGE_SIZE },
		.mode = (wake ? 0 : UFFDIO_CONTINUE_MODE_DONTWAKE) |
			(writable ? 0 : UFFDIO_CONTINUE_MODE_WP),
	};
	int err;

	/* The file gets the page by being read. */
	*(volatile u8 *)window_bytes(w, page);
	if (!writable && !w->continue_wp)
		return replace(w, page, wake);
	err = window_ioctl(w, UFFDIO_CONTINUE, &c);
	if (err != -EINVAL || writable)
		return err;
	w->continue_wp = false;
	return replace(w, page, wake);
}

/* The library's own pages stay whole, so that a test gets to its point. */
static bool broken(const struct window *w, u32 page, u32 knob)
{
	return w->knobs & knob && page >= LAYOUT_OWN;
}

static int change(struct window *w, u32 page, enum dsm_access access,
		  bool wake)
{
	u8 now = w->mapped[page];
	int err = 0;

	if (access == now)
		return 0;
	if (access < now && broken(w, page, WINDOW_NO_PROTECT))
		return 0;
	if (access == DSM_NONE)
		err = madvise(w->base + (u64)page * DSM_PAGE_SIZE,
			      DSM_PAGE_SIZE, MADV_DONTNEED) ? -errno : 0;
	else if (now == DSM_NONE)
		err = appear(w, page, access == DSM_RW, wake);
	else
		err = protect(w, page, access == DSM_RO, wake);
	if (!err)
		w->mapped[page] = access;
	return err;
}

int window_access(struct window *w, u32 page, enum dsm_access access)
{
	return change(w, page, access, false);
}

int window_grant(struct window *w, u32 page, enum dsm_access access)
{
	bool more = access > w->mapped[page];
	int err = change(w, page, access, more);

	if (!err && !more)
		window_wake(w, page, 1);
	return err;
}

void window_install(struct window *w, u32 page, const void *bytes)
{
	size_t half = broken(w, page, WINDOW_EARLY) ? DSM_PAGE_SIZE / 2 : 0;

	if (half) {
		memcpy(window_bytes(w, page) + half, (const u8 *)bytes + half,
		       half);
		window_access(w, page, DSM_RO);
		window_wake(w, page, 1);
		usleep(2000);
	}
	if (bytes != window_bytes(w, page))
		memcpy(window_bytes(w, page), bytes, DSM_PAGE_SIZE);
}

void window_apply(struct window *w, u32 page, u16 word, u8 mask, u64 value)
{
	u64 *at = (u64 *)window_bytes(w, page) + word;
	u64 old = __atomic_load_n(at, __ATOMIC_RELAXED), bits = 0;

	for (int i = 0; i < 8; i++)
		if (mask >> i & 1)
			bits |= 0xffULL << 8 * i;
	while (!__atomic_compare_exchange_n(at, &old,
					    (old & ~bits) | (value & bits),
					    false, __ATOMIC_SEQ_CST,
					    __ATOMIC_RELAXED))
		;
}

void window_wake(struct window *w, u32 page, u32 pages)
{
	struct uffdio_range r = { page_at(w, page), (u64)pages * DSM_PAGE_SIZE };

	window_ioctl(w, UFFDIO_WAKE, &r);
}

void window_lost(struct window *w, u32 page, pid_t tid)
{
	struct uffdio_poison p = {
		.range = { page_at(w, page), DSM_PAGE_SIZE },
	};
	siginfo_t info = { .si_signo = SIGBUS, .si_code = SI_QUEUE };

	/* Whose own it is asks us each time, and is told. */
	if (w->own)
		return;
	if (w->poison) {
		/* What an entry that was taken away leaves behind is no poison. */
		protect(w, page, false, false);
		/* Wakes who waits; another one may have asked for it before. */
		if (window_ioctl(w, UFFDIO_POISON, &p))
			window_wake(w, page, 1);
		return;
	}
	info.si_addr = w->base + (u64)page * DSM_PAGE_SIZE;
	if (tid)
		syscall(SYS_rt_tgsigqueueinfo, getpid(), tid, SIGBUS, &info);
}
