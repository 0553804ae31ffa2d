// SPDX-License-Identifier: GPL-2.0
/*
 * What the program maps itself: anonymous private memory, as large arrays and
 * allocators of libraries ask for it, is in the upper part of the window, so
 * that every member finds it, and so are copies of files that it may write to.  Other
 * files, and memory that is shared with children, each process maps for itself
 * (repeat.c).  What is a process's own stays so: stacks, code, memory at an address
 * of its choice.  What may be done with memory is the same in all processes.
 *
 * Each mapping has a descriptor, in the window as well.  All that are in use are
 * in one ring, in the order of addresses, linked both ways; a place has those
 * that it does not use in a queue of its own, gets them by the page, near by,
 * and looks for room from its own part of the addresses on, so places seldom
 * have a neighbour in common.  (The MIOS paper's 3.4 has its descriptors of
 * shared addresses like that.)  One lock for all: mapping is rare.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "files.h"

#define PAGE		4096ul
#define PAGE_MASK	(PAGE - 1)
#define OTHERS		(MAP_FIXED_NOREPLACE | MAP_SHARED | MAP_STACK |	\
			 MAP_GROWSDOWN | MAP_32BIT | MAP_HUGETLB)

/* A mapping, or what is kept for one. */
struct range {
	struct range *next, *prev;	/* in the ring */
	char *start, *end;
	uint32_t owner;			/* place to whose queue it goes back */
	bool guarded;			/* not all of it may be read and written */
};

struct space {
	_Atomic uint32_t lock;
	struct range ring;		/* no mapping: where it begins and ends */
	char *start, *end;
	struct range *unused[OMP_MAX_PLACES];	/* linked by next */
};

static struct space *space;		/* NULL: all is the process's own */

void *space_private(size_t size)
{
	return kernel_mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE |
			   MAP_ANONYMOUS, -1, 0);
}

void space_create(struct omp_window *w)
{
	struct space *s = (struct space *)((char *)w + w->space_at);

	s->ring.next = &s->ring;
	s->ring.prev = &s->ring;
	s->start = (char *)w + w->space_at +
		   ((sizeof(*s) + PAGE_MASK) & ~PAGE_MASK);
	s->end = (char *)w + w->size;
}

void space_attach(struct omp_window *w)
{
	space = (struct space *)((char *)w + w->space_at);
}

/* In a child, whose window is private: it maps what it likes. */
void space_separate(void)
{
	space = NULL;
}

static bool is_within(const void *p, size_t size)
{
	return space && (char *)p >= space->start && (char *)p < space->end &&
	       size <= (size_t)(space->end - (char *)p);
}

/* A descriptor, of a page of them where there is none left. */
static struct range *get(void)
{
	struct range **unused = &space->unused[mios_omp_place.number], *r, *page;

	if (!*unused) {
		page = mios_omp_memalign(PAGE, PAGE);
		if (!page)
			return NULL;
		for (r = page; r + 1 <= page + PAGE / sizeof(*r); r++) {
			r->owner = mios_omp_place.number;
			r->next = *unused;
			*unused = r;
		}
	}
	r = *unused;
	*unused = r->next;
	return r;
}

static void put(struct range *r)
{
	r->prev->next = r->next;
	r->next->prev = r->prev;
	r->next = space->unused[r->owner];
	space->unused[r->owner] = r;
}

static void link_before(struct range *at, struct range *r)
{
	r->next = at;
	r->prev = at->prev;
	at->prev->next = r;
	at->prev = r;
}

/* The first one that ends above @p, or the ring's own. */
static struct range *first_above(const char *p)
{
	struct range *r = space->ring.next;

	while (r != &space->ring && r->end <= p)
		r = r->next;
	return r;
}

/* Room for @size bytes from @at on; NULL if there is none. */
static char *find(char *at, size_t size)
{
	struct range *r = first_above(at);
	const char *stop;

	for (;; r = r->next) {
		stop = r == &space->ring ? space->end : r->start;
		if (stop > at && (size_t)(stop - at) >= size)
			return at;
		if (r == &space->ring)
			return NULL;
		at = r->end;
	}
}

static char *own_part(void)
{
	size_t each = (space->end - space->start) /
		      mios_omp_place.window->nr_places;

	return space->start + (each & ~PAGE_MASK) * mios_omp_place.number;
}

static char *take(size_t size)
{
	struct range *r;
	char *at;

	word_lock(&space->lock);
	at = find(own_part(), size);
	if (!at)
		at = find(space->start, size);
	r = at ? get() : NULL;
	if (r) {
		r->start = at;
		r->end = at + size;
		r->guarded = false;
		link_before(first_above(at), r);
	}
	word_unlock(&space->lock);
	return r ? at : NULL;
}

/* @set: some of it is, from now on. */
static bool is_guarded(char *start, char *end, bool set)
{
	bool guarded = false;
	struct range *r;

	word_lock(&space->lock);
	for (r = first_above(start); r != &space->ring && r->start < end;
	     r = r->next) {
		r->guarded |= set;
		guarded |= r->guarded;
	}
	word_unlock(&space->lock);
	return guarded;
}

