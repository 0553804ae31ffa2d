// SPDX-License-Identifier: GPL-2.0
/*
 * The copy itself, through this CPU's window, and what makes it safe: COPY, in
 * watched.c.
 */
#include <linux/preempt.h>
#include <linux/smp.h>
#include <linux/uaccess.h>

#include "../../inject/inject.h"
#include "../../core/link/link.h"

#include "vm.h"

MIOS_INJECT_SWITCH(no_hazard, "copy without saying so");

ssize_t mios_pages_copy(const struct mios_pages *pages, size_t offset, size_t size,
			struct iov_iter *iter, bool write)
{
	struct mios_copies *own = mios_link_copies(mios_link_self());
	struct mios_copies *other = mios_link_copies(pages->instance);
	ssize_t done = -ESTALE;
	u32 *hazard;

	preempt_disable();
	pagefault_disable();
	hazard = &own->hazard[smp_processor_id()];
	if (!inject_no_hazard)
		WRITE_ONCE(*hazard, MIOS_COPY_HAZARD(pages->instance, pages->slot));
	smp_mb(); /* COPY */
	if (READ_ONCE(other->generation[pages->slot]) == pages->generation &&
	    mios_link_runs(pages->instance, pages->incarnation))
		done = mios_window_copy(pages->pfn, offset, size, iter, write);
	smp_store_release(hazard, 0); /* COPY */
	pagefault_enable();
	preempt_enable();
	return done;
}
