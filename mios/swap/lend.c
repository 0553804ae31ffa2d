// SPDX-License-Identifier: GPL-2.0
/*
 * The lender: memory that this kernel has allocated for others, and who has
 * which part.  Others take and give back by calls; those who have died give
 * back what they had once they are fenced.  What is handed out is zero.
 */
#define pr_fmt(fmt) "mios: " fmt

#include <linux/gfp.h>
#include <linux/io.h>
#include <linux/list.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/sysfs.h>
#include <uapi/linux/mios.h>

#include "../inject/inject.h"
#include "../core/link/link.h"

#include "swap.h"

MIOS_INJECT_SWITCH(no_zero, "lend what another has written");
MIOS_INJECT_SWITCH(stray, "lend what is instance 0's");
MIOS_INJECT_SWITCH(free_twice, "free what another has, too");
MIOS_INJECT_SWITCH(keep_late, "keep what was taken too late");
MIOS_INJECT_SWITCH(no_ticket, "take back what was taken since");
MIOS_INJECT_SWITCH(keep_dead, "keep what a dead borrower had");

#define LOAN_ORDER	get_order(MIOS_LOAN_SIZE)

/* One part of so many of all memory stays this instance's. */
#define KEEP_SHARE	16

/* The borrower moves what is in it: he calls others, and copies. */
#define RECALL_MS	30000

/**
 * struct loan - memory to be lent
 * @entry:	in loans
 * @memory:	it
 * @borrower:	who has it, MIOS_NO_INSTANCE: nobody
 * @incarnation: which boot of him
 * @ticket:	with which he has taken it
 */
struct loan {
	struct list_head entry;
	void *memory;
	u32 borrower;
	u32 incarnation;
	u64 ticket;
};

static LIST_HEAD(loans);
static DEFINE_MUTEX(lend_lock);	/* loans, and all below */
static unsigned int nr_loans;
static unsigned int wanted;	/* fewer than nr_loans while it is less */

/* Up to this ticket a borrower takes nothing any more: he waits no longer. */
static struct {
	u32 incarnation;
	u64 ticket;
} forgotten[MIOS_MAX_INSTANCES];

static DEFINE_MUTEX(set_lock);	/* for one change of it at a time; outside */

static void loan_free(struct loan *loan)
{
	list_del(&loan->entry);
	nr_loans--;
	free_pages((unsigned long)loan->memory, LOAN_ORDER);
	kfree(loan);
}

/* Nobody has it any more.  Whoever has some keeps the module. */
static void loan_return(struct loan *loan)
{
	loan->borrower = MIOS_NO_INSTANCE;
	module_put(THIS_MODULE);
	if (nr_loans > wanted)
		loan_free(loan);
}

/* Beyond so many loans this instance's own programs would have to make room. */
static u64 idle_loans(void)
{
	long pages = si_mem_available() - totalram_pages() / KEEP_SHARE;

	return max(pages, 0L) / MIOS_LOAN_FRAMES;
}

static int loan_add(void)
{
	struct loan *loan;

	if (!idle_loans())
		return -ENOMEM;
	loan = kzalloc(sizeof(*loan), GFP_KERNEL);
	if (!loan)
		return -ENOMEM;
	loan->borrower = MIOS_NO_INSTANCE;
	/* Its own programs come first: what is not idle is not looked for. */
	loan->memory = (void *)__get_free_pages(GFP_KERNEL | __GFP_NORETRY |
						__GFP_NOWARN, LOAN_ORDER);
	if (!loan->memory) {
		kfree(loan);
		return -ENOMEM;
	}
	mutex_lock(&lend_lock);
	list_add(&loan->entry, &loans);
	nr_loans++;
	mutex_unlock(&lend_lock);
	return 0;
}

static struct loan *loan_find(u32 borrower)
{
	struct loan *loan;

	list_for_each_entry(loan, &loans, entry)
		if (loan->borrower == borrower)
			return loan;
	return NULL;
}

