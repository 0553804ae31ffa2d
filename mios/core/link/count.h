/* SPDX-License-Identifier: GPL-2.0 */
/* Counting what instances do together, for all modules: see counted.c. */
#ifndef _MIOS_COUNT_H
#define _MIOS_COUNT_H

#include <linux/percpu.h>

#include <mios/counted.h>

DECLARE_PER_CPU(struct mios_counted, mios_counted);

/**
 * mios_count() - once more
 * @what: what has been done
 *
 * In any context.  A store to memory of this CPU alone, which makes nothing
 * slower elsewhere.
 */
static inline void mios_count(enum mios_count what)
{
	this_cpu_inc(mios_counted.of[what]);
}

#endif /* _MIOS_COUNT_H */
