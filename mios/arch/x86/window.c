// SPDX-License-Identifier: GPL-2.0
/*
 * A window for each CPU on memory that is not this kernel's: 16 pages of
 * addresses that are mapped for one copy, as kmap_atomic() did where memory had
 * no addresses of its own.  Nothing is mapped longer: a wild store of this
 * kernel finds no other one's memory (docs/why.md).
 *
 * Only its own CPU looks through a window, with preemption off, so only that
 * one's TLB has it.  An entry that was not there is in no TLB; so one flush
 * suffices, when the window is closed: of each page where kernel pages are
 * global, which INVLPG drops whatever the PCID; else, with page table isolation,
 * of everything.
 */
#include <linux/mm.h>
#include <linux/percpu.h>
#include <linux/smp.h>
#include <linux/uio.h>
#include <linux/vmalloc.h>

#include <asm/pgtable.h>
#include <asm/tlbflush.h>

#include "window.h"

/**
 * struct window - that of a CPU
 * @at:		its addresses
 * @pte:	the entry of each page of them
 */
struct window {
	void *at;
	pte_t *pte[MIOS_WINDOW_PAGES];
};

static DEFINE_PER_CPU(struct window, windows);

static void window_flush(const struct window *w, u32 nr)
{
	u32 i;

	if (!(pgprot_val(PAGE_KERNEL) & _PAGE_GLOBAL)) {
		__flush_tlb_all();
		return;
	}
	for (i = 0; i < nr; i++)
		asm volatile("invlpg (%0)" : :
			     "r" (w->at + i * PAGE_SIZE) : "memory");
}

static void window_open(const struct window *w, const u64 *pfn, u32 nr)
{
	u32 i;

	for (i = 0; i < nr; i++)
		set_pte(w->pte[i], pfn_pte(pfn[i], PAGE_KERNEL));
}

static void window_close(const struct window *w, u32 nr)
{
	u32 i;

	for (i = 0; i < nr; i++)
		set_pte(w->pte[i], __pte(0));
	window_flush(w, nr);
}

size_t mios_window_copy(const u64 *pfn, size_t offset, size_t size,
			struct iov_iter *iter, bool write)
{
	const struct window *w = this_cpu_ptr(&windows);
	u32 nr = DIV_ROUND_UP(offset + size, PAGE_SIZE);
	size_t done;

	window_open(w, pfn, nr);
	done = write ? _copy_from_iter(w->at + offset, size, iter) :
		       _copy_to_iter(w->at + offset, size, iter);
	window_close(w, nr);
	return done;
}

/* vmap() makes the page tables; its pages are only a way to ask for them. */
static int window_make(struct window *w)
{
	struct page *pages[MIOS_WINDOW_PAGES];
	unsigned int level;
	u32 i;

	for (i = 0; i < MIOS_WINDOW_PAGES; i++)
		pages[i] = ZERO_PAGE(0);
	w->at = vmap(pages, MIOS_WINDOW_PAGES, VM_MAP, PAGE_KERNEL_RO);
	if (!w->at)
		return -ENOMEM;
	for (i = 0; i < MIOS_WINDOW_PAGES; i++) {
		w->pte[i] = lookup_address((unsigned long)w->at + i * PAGE_SIZE,
					   &level);
		if (!w->pte[i] || level != PG_LEVEL_4K)
			return -EIO;
	}
	for (i = 0; i < MIOS_WINDOW_PAGES; i++)
		set_pte(w->pte[i], __pte(0));
	return 0;
}

static void flush_all(void *unused)
{
	__flush_tlb_all();
}

/**
 * mios_windows_init() - make them
 *
 * -ENOMEM, -EIO: then mios_windows_exit() follows, too.
 */
int mios_windows_init(void)
{
	int cpu, err;

	for_each_possible_cpu(cpu) {
		err = window_make(per_cpu_ptr(&windows, cpu));
		if (err)
			return err;
	}
	on_each_cpu(flush_all, NULL, 1);
	return 0;
}

void mios_windows_exit(void)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		struct window *w = per_cpu_ptr(&windows, cpu);

		vunmap(w->at);
		w->at = NULL;
	}
}