/* 1: one has been freed that nobody has; 0: there is none, or no need. */
static int idle_free(void)
{
	struct loan *loan = NULL;

	mutex_lock(&lend_lock);
	if (nr_loans > wanted)
		loan = loan_find(MIOS_NO_INSTANCE);
	if (loan)
		loan_free(loan);
	mutex_unlock(&lend_lock);
	return !!loan;
}

/* One of those that are lent; false: there is no need. */
static bool lent_pick(struct loan *which)
{
	struct loan *loan;
	bool found = false;

	mutex_lock(&lend_lock);
	if (nr_loans > wanted) {
		loan = list_first_entry(&loans, struct loan, entry);
		*which = *loan;
		found = true;
	}
	mutex_unlock(&lend_lock);
	return found;
}

/* It moves elsewhere; then nobody has it. */
static int recall(const struct loan *which)
{
	const struct mios_call_loan call = {
		.op = MIOS_LOAN_RECALL,
		.base = virt_to_phys(which->memory),
		.ticket = which->ticket,
	};
	int err = mios_call(which->borrower, MIOS_CALL_LOAN, &call,
			    sizeof(call), NULL, 0, RECALL_MS);

	if (!err)
		mios_lend_back(which->borrower, which->incarnation, call.base,
			       which->ticket);
	return err;
}

static int shrink(void)
{
	struct loan which;
	int err;

	for (;;) {
		while (idle_free())
			cond_resched();
		if (!lent_pick(&which))
			return 0;
		/* It may have come back meanwhile. */
		if (which.borrower == MIOS_NO_INSTANCE)
			continue;
		err = recall(&which);
		if (err) {
			pr_warn("instance %u does not give back what it has borrowed: %d\n",
				which.borrower, err);
			return -EBUSY;
		}
	}
}

static void want(unsigned int nr)
{
	mutex_lock(&lend_lock);
	wanted = nr;
	mutex_unlock(&lend_lock);
}

/**
 * mios_lend_set() - lend so much, no more and no less
 * @bytes: rounded down to loans
 *
 * -ENOMEM: so much is not idle here, and nothing has changed; -EBUSY: who has
 * borrowed it has no other place for what is in it, the rest is not lent any
 * more.
 */
int mios_lend_set(u64 bytes)
{
	unsigned int nr = min_t(u64, bytes / MIOS_LOAN_SIZE, UINT_MAX);
	unsigned int before;
	int err = 0;

	mutex_lock(&set_lock);
	before = nr_loans;
	/* None is taken for what could not be had whole. */
	if (nr > before && nr - before > idle_loans()) {
		err = -ENOMEM;
		nr = before;
	}
	want(nr);
	while (nr_loans < nr && !err) {
		err = fatal_signal_pending(current) ? -EINTR : loan_add();
		cond_resched();
	}
	if (err)
		want(before);
	if (!err)
		err = shrink();
	else
		shrink();
	if (err == -EBUSY)
		want(nr_loans);
	mutex_unlock(&set_lock);
	return err;
}

u64 mios_lend_get(void)
{
	return READ_ONCE(nr_loans) * MIOS_LOAN_SIZE;
}

/* A line for each who has some: his number, and bytes. */
int mios_lend_show(char *buf)
{
	struct loan *loan;
	unsigned int nr;
	int at = 0;
	u32 i;

	mutex_lock(&lend_lock);
	for (i = 0; i < mios_link_nr(); i++) {
		nr = 0;
		list_for_each_entry(loan, &loans, entry)
			nr += loan->borrower == i;
		if (nr)
			at += sysfs_emit_at(buf, at, "%u %llu\n", i,
					    nr * MIOS_LOAN_SIZE);
	}
	mutex_unlock(&lend_lock);
	return at;
}

static bool is_forgotten(u32 instance, u32 incarnation, u64 ticket)
{
	return forgotten[instance].incarnation == incarnation &&
	       ticket <= forgotten[instance].ticket;
}

