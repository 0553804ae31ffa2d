/* SPDX-License-Identifier: GPL-2.0 */
/* Looking into memory that this kernel has no struct pages for. */
#ifndef _MIOS_ARCH_WINDOW_H
#define _MIOS_ARCH_WINDOW_H

#include <linux/types.h>

struct iov_iter;

/* Pages that are seen at a time: for so long nothing else runs on the CPU. */
#define MIOS_WINDOW_PAGES	16

int mios_windows_init(void);
void mios_windows_exit(void);

/**
 * mios_window_copy() - copy between foreign memory and a user's
 * @pfn: pages, one after the other
 * @offset: where it begins in the first one
 * @size: bytes, not beyond MIOS_WINDOW_PAGES
 * @iter: the user's; goes on by what was copied
 * @write: to the pages
 *
 * With preemption and page faults off: stops where the user's page is not there.
 *
 * Return: bytes that were copied.
 */
size_t mios_window_copy(const u64 *pfn, size_t offset, size_t size,
			struct iov_iter *iter, bool write);

#endif /* _MIOS_ARCH_WINDOW_H */