/* In all processes: the memory is everybody's. */
static int guard(char *start, size_t size, int prot)
{
	is_guarded(start, start + size, true);
	return protect_everywhere(start, size, prot);
}

/* It is zero to whoever has it next; the memory goes back to the pool. */
static int clear(char *start, char *end)
{
	size_t size = end - start;

	if (is_guarded(start, end, false) &&
	    protect_everywhere(start, size, PROT_READ | PROT_WRITE))
		return -errno;
	return syscall(SYS_madvise, start, size, MADV_REMOVE) ? -errno : 0;
}

/* The part of @r that lies in between is nobody's any more. */
static int cut(struct range *r, char *start, char *end)
{
	struct range *rest;

	if (start <= r->start && end >= r->end) {
		put(r);
	} else if (start <= r->start) {
		r->start = end;
	} else if (end >= r->end) {
		r->end = start;
	} else {
		rest = get();
		if (!rest)
			return -ENOMEM;
		rest->start = end;
		rest->end = r->end;
		rest->guarded = r->guarded;
		r->end = start;
		link_before(r->next, rest);
	}
	return 0;
}

static int give(char *start, char *end)
{
	struct range *r, *next;
	int err = 0;

	/* Where code was: nobody has these addresses again. */
	if (clear(start, end))
		return syscall(SYS_munmap, start, end - start) ? -errno : 0;
	word_lock(&space->lock);
	for (r = first_above(start); !err && r != &space->ring && r->start < end;
	     r = next) {
		next = r->next;
		err = cut(r, start, end);
	}
	word_unlock(&space->lock);
	return err;
}

static bool is_mapped(const char *at, const char *end)
{
	struct range *r;

	word_lock(&space->lock);
	r = first_above(at);
	while (at < end && r != &space->ring && r->start <= at) {
		at = r->end;
		r = r->next;
	}
	word_unlock(&space->lock);
	return at >= end;
}

/* If one mapping ends with it, and there is room: it is as long as @size. */
static bool resize(char *start, char *end, size_t size)
{
	struct range *r;
	bool done;
	char *stop;

	word_lock(&space->lock);
	r = first_above(start);
	stop = r->next == &space->ring ? space->end : r->next->start;
	done = r != &space->ring && r->end == end && r->start <= start &&
	       size <= (size_t)(stop - start);
	if (done)
		r->end = start + size;
	word_unlock(&space->lock);
	return done;
}

static size_t whole(size_t size)
{
	return (size + PAGE_MASK) & ~PAGE_MASK;
}

/* Whole pages of ours; what is a mistake is the kernel's to find. */
static bool are_pages(const void *at, size_t size)
{
	return size && size <= PTRDIFF_MAX && !((uintptr_t)at & PAGE_MASK) &&
	       is_within(at, whole(size));
}

static bool is_anonymous(size_t size, int prot, int flags)
{
	return space && flags & MAP_ANONYMOUS && !(prot & PROT_EXEC) && size &&
	       size <= PTRDIFF_MAX;
}

/* In place of what is mapped there, as from addresses that are only kept. */
static bool is_anew(const char *at, size_t size, int flags)
{
	return (flags & (MAP_FIXED | OTHERS)) == MAP_FIXED &&
	       are_pages(at, size) && is_mapped(at, at + whole(size));
}

/*
 * A file's pages that the program may write to for itself: everybody's, as what is
 * not a file's is, with what is in the file now.
 */
static void *map_copy(void *at, size_t size, int prot, int fd, off_t offset)
{
	char *p = mmap(at, size, PROT_READ | PROT_WRITE, MAP_PRIVATE |
		       MAP_ANONYMOUS | (at ? MAP_FIXED : 0), -1, 0);
	size_t have = 0;
	ssize_t n;

	if (p == MAP_FAILED)
		return p;
	do {
		n = syscall(SYS_pread64, fd, p + have, size - have,
			    offset + have);
		have += n > 0 ? n : 0;
	} while (n > 0 && have < size);
	if (n < 0) {
		munmap(p, size);
		return MAP_FAILED;
	}
	if (!(prot & PROT_READ))
		mprotect(p, size, prot);
	return p;
}

/* Its own copy of each page that is written: in the window, if it can be there. */
static bool is_copied(void *at, size_t size, int prot, int flags, int fd)
{
	struct stat st;

	return space && files_places() > 1 && size && size <= PTRDIFF_MAX &&
	       (flags & MAP_TYPE) == MAP_PRIVATE && prot & PROT_WRITE &&
	       !(prot & PROT_EXEC) && !(flags & OTHERS) &&
	       (!(flags & MAP_FIXED) || is_anew(at, size, MAP_FIXED)) &&
	       !syscall(SYS_fstat, fd, &st) && S_ISREG(st.st_mode);
}