/* What is served late takes nothing back of what came after it. */
static void forget(u32 instance, u32 incarnation, u64 ticket)
{
	if (is_forgotten(instance, incarnation, ticket))
		return;
	forgotten[instance].incarnation = incarnation;
	forgotten[instance].ticket = ticket;
}

/**
 * mios_lend_take() - somebody takes a loan
 * @instance: who
 * @incarnation: which boot of him; his death is told after this
 * @ticket: his number for it
 * @loan: out
 *
 * -ENOSPC: none is left, or he has forgotten it meanwhile.
 */
int mios_lend_take(u32 instance, u32 incarnation, u64 ticket,
		   struct mios_loan *loan)
{
	struct loan *one = NULL;

	mutex_lock(&lend_lock);
	if (nr_loans <= wanted && !is_forgotten(instance, incarnation, ticket))
		one = loan_find(MIOS_NO_INSTANCE);
	if (one && !try_module_get(THIS_MODULE))
		one = NULL;
	if (one) {
		one->borrower = instance;
		one->incarnation = incarnation;
		one->ticket = ticket;
		/* Those that are lent come first: lent_pick(). */
		list_move(&one->entry, &loans);
		if (!inject_no_zero)
			memset(one->memory, 0, MIOS_LOAN_SIZE);
		loan->base = inject_stray ?
			     MIOS_LOAN_SIZE : virt_to_phys(one->memory);
		loan->size = MIOS_LOAN_SIZE;
	}
	mutex_unlock(&lend_lock);
	return one ? 0 : -ENOSPC;
}

static bool is_his(const struct loan *loan, u32 instance, u32 incarnation)
{
	if (inject_free_twice)
		return loan->borrower != MIOS_NO_INSTANCE;
	return loan->borrower == instance && loan->incarnation == incarnation;
}

/* One of his, or all, with these tickets.  With lend_lock held. */
static void loans_back(u32 instance, u32 incarnation, u64 base, u64 first,
		       u64 last)
{
	struct loan *loan, *next;

	list_for_each_entry_safe(loan, next, &loans, entry)
		if (is_his(loan, instance, incarnation) &&
		    (!base || virt_to_phys(loan->memory) == base) &&
		    loan->ticket >= first && loan->ticket <= last) {
			/* To the end, where those are that nobody has. */
			list_move_tail(&loan->entry, &loans);
			loan_return(loan);
		}
}

/**
 * mios_lend_back() - a borrower has no mapping of it any more
 * @instance: who
 * @incarnation: which boot of him
 * @base: which loan; 0: all
 * @ticket: that he has taken up to this: he may have it again by now
 */
void mios_lend_back(u32 instance, u32 incarnation, u64 base, u64 ticket)
{
	mutex_lock(&lend_lock);
	loans_back(instance, incarnation, base, 0,
		   inject_no_ticket ? U64_MAX : ticket);
	if (!base)
		forget(instance, incarnation, ticket);
	mutex_unlock(&lend_lock);
}

/**
 * mios_lend_forget() - a borrower does not know whether he was served
 * @instance: who
 * @incarnation: which boot of him
 * @ticket: with which he has asked; this may come before that
 */
void mios_lend_forget(u32 instance, u32 incarnation, u64 ticket)
{
	if (!ticket || inject_keep_late)
		return;
	mutex_lock(&lend_lock);
	loans_back(instance, incarnation, 0, ticket, ticket);
	forget(instance, incarnation, ticket);
	mutex_unlock(&lend_lock);
}

/**
 * mios_lend_dead() - it is fenced, and writes nothing any more
 * @instance: who
 * @incarnation: which boot of it
 */
void mios_lend_dead(u32 instance, u32 incarnation)
{
	if (!inject_keep_dead)
		mios_lend_back(instance, incarnation, 0, U64_MAX);
}
