// SPDX-License-Identifier: GPL-2.0
/*
 * process_vm_readv() and process_vm_writev() of a PID of another instance: looks
 * up where its pages are, or asks, and copies through the window of this CPU.
 * Results are those of one kernel: as many bytes as could be copied, from the
 * first on, or the error if there was none.
 */
#define pr_fmt(fmt) "mios: " fmt

#include <linux/err.h>
#include <linux/memory_hotplug.h>
#include <linux/mm.h>
#include <linux/process_vm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uio.h>

#include <mios/layout.h>
#include <uapi/linux/mios.h>

#include "../../inject/inject.h"
#include "../../core/link/link.h"
#include "../../core/pid/pid.h"

#include "vm.h"

MIOS_INJECT_SWITCH(pool_is_own, "take a page of a pool for the sender's own memory");

/**
 * struct far - a copy from or to a process of another instance
 * @instance:	whose it is
 * @ask:	what it is asked for: process, caller, purpose
 * @answer:	what it says
 * @iter:	the caller's memory
 */
struct far {
	u32 instance;
	struct mios_msg_copy_ask ask;
	struct mios_msg_copy_pages answer;
	struct iov_iter *iter;
};

/* --- what is believed */

static bool in_pool(u64 base)
{
	const struct mios_range *pools = mios_link_pools();
	u32 i;

	for (i = 0; i < MIOS_AREA_INSTANCES; i++)
		if (base >= pools[i].base && base - pools[i].base < pools[i].size)
			return true;
	return false;
}

/* Memory of who has answered, or of a pool: never this instance's own. */
static bool is_believed(u32 instance, u64 pfn)
{
	u64 base = pfn << PAGE_SHIFT;

	if (pfn >> (BITS_PER_LONG - PAGE_SHIFT))
		return false;
	if (in_pool(base) && !inject_pool_is_own)
		return true;
	/* Whatever its descriptor says. */
	return !pfn_to_online_page(pfn) &&
	       mios_link_has_memory(instance, base, PAGE_SIZE);
}

/* Ask for so many pages; 0: only whether that may be done. */
static int far_ask(struct far *far, u32 nr, struct mios_pages *pages)
{
	const struct mios_msg_copy_pages *answer = &far->answer;
	int err, i;

	mios_copy_count(MIOS_COPY_ASKED, 1);
	far->ask.nr = nr;
	err = mios_copy_ask(far->instance, &far->ask, &far->answer,
			    &pages->incarnation);
	if (err || !nr)
		return err;
	for (i = 0; i < answer->result; i++)
		if (!is_believed(far->instance, answer->pfn[i]))
			return -EFAULT;
	mios_kept_add(&far->ask, answer, pages->incarnation);
	pages->instance = far->instance;
	pages->slot = answer->slot;
	pages->generation = answer->generation;
	pages->nr = min(answer->result, MIOS_WINDOW_PAGES);
	memcpy(pages->pfn, answer->pfn, pages->nr * sizeof(*pages->pfn));
	return 0;
}

/* Those that begin at far->ask.address: known, or asked for. */
static int pages_get(struct far *far, u32 nr, struct mios_pages *pages)
{
	if (!mios_kept_find(&far->ask, nr, pages))
		return far_ask(far, nr, pages);
	mios_copy_count(MIOS_COPY_KEPT, 1);
	return 0;
}

/* --- copying */

static int fault_in(struct far *far, size_t size)
{
	size_t left = far->ask.write ?
		      fault_in_iov_iter_readable(far->iter, size) :
		      fault_in_iov_iter_writeable(far->iter, size);

	return left == size ? -EFAULT : 0;
}

/* From @address on, at most @size bytes: how many; or -errno. */
static ssize_t copy_some(struct far *far, u64 address, size_t size)
{
	size_t offset = offset_in_page(address);
	u64 nr = DIV_ROUND_UP(offset + size, PAGE_SIZE);
	struct mios_pages pages;
	ssize_t done;
	int err;

	far->ask.address = address - offset;
	/* Not beyond the chunk in which answers are kept. */
	nr = min(nr, MIOS_COPY_PAGES -
		     (address >> PAGE_SHIFT) % MIOS_COPY_PAGES);
	err = pages_get(far, nr, &pages);
	if (err)
		return err;
	size = min_t(size_t, size, pages.nr * PAGE_SIZE - offset);
	done = mios_pages_copy(&pages, offset, size, far->iter, far->ask.write);
	mios_copy_count(done == -ESTALE ? MIOS_COPY_STALE : MIOS_COPY_BYTES,
			done == -ESTALE ? 1 : done);
	if (done == -ESTALE)
		return 0;
	if (done < size) {
		err = fault_in(far, size - done);
		if (err && !done)
			return err;
	}
	return done;
}

static int copy_range(struct far *far, u64 address, size_t size)
{
	ssize_t done;

	while (size && iov_iter_count(far->iter)) {
		if (fatal_signal_pending(current))
			return -EINTR;
		done = copy_some(far, address,
				 min(size, iov_iter_count(far->iter)));
		if (done < 0)
			return done;
		address += done;
		size -= done;
		cond_resched();
	}
	return 0;
}

/* --- the system call */

static int far_begin(struct far *far, pid_t pid)
{
	far->instance = pid / MIOS_PIDS_EACH;
	if (pid <= 0 || far->instance >= mios_link_nr() ||
	    far->instance == mios_link_self() || mios_link_pid_is_over(pid))
		return -ESRCH;
	far->ask.pid = pid;
	return mios_who_get(&far->ask.who);
}

static ssize_t rw(pid_t pid, struct iov_iter *iter, const struct iovec *rvec,
		  unsigned long riovcnt, bool write)
{
	size_t all = iter ? iov_iter_count(iter) : 0, done = 0;
	struct far *far = kzalloc(sizeof(*far), GFP_KERNEL);
	struct mios_pages none;
	unsigned long i;
	int err;

	if (!far)
		return -ENOMEM;
	far->iter = iter;
	far->ask.write = write;
	err = far_begin(far, pid);
	if (!err && !riovcnt)
		err = far_ask(far, 0, &none);
	for (i = 0; i < riovcnt && !err && iov_iter_count(iter); i++)
		err = copy_range(far, (unsigned long)rvec[i].iov_base, rvec[i].iov_len);
	if (iter)
		done = all - iov_iter_count(iter);
	kfree(far);
	return done ?: err;
}

static const struct process_vm_remote_ops ops = {
	.rw = rw,
	.changed = mios_watch_changed,
};

int mios_far_init(void)
{
	/* Each CPU has a word in the area. */
	if (nr_cpu_ids > MIOS_AREA_CPUS) {
		pr_warn("no copies from other instances: more than %u CPUs here\n",
			MIOS_AREA_CPUS);
		return 0;
	}
	return process_vm_remote_set(&ops);
}

void mios_far_exit(void)
{
	process_vm_remote_set(NULL);
}
