// SPDX-License-Identifier: GPL-2.0
/*
 * Who lends to whom: each borrower is asked what he has, since he knows what of it
 * is in use.  An instance without this module has borrowed nothing.
 */
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/sysfs.h>
#include <uapi/linux/mios.h>

#include "../core/link/link.h"

#include "swap.h"

/* For all answers together; who gives none is left out. */
#define TELL_MS		1000

static int show_line(char *buf, int at, u32 borrower,
		     const struct mios_loan_line *line)
{
	char lender[16] = "-";

	if (line->lender != MIOS_NO_INSTANCE)
		snprintf(lender, sizeof(lender), "%u", line->lender);
	return sysfs_emit_at(buf, at, "%s %u %llu %lu %llu\n", lender, borrower,
			     line->loans * MIOS_LOAN_SIZE,
			     line->frames * PAGE_SIZE,
			     line->lost * MIOS_LOAN_SIZE);
}

static u32 members(struct mios_ask *ask, struct mios_loan_line *lines,
		   struct mios_info *info)
{
	u32 i, nr = 0;

	for (i = 0; i < mios_link_nr(); i++) {
		if (i == mios_link_self() || mios_link_info(i, info) ||
		    info->state != MIOS_STATE_UP)
			continue;
		ask[nr].instance = i;
		ask[nr].answer = lines + MIOS_LOAN_LINES * (nr + 1);
		ask[nr].size = MIOS_LOAN_LINES * sizeof(*lines);
		nr++;
	}
	return nr;
}

/* What has been answered is shown as it is: it leads nowhere. */
static int show_all(char *buf, struct mios_ask *ask, u32 nr,
		    struct mios_loan_line *lines)
{
	const struct mios_call_loan call = { .op = MIOS_LOAN_TELL };
	u32 i, j, mine = mios_borrow_tell(lines);
	int at = 0;

	mios_call_all(ask, nr, MIOS_CALL_LOAN, &call, sizeof(call), TELL_MS);
	for (j = 0; j < mine; j++)
		at += show_line(buf, at, mios_link_self(), &lines[j]);
	for (i = 0; i < nr; i++)
		for (j = 0; ask[i].result > 0 &&
		     j < ask[i].result / sizeof(*lines); j++)
			at += show_line(buf, at, ask[i].instance,
					(struct mios_loan_line *)ask[i].answer +
					j);
	return at;
}

/* A line for each pair: lender, borrower, bytes, bytes in use, bytes lost. */
int mios_loans_show(char *buf)
{
	u32 all = mios_link_nr();
	struct mios_info *info = kmalloc(sizeof(*info), GFP_KERNEL);
	struct mios_ask *ask = kcalloc(all, sizeof(*ask), GFP_KERNEL);
	struct mios_loan_line *lines = kvcalloc(all, MIOS_LOAN_LINES *
						sizeof(*lines), GFP_KERNEL);
	int at = -ENOMEM;

	if (info && ask && lines)
		at = show_all(buf, ask, members(ask, lines, info), lines);
	kvfree(lines);
	kfree(ask);
	kfree(info);
	return at;
}
