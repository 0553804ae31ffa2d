// SPDX-License-Identifier: GPL-2.0
/*
 * How a borrower gets a loan: whom he asks, and what of the answer he believes.
 * Each request has a ticket: what has not been answered in time may be lent all
 * the same, now or later, and is given back by it; and what is given back is so
 * up to a ticket, so that a GIVE that is served late takes nothing that was
 * taken since.  All with the borrower's lock held.
 */
#define pr_fmt(fmt) "mios: " fmt

#include <linux/io.h>
#include <linux/ioport.h>
#include <linux/ktime.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <uapi/linux/mios.h>

#include "../core/link/link.h"

#include "swap.h"

/* For an answer; who does not give one is dead soon, or asked no more. */
#define TAKE_MS		2000

static u64 last_ticket;
/* Of each lender: the one that he may have served, unknown to us; 0: none. */
static u64 unsettled[MIOS_MAX_INSTANCES];

/* Higher than all of this boot, those of a module that was here before, too. */
static u64 ticket_next(void)
{
	last_ticket = max_t(u64, last_ticket + 1, ktime_get_boottime_ns());
	return last_ticket;
}

/*
 * Memory of others is no RAM here, and of their node: what is said of it is not
 * believed.
 */
static int loan_check(u32 lender, const struct mios_loan *loan,
		      bool (*has)(u64 base))
{
	if (loan->size != MIOS_LOAN_SIZE || !loan->base ||
	    loan->base % MIOS_LOAN_SIZE ||
	    loan->base + loan->size < loan->base ||
	    region_intersects(loan->base, loan->size, IORESOURCE_SYSTEM_RAM,
			      IORES_DESC_NONE) != REGION_DISJOINT)
		return -EPROTO;
	if (has(loan->base))
		return -EPROTO;
	return mios_link_owns(lender, loan->base, loan->size);
}

static int loan_tell(u32 lender, enum mios_loan_op op, u64 ticket)
{
	const struct mios_call_loan call = { .op = op, .ticket = ticket };

	return mios_call(lender, MIOS_CALL_LOAN, &call, sizeof(call), NULL, 0,
			 TAKE_MS);
}

/**
 * mios_loan_give() - give all back that has been taken from a lender so far
 * @lender: who; nothing of it is mapped here
 */
int mios_loan_give(u32 lender)
{
	return loan_tell(lender, MIOS_LOAN_GIVE, ticket_next());
}

/**
 * mios_loan_forget() - do not want any more what may have been lent late
 * @lender: who was asked; nothing is done if he has answered
 *
 * 0: he knows, or is gone, and with him what he has lent.
 */
int mios_loan_forget(u32 lender)
{
	int err;

	if (!unsettled[lender])
		return 0;
	err = loan_tell(lender, MIOS_LOAN_FORGET, unsettled[lender]);
	if (err && err != -ENOTCONN && err != -EOPNOTSUPP)
		return err;
	unsettled[lender] = 0;
	return 0;
}

static int take_loan(u32 lender, bool (*has)(u64 base), struct mios_loan *loan)
{
	const struct mios_call_loan call = {
		.op = MIOS_LOAN_TAKE, .ticket = ticket_next(),
	};
	int got;

	unsettled[lender] = call.ticket;
	got = mios_call(lender, MIOS_CALL_LOAN, &call, sizeof(call), loan,
			sizeof(*loan), TAKE_MS);
	if (got == -ENOSPC)
		unsettled[lender] = 0;
	if (got < 0)
		return got;
	return got == sizeof(*loan) ? loan_check(lender, loan, has) : -EPROTO;
}

static int take_from(u32 lender, u32 incarnation, bool (*has)(u64 base),
		     struct borrowed *one)
{
	struct mios_loan loan;
	void *map;
	int err = mios_loan_forget(lender);

	if (err)
		return err;
	err = take_loan(lender, has, &loan);
	if (err == -EPROTO)
		pr_warn("instance %u lends what is not its own: not taken\n",
			lender);
	map = err ? ERR_PTR(err) : mios_memory_map(loan.base, loan.size);
	if (IS_ERR(map)) {
		/* It may have been lent all the same, and be late. */
		mios_loan_forget(lender);
		return PTR_ERR(map);
	}
	unsettled[lender] = 0;
	*one = (struct borrowed){
		.map = map, .base = loan.base, .ticket = last_ticket,
		.lender = lender, .incarnation = incarnation,
	};
	return 0;
}

/**
 * mios_sources_look() - look who may lend
 * @sources: out, for each instance
 * @but: not he
 */
int mios_sources_look(struct source *sources, u32 but)
{
	struct mios_info *info = kmalloc(sizeof(*info), GFP_KERNEL);
	u32 i, here = 0;

	if (!info)
		return -ENOMEM;
	if (!mios_link_info(mios_link_self(), info))
		here = info->node;
	for (i = 0; i < mios_link_nr(); i++) {
		if (i == but || i == mios_link_self() ||
		    mios_link_info(i, info) || info->state != MIOS_STATE_UP)
			continue;
		sources[i].incarnation = info->incarnation;
		sources[i].distance = mios_link_distance(here, info->node);
	}
	kfree(info);
	return 0;
}

/* The nearest; among those as near the one that has lent least. */
static struct source *source_best(struct source *sources)
{
	struct source *s, *best = NULL;

	for (s = sources; s < sources + mios_link_nr(); s++) {
		if (!s->incarnation)
			continue;
		if (!best || s->distance < best->distance ||
		    (s->distance == best->distance && s->taken < best->taken))
			best = s;
	}
	return best;
}

/**
 * mios_loan_take() - take a loan from the best that lends
 * @sources: who may, as they were looked for
 * @has: is the loan at this address taken already?
 * @one: out
 *
 * -ENOSPC: nobody lends any more.
 */
int mios_loan_take(struct source *sources, bool (*has)(u64 base),
		   struct borrowed *one)
{
	struct source *best;

	while ((best = source_best(sources))) {
		if (!take_from(best - sources, best->incarnation, has, one)) {
			best->taken++;
			return 0;
		}
		best->incarnation = 0;
	}
	return -ENOSPC;
}