static void *map_file(void *at, size_t size, int prot, int flags, int fd,
		      off_t offset)
{
	if (is_copied(at, size, prot, flags, fd))
		return map_copy(flags & MAP_FIXED ? at : NULL, size, prot, fd,
				offset);
	/* To give it back would be to cut a hole into the file. */
	if (flags & MAP_FIXED && is_within(at, whole(size)))
		omp_die("the program maps a file over memory that is everybody's: "
			"run it without --omp");
	return repeat_map(at, size, prot, flags, fd, offset);
}

static long do_map(const long *a)
{
	void *p = map_file((void *)a[0], a[1], a[2], a[3], a[4], a[5]);

	return p == MAP_FAILED ? -errno : (long)p;
}

/* By the process that has the file open, for all. */
static void *map_by_owner(void *at, size_t size, int prot, int flags, int fd,
			  off_t offset)
{
	return (void *)ask_to_run(files_place(fd), do_map, (struct asked){
			.args = { (long)at, size, prot, flags, fd, offset } });
}

/* To be had in common with children. */
static bool is_shared(int flags)
{
	return flags & MAP_ANONYMOUS && (flags & MAP_TYPE) == MAP_SHARED &&
	       !(flags & (OTHERS & ~MAP_SHARED)) && files_places() > 1;
}

void *mmap(void *at, size_t size, int prot, int flags, int fd, off_t offset)
{
	char *p;

	if (flags & MAP_FIXED && !is_within(at, whole(size)))
		repeat_unmap(at, whole(size));
	if (!(flags & MAP_ANONYMOUS))
		return files_here(fd) ?
		       map_file(at, size, prot, flags, fd, offset) :
		       map_by_owner(at, size, prot, flags, fd, offset);
	if (is_shared(flags) && !(prot & PROT_EXEC))
		return repeat_shared(at, size, prot, flags);
	if (is_anonymous(size, prot, flags) && is_anew(at, size, flags)) {
		if (clear(at, (char *)at + whole(size)) ||
		    (prot != (PROT_READ | PROT_WRITE) &&
		     guard(at, whole(size), prot)))
			return MAP_FAILED;
		return at;
	}
	if (!is_anonymous(size, prot, flags) || flags & (MAP_FIXED | OTHERS))
		return kernel_mmap(at, size, prot, flags, fd, offset);
	p = take(whole(size));
	if (p && prot != (PROT_READ | PROT_WRITE))
		guard(p, whole(size), prot);
	if (p)
		return p;
	/* Addresses that are only kept may be more than there is memory. */
	if (prot == PROT_NONE || flags & MAP_NORESERVE)
		return kernel_mmap(at, size, prot, flags, fd, offset);
	errno = ENOMEM;
	return MAP_FAILED;
}

void *mmap64(void *at, size_t size, int prot, int flags, int fd, off_t offset)
	__attribute__((alias("mmap")));

int munmap(void *at, size_t size)
{
	int err;

	repeat_unmap(at, whole(size));
	if (!are_pages(at, size))
		return repeat_unmap_here(at, size);
	err = give(at, (char *)at + whole(size));
	if (err)
		errno = -err;
	return err ? -1 : 0;
}

static void *move(char *from, size_t old, size_t size, int flags)
{
	char *to = flags == MREMAP_MAYMOVE ? take(size) : NULL;

	if (!to) {
		errno = flags & MREMAP_FIXED ? EINVAL : ENOMEM;
		return MAP_FAILED;
	}
	memcpy(to, from, old);
	give(from, from + old);
	return to;
}

void *mremap(void *from, size_t old, size_t size, int flags, ...)
{
	va_list args;
	void *to;

	va_start(args, flags);
	to = flags & MREMAP_FIXED ? va_arg(args, void *) : NULL;
	va_end(args);
	if (!are_pages(from, old) || !size || size > PTRDIFF_MAX)
		return repeat_move(from, whole(old), size, flags, to);
	old = whole(old);
	size = whole(size);
	if (size <= old && !(flags & MREMAP_FIXED))
		return size == old || !munmap((char *)from + size, old - size) ?
		       from : MAP_FAILED;
	if (!(flags & MREMAP_FIXED) &&
	    resize(from, (char *)from + old, size))
		return from;
	return move(from, old, size, flags);
}

/* To the kernel it is a file's memory, which would keep what was in it. */
int madvise(void *at, size_t size, int advice)
{
	if (are_pages(at, size) &&
	    (advice == MADV_DONTNEED || advice == MADV_FREE))
		advice = MADV_REMOVE;
	return syscall(SYS_madvise, at, size, advice);
}

/* Code that is written first: by this process, and for it. */
static int take_apart(char *at, size_t size)
{
	char *copy = space_private(size);

	if (copy == MAP_FAILED)
		return -1;
	memcpy(copy, at, size);
	return mremap(copy, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, at) ==
	       MAP_FAILED ? -1 : 0;
}

int mprotect(void *at, size_t size, int prot)
{
	if (prot & PROT_EXEC && are_pages(at, size) &&
	    take_apart(at, whole(size)))
		return -1;
	if (are_pages(at, size) && !(prot & PROT_EXEC))
		return guard(at, whole(size), prot);
	repeat_protect(at, size, prot);
	return syscall(SYS_mprotect, at, size, prot);
}
