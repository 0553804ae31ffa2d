/* SPDX-License-Identifier: GPL-2.0 */
/*
 * userfaultfd for dsm_window.c: the descriptor, with what the oldest headers that
 * this is built with do not know yet.
 */
#ifndef UFFD_H
#define UFFD_H

#include <linux/userfaultfd.h>
#include <sys/ioctl.h>

#include "dsm_window.h"

#ifndef USERFAULTFD_IOC_NEW
#define USERFAULTFD_IOC_NEW	_IO(0xAA, 0x00)
#endif
#ifndef UFFDIO_CONTINUE_MODE_WP
#define UFFDIO_CONTINUE_MODE_WP	((u64)1 << 1)
#endif
#ifndef UFFD_FEATURE_POISON
#define UFFD_FEATURE_POISON	(1 << 14)
struct uffdio_poison {
	struct uffdio_range range;
	u64 mode;
	int64_t updated;
};
#define UFFDIO_POISON		_IOWR(UFFDIO, 0x08, struct uffdio_poison)
#endif

/* Opens the descriptor and registers the window: 0, or -errno after a line. */
int window_watch(struct window *w);
int window_ioctl(struct window *w, unsigned long request, void *arg);

#endif /* UFFD_H */
