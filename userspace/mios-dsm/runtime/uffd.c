// SPDX-License-Identifier: GPL-2.0
/*
 * The userfaultfd of a window: with what rights it is opened, what is asked of
 * it, and the faults that come out of it.  Called by dsm_window.c and dsm_node.c.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "uffd.h"

#define FEATURES	(UFFD_FEATURE_THREAD_ID | UFFD_FEATURE_MINOR_SHMEM | \
			 UFFD_FEATURE_MISSING_SHMEM | \
			 UFFD_FEATURE_PAGEFAULT_FLAG_WP | \
			 UFFD_FEATURE_WP_HUGETLBFS_SHMEM)

/* How often a call is tried again that another change of mappings held up. */
#define TRIES		1000000

/* The call fails with EAGAIN while the program maps, unmaps or forks. */
int window_ioctl(struct window *w, unsigned long request, void *arg)
{
	for (u32 i = 0; i < TRIES; i++) {
		if (!ioctl(w->uffd, request, arg))
			return 0;
		if (errno != EAGAIN)
			return -errno;
		sched_yield();
	}
	return -EAGAIN;
}

/*
 * The device gives all rights to whoever may open it; the system call gives
 * them to root, and to others where the administrator says so.  What is left
 * is a descriptor that knows the program's own instructions only.
 */
static int descriptor(bool *system_calls)
{
	int flags = O_CLOEXEC | O_NONBLOCK, fd;
	int device = open("/dev/userfaultfd", O_RDWR | O_CLOEXEC);

	*system_calls = true;
	if (device >= 0) {
		fd = ioctl(device, USERFAULTFD_IOC_NEW, flags);
		close(device);
		if (fd >= 0)
			return fd;
	}
	fd = syscall(SYS_userfaultfd, flags);
	if (fd >= 0)
		return fd;
	*system_calls = false;
	return syscall(SYS_userfaultfd, flags | UFFD_USER_MODE_ONLY);
}

int window_watch(struct window *w)
{
	struct uffdio_api api = { .api = UFFD_API, .features = FEATURES };
	struct uffdio_register reg = {
		.range = { (uintptr_t)w->base, (u64)w->pages * DSM_PAGE_SIZE },
		.mode = UFFDIO_REGISTER_MODE_MISSING |
			UFFDIO_REGISTER_MODE_MINOR | UFFDIO_REGISTER_MODE_WP,
	};

	if (w->own)
		api.features |= UFFD_FEATURE_SIGBUS;
	w->uffd = descriptor(&w->system_calls);
	if (w->uffd < 0) {
		fprintf(stderr, "mios-dsm: no userfaultfd: %s; it takes Linux 6.1 with CONFIG_USERFAULTFD\n",
			strerror(errno));
		return -errno;
	}
	if (ioctl(w->uffd, UFFDIO_API, &api) ||
	    ioctl(w->uffd, UFFDIO_REGISTER, &reg)) {
		fprintf(stderr, "mios-dsm: userfaultfd cannot protect shared memory here (%s); it takes Linux 6.1 with CONFIG_PTE_MARKER_UFFD_WP\n",
			strerror(errno));
		return -errno;
	}
	w->poison = api.features & UFFD_FEATURE_POISON &&
		!(w->knobs & WINDOW_OLD);
	w->continue_wp = !(w->knobs & WINDOW_OLD);	/* until it is refused */
	return 0;
}

bool window_fault(struct window *w, struct window_fault *f)
{
	struct uffd_msg m;

	/* A read in vain would be on the way of every frame. */
	while (w->readable) {
		u64 at;

		w->readable = read(w->uffd, &m, sizeof(m)) == sizeof(m);
		if (!w->readable)
			break;
		at = m.arg.pagefault.address - (uintptr_t)w->base;

		if (m.event != UFFD_EVENT_PAGEFAULT ||
		    at / DSM_PAGE_SIZE >= w->pages)
			continue;
		f->page = at / DSM_PAGE_SIZE;
		f->tid = m.arg.pagefault.feat.ptid;
		f->write = m.arg.pagefault.flags & UFFD_PAGEFAULT_FLAG_WRITE;
		return true;
	}
	return false;
}
