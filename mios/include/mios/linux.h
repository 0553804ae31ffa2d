/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What differs between the kernels that the modules build for: Linux 6.12 and
 * 7.3.  The Kbuild at the top includes this in front of every file, so nothing
 * else asks for a version.
 *
 * A name with mios_ in front is that of 7.3, and does what it does there.
 */
#ifndef MIOS_LINUX_H
#define MIOS_LINUX_H

#include <linux/version.h>

#if LINUX_VERSION_MAJOR >= 7

/* A namespace of symbols is a string. */
#define MIOS "MIOS"

#define mios_rdmsrq(msr, val)		rdmsrq(msr, val)
#define mios_rdmsrq_safe_on_cpu		rdmsrq_safe_on_cpu
#define mios_hrtimer_setup		hrtimer_setup
#define mios_inode_state(inode)		inode_state_read_once(inode)
#define mios_set_default_d_op(sb, ops)	set_default_d_op(sb, ops)
#define mios_page_index(page)		((page)->__folio_index)
#define mios_is_cow_mapping		vma_is_cow_mapping
#define mios_get_unmapped_area		mm_get_unmapped_area

/*
 * 2 MiB whose pages are counted one by one are not mapped by one entry: since 6.17
 * Linux counts such an entry in their folio, as it would a large one.
 */
#define MIOS_LARGE_ENTRIES		0
#define mios_insert_large(vmf, phys)	((void)(vmf), (void)(phys), VM_FAULT_FALLBACK)

/* What security modules say of a task: zeroed before it is filled in. */
#define mios_lsm_t			struct lsm_prop
#define mios_lsm_of_current		security_current_getlsmprop_subj
#define mios_lsm_of_cred		security_cred_getlsmprop

/* What an inode is found by. */
#define mios_ino_t			u64

/* What mkdir() returns, and how it does so. */
#define mios_mkdir_t			struct dentry *
#define MIOS_MKDIR(err)			ERR_PTR(err)

/* A file system that says nothing has no leases. */
#define mios_nosetlease			NULL

/* How create() and d_revalidate() are declared. */
#define MIOS_CREATE(call) \
	call(struct mnt_idmap *idmap, struct inode *dir, \
	     struct dentry *dentry, umode_t mode)
#define MIOS_REVALIDATE(call) \
	call(struct inode *dir, const struct qstr *name, \
	     struct dentry *dentry, unsigned int flags)

#elif LINUX_VERSION_MAJOR == 6 && LINUX_VERSION_PATCHLEVEL == 12

#define mios_rdmsrq(msr, val)		rdmsrl(msr, val)
#define mios_rdmsrq_safe_on_cpu		rdmsrl_safe_on_cpu
#define mios_hrtimer_setup(timer, call, clock, mode) do {		\
	struct hrtimer *__timer = (timer);				\
									\
	hrtimer_init(__timer, clock, mode);				\
	__timer->function = (call);					\
} while (0)
#define mios_inode_state(inode)		((inode)->i_state)
#define mios_set_default_d_op(sb, ops)	((sb)->s_d_op = (ops))
#define mios_page_index(page)		((page)->index)
#define mios_is_cow_mapping(vma)	is_cow_mapping((vma)->vm_flags)
#define mios_get_unmapped_area(file, ...) \
	mm_get_unmapped_area(current->mm, file, __VA_ARGS__)
#define MIOS_LARGE_ENTRIES		IS_ENABLED(CONFIG_TRANSPARENT_HUGEPAGE)
#define mios_insert_large(vmf, phys) \
	vmf_insert_pfn_pmd(vmf, phys_to_pfn_t(phys, PFN_DEV | PFN_MAP), false)
#define mios_lsm_t			u32
#define mios_lsm_of_current		security_current_getsecid_subj
#define mios_lsm_of_cred		security_cred_getsecid
#define mios_ino_t			unsigned long
#define mios_mkdir_t			int
#define MIOS_MKDIR(err)			(err)
#define mios_nosetlease			simple_nosetlease
#define MIOS_CREATE(call) \
	call(struct mnt_idmap *idmap, struct inode *dir, \
	     struct dentry *dentry, umode_t mode, bool excl)
#define MIOS_REVALIDATE(call) \
	call(struct dentry *dentry, unsigned int flags)

/* Of the head of an instance's memory: 7.3's asm/mios.h says what it is. */
#define MIOS_E820_HEAD			E820_TYPE_RESERVED_KERN

/* Fields of AMD's registers, which have other names there. */
#define AMD_CPPC_LOWNONLIN_PERF_MASK	GENMASK(15, 8)
#define AMD_CPPC_HIGHEST_PERF_MASK	GENMASK(31, 24)
#define AMD_CPPC_MAX_PERF_MASK		GENMASK(7, 0)
#define AMD_CPPC_MIN_PERF_MASK		GENMASK(15, 8)

#else
#error "the modules build for Linux 6.12 and 7.3"
#endif

#endif /* MIOS_LINUX_H */
