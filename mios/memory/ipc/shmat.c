// SPDX-License-Identifier: GPL-2.0
/*
 * Segments in an address space: shmat() and shmdt().  Each mapping counts, as
 * it does on one kernel, in the column of this instance.
 */
#include <linux/file.h>
#include <linux/ipc_namespace.h>
#include <linux/mman.h>
#include <linux/mm.h>
#include <linux/pid.h>
#include <linux/printk.h>
#include <linux/shm.h>
#include <linux/timekeeping.h>
#include <uapi/linux/shm.h>

#include "../fs/vfs.h"

#include "ipc.h"

/* ->private_data of a segment's file. */
static int id_of(const struct file *file)
{
	return (uintptr_t)file->private_data;
}

static void stamp(struct mios_mount *m, int id, bool attached)
{
	mios_fs_segment_stamp(&m->fs, mios_segment_slot(id), attached,
			      ktime_get_real_seconds(), task_tgid_nr(current));
}

static int attach(struct mios_mount *m, int id)
{
	return mios_fs_segment_attach(&m->fs, mios_segment_slot(id),
				      mios_segment_sequence(id));
}

static void detach(struct mios_mount *m, int id)
{
	if (mios_fs_segment_detach(&m->fs, mios_segment_slot(id)))
		mios_mend_segments(m);
}

/* A mapping more, by fork or because one is split; so it is counted already. */
static void area_open(struct vm_area_struct *vma)
{
	struct mios_mount *m = mount_of(file_inode(vma->vm_file));
	int id = id_of(vma->vm_file);

	mios_fs_segment_attach_again(&m->fs, mios_segment_slot(id));
	stamp(m, id, true);
}

static void area_close(struct vm_area_struct *vma)
{
	struct mios_mount *m = mount_of(file_inode(vma->vm_file));
	int id = id_of(vma->vm_file);

	stamp(m, id, false);
	detach(m, id);
}

static const struct vm_operations_struct area_ops = {
	.open = area_open,
	.close = area_close,
	.fault = mios_file_fault,
	.huge_fault = mios_file_huge_fault,
	.map_pages = mios_file_map_pages,
	.set_policy = mios_file_set_policy,
};

/* Also when remap_file_pages() maps it anew: it may have gone. */
static int segment_mmap(struct file *file, struct vm_area_struct *vma)
{
	struct mios_mount *m = mount_of(file_inode(file));
	int err = attach(m, id_of(file));

	if (err)
		return -EINVAL;
	stamp(m, id_of(file), true);
	mios_file_map(file, vma);
	vma->vm_ops = &area_ops;
	return 0;
}

/* No owner: alloc_file_pseudo() takes none; segment_file.c says what keeps the module. */
const struct file_operations mios_segment_ops = {
	.mmap = segment_mmap,
	.get_unmapped_area = mios_file_area,
	.llseek = noop_llseek,
	.fsync = noop_fsync,
	.fallocate = mios_file_fallocate,	/* for MADV_REMOVE */
};

static long segment_map(struct mios_mount *m, const struct mios_fs_seg *seg,
			int id, unsigned long addr, int flg)
{
	unsigned long prot = PROT_READ, flags = MAP_SHARED;
	struct file *file = mios_segment_file(m, seg, flg & SHM_RDONLY ?
					      O_RDONLY : O_RDWR);
	long at;

	if (IS_ERR(file))
		return PTR_ERR(file) == -ESTALE ? -EIDRM : PTR_ERR(file);
	file->private_data = (void *)(uintptr_t)id;
	if (!(flg & SHM_RDONLY))
		prot |= PROT_WRITE;
	if (flg & SHM_EXEC)
		prot |= PROT_EXEC;
	if (addr)
		flags |= flg & SHM_REMAP ? MAP_FIXED : MAP_FIXED_NOREPLACE;
	at = vm_mmap(file, addr, seg->size, prot, flags, 0);
	fput(file);
	return at == -EEXIST ? -EINVAL : at;
}

/*
 * What else a program may use there stays its instance's: semaphores and message
 * queues, the first two of ->ids.  Whose they are nobody can tell.
 */
static void mixed_tell(void)
{
	const struct ipc_ids *ids = current->nsproxy->ipc_ns->ids;

	if (READ_ONCE(ids[0].in_use) || READ_ONCE(ids[1].in_use))
		pr_info_once("miosfs: %s[%d] uses a segment that other instances have, too; semaphores and message queues of System V, of which this one has some, they have not\n",
			     current->comm, task_pid_nr(current));
}

/**
 * mios_segment_at() - attach a segment: see struct shm_remote_ops
 * @id: of it
 * @addr: where, or 0; checked
 * @flg: of shmat()
 * @raddr: out: where it is
 */
long mios_segment_at(int id, unsigned long addr, int flg, unsigned long *raddr)
{
	u32 wanted = flg & SHM_RDONLY ? 0444 : 0666;
	struct mios_fs_seg seg;
	struct mios_mount *m;
	long at;

	if (mios_segment_slot(id) < 0)
		return -EOPNOTSUPP;
	m = mios_segments_get();
	if (!m)
		return -EOPNOTSUPP;
	at = mios_segment_read(m, id, &seg);
	if (!at && !mios_segment_permits(&seg, wanted | (flg & SHM_EXEC ?
							 0111 : 0)))
		at = -EACCES;
	if (!at && attach(m, id))
		at = -EIDRM;
	if (!at) {
		at = segment_map(m, &seg, id, addr, flg);
		detach(m, id);
	}
	mios_segments_put(m);
	if (IS_ERR_VALUE(at))
		return at;
	mixed_tell();
	*raddr = at;
	return 0;
}

/*
 * The next mapping from @from on of what was attached at @addr: of @file, or of
 * whichever segment.  The caller reads the mappings.
 */
static struct vm_area_struct *area_next(unsigned long from, unsigned long addr,
					const struct file *file)
{
	struct vm_area_struct *vma = find_vma(current->mm, from);

	for (; vma; vma = find_vma(current->mm, vma->vm_end))
		if (vma->vm_ops == &area_ops &&
		    (vma->vm_start - addr) / PAGE_SIZE == vma->vm_pgoff &&
		    (!file || file == vma->vm_file))
			break;
	return vma;
}

static bool area_find(unsigned long addr, struct file **file,
		      unsigned long *start, unsigned long *end)
{
	struct vm_area_struct *vma;

	mmap_read_lock(current->mm);
	vma = area_next(*start, addr, *file);
	if (vma) {
		*start = vma->vm_start;
		*end = vma->vm_end;
		if (!*file)
			*file = get_file(vma->vm_file);
	}
	mmap_read_unlock(current->mm);
	return vma;
}

/**
 * mios_segment_dt() - detach what was attached at an address
 * @addr: of whole pages
 *
 * As ksys_shmdt() does it: all that is left of it.  -EINVAL: nothing.
 */
long mios_segment_dt(unsigned long addr)
{
	unsigned long start = addr, end;
	struct file *file = NULL;
	long err = -EINVAL;
	u64 size = 0;

	do {
		if (!area_find(addr, &file, &start, &end))
			break;
		size = PAGE_ALIGN(i_size_read(file_inode(file)));
		/* The first may have been made longer. */
		if (!err && end - addr > size)
			break;
		/* As no lock is held: another thread may have mapped there. */
		err = vm_munmap(start, end - start);
		start = end;
	} while (!err && end - addr < size);
	if (file)
		fput(file);
	if (!err)
		mixed_tell();
	return err;
}
