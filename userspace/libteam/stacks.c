// SPDX-License-Identifier: GPL-2.0
/*
 * The members' stacks, which lie in the window one above the other:
 *
 *	| gap 0 | stack 0 | gap 1 | stack 1 | ...	->stack_gap, ->stack_size bytes
 *
 * Nothing may be stored in a gap, by whose thread it is.  It is as large as what
 * lies below a stack of one kernel, where there are addresses for it: a frame of
 * many megabytes that a stack has no room for ends in it, and not in the stack of
 * another member.  It has no pages.
 */
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>

#include "inside.h"

#define PROCESSES_APART	(64ul << 30)	/* of each process, among addresses */
/* What libraries have mapped in a process before it had a window lies within this. */
#define BEFORE		(1ul << 30)
#define SIGNAL_STACK	(64ul << 10)

/* From one to the other: the first process's libraries, and addresses that are kept. */
static unsigned long kept_start, kept_end;

/* As code that gcc puts there for a nested function whose address is taken. */
static int wants_code(struct dl_phdr_info *info, size_t size, void *unused)
{
	int i;

	for (i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_GNU_STACK)
			return info->dlpi_phdr[i].p_flags & PF_X;
	return 0;
}

/* Any member may call what lies on the stack of another one. */
void stacks_prepare(void)
{
	struct omp_window *w = mios_omp_place.window;

	if (dl_iterate_phdr(wants_code, NULL) &&
	    syscall(SYS_mprotect, (char *)w + w->stack_at,
		    w->nr_members * stacks_apart(w),
		    PROT_READ | PROT_WRITE | PROT_EXEC))
		omp_die("the program wants code on its stacks, as for nested "
			"functions or internal procedures that are arguments, "
			"and the window may have none: %s", strerror(errno));
}

static bool keep(unsigned long at, size_t size, int fixed)
{
	char *p = kernel_mmap((void *)at, size, PROT_NONE, MAP_PRIVATE |
			      MAP_ANONYMOUS | MAP_NORESERVE | fixed, -1, 0);

	if (p == MAP_FAILED || (at && p != (char *)at))
		return false;
	if (!kept_start)
		kept_start = (unsigned long)p;
	return true;
}

/* Between two mappings, from those addresses on up to the first stack. */
static bool keep_gap(struct mapping *m, void *unused)
{
	if (!strcmp(m->name, "[stack]"))
		return true;
	if (kept_end && m->start > kept_end &&
	    !keep(kept_end, m->start - kept_end, MAP_FIXED_NOREPLACE))
		omp_die("process %u: cannot keep its addresses apart: %s",
			mios_omp_place.number, strerror(errno));
	if (m->start >= kept_start)
		kept_end = m->end;
	return false;
}

/*
 * What a process maps for itself, as stacks that libc makes, by whose addresses it
 * knows threads, is not to be where another process has something: what is one's own
 * would be taken for another's.  So each leaves addresses free that those before it
 * take, also those between libraries, and all those near the libraries, where each
 * may have something from the time before.
 */
void stacks_keep_apart(void)
{
	struct mapping m;

	if (!keep(0, BEFORE + mios_omp_place.number * PROCESSES_APART, 0))
		omp_die("process %u: no addresses for its stacks: %s",
			mios_omp_place.number, strerror(errno));
	proc_maps_each(&m, keep_gap, NULL);
}

/* Is it among addresses that are kept, or were until somebody had them? */
bool stacks_keep(const void *at, size_t size)
{
	unsigned long start = (unsigned long)at;

	return start >= kept_start && start < kept_end &&
	       size <= kept_end - start;
}

struct addresses {
	unsigned long start, end;
};

static bool is_another(struct mapping *m, void *data)
{
	const struct addresses *a = data;

	return m->start < a->end && m->end > a->start &&
	       strcmp(m->rights, "---p");
}

/* Has this process nothing there, or addresses that are only kept? */
bool stacks_free(const void *at, size_t size)
{
	struct addresses a = { (unsigned long)at, (unsigned long)at + size };
	struct mapping m;

	return !proc_maps_each(&m, is_another, &a);
}

/* The thread's own stack is in the window, and may be what has no page. */
void stack_for_signals(void)
{
	stack_t stack = { .ss_size = SIGNAL_STACK };

	stack.ss_sp = kernel_mmap(NULL, SIGNAL_STACK, PROT_READ | PROT_WRITE,
				  MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1,
				  0);
	if (stack.ss_sp != MAP_FAILED)
		sigaltstack(&stack, NULL);
}

/* Thread-local data and libc's own record of it lie on top. */
pthread_t stack_thread(unsigned int member, void *(*fn)(void *))
{
	struct omp_window *w = mios_omp_place.window;
	char *gap = (char *)w + w->stack_at + member * stacks_apart(w);
	pthread_attr_t attr;
	pthread_t thread;
	int err;

	pthread_attr_init(&attr);
	err = syscall(SYS_mprotect, gap, w->stack_gap, PROT_NONE) ? errno : 0;
	if (!err)
		err = pthread_attr_setstack(&attr, gap + w->stack_gap,
					    w->stack_size);
	if (!err)
		err = pthread_create(&thread, &attr, fn,
				     (void *)(uintptr_t)member);
	if (err)
		omp_die("cannot start member %u: %s", member, strerror(err));
	pthread_attr_destroy(&attr);
	return thread;
}
