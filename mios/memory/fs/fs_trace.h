/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Events of the window: pages, locks and futexes that several kernels have
 * (docs/looking.md).  What other instances do for them are calls (core/link/).
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM mios_fs

#if !defined(_MIOS_FS_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define _MIOS_FS_TRACE_H

#include <linux/tracepoint.h>

/* A page fault in a file; @phys: of the page, if there is no error. */
DECLARE_EVENT_CLASS(mios_fault,
	TP_PROTO(u64 inode, u64 index, u64 phys, int error),
	TP_ARGS(inode, index, phys, error),
	TP_STRUCT__entry(
		__field(u64, inode)
		__field(u64, index)
		__field(u64, phys)
		__field(int, error)
	),
	TP_fast_assign(
		__entry->inode = inode;
		__entry->index = index;
		__entry->phys = error ? 0 : phys;
		__entry->error = error;
	),
	TP_printk("inode %llu page %llu at 0x%llx = %d", __entry->inode,
		  __entry->index, __entry->phys, __entry->error)
);

DEFINE_EVENT(mios_fault, mios_fault,
	TP_PROTO(u64 inode, u64 index, u64 phys, int error),
	TP_ARGS(inode, index, phys, error)
);

/* For 2 MiB at once; what is refused here is asked for as a page. */
DEFINE_EVENT(mios_fault, mios_fault_large,
	TP_PROTO(u64 inode, u64 index, u64 phys, int error),
	TP_ARGS(inode, index, phys, error)
);

/* Pages are taken away from all who have them mapped; @nr 0: to the end. */
TRACE_EVENT(mios_revoke,
	TP_PROTO(u64 inode, u64 first, u64 nr, u64 who),
	TP_ARGS(inode, first, nr, who),
	TP_STRUCT__entry(
		__field(u64, inode)
		__field(u64, first)
		__field(u64, nr)
		__field(u64, who)
	),
	TP_fast_assign(
		__entry->inode = inode;
		__entry->first = first;
		__entry->nr = nr;
		__entry->who = who;
	),
	TP_printk("inode %llu page %llu nr %llu from 0x%llx", __entry->inode,
		  __entry->first, __entry->nr, __entry->who)
);

DECLARE_EVENT_CLASS(mios_lock,
	TP_PROTO(u32 instance),
	TP_ARGS(instance),
	TP_STRUCT__entry(
		__field(u32, instance)
	),
	TP_fast_assign(
		__entry->instance = instance;
	),
	TP_printk("%u", __entry->instance)
);

/* The lock of an image is another's: this instance begins to wait. */
DEFINE_EVENT(mios_lock, mios_lock_wait,
	TP_PROTO(u32 instance),
	TP_ARGS(instance)
);

/* It goes to that instance, which may sleep. */
DEFINE_EVENT(mios_lock, mios_lock_pass,
	TP_PROTO(u32 instance),
	TP_ARGS(instance)
);

/* Tasks that wait on a futex of a file are woken; @who may have some. */
TRACE_EVENT(mios_futex_wake,
	TP_PROTO(u64 sequence, u64 page, u32 offset, u64 who, int woken),
	TP_ARGS(sequence, page, offset, who, woken),
	TP_STRUCT__entry(
		__field(u64, sequence)
		__field(u64, page)
		__field(u64, who)
		__field(u32, offset)
		__field(int, woken)
	),
	TP_fast_assign(
		__entry->sequence = sequence;
		__entry->page = page;
		__entry->who = who;
		__entry->offset = offset;
		__entry->woken = woken;
	),
	TP_printk("sequence %llx page %llu offset %u at 0x%llx = %d",
		  __entry->sequence, __entry->page, __entry->offset,
		  __entry->who, __entry->woken)
);

#endif /* _MIOS_FS_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE fs_trace
#include <trace/define_trace.h>
