/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * The user-space interface of /dev/mios on instance 0 and on every other
 * instance: what the loader and mios(1) ask of the kernel.  Included by the
 * kernel modules and by every program here; nothing else is shared with user
 * space (state is read from sysfs, see docs/abi/).
 *
 * Every call returns 0 or -errno.  After a failure MIOS_IOC_REASON, on the
 * same file, gives the one line that a person should see.  Loading, stopping
 * and killing want CAP_SYS_BOOT, dumps CAP_SYS_RAWIO as well; logs want
 * CAP_SYSLOG; consoles want CAP_SYS_TTY_CONFIG; calls that the caller may not
 * make fail with EPERM.
 */
#ifndef _UAPI_LINUX_MIOS_H
#define _UAPI_LINUX_MIOS_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define MIOS_DEVICE		"/dev/mios"
#define MIOS_PIDS_EACH		65536	/* instance I's begin at I times that */
#define MIOS_PIDS_BOOT		32768	/* of a boot: odd ones have the upper half */
#define MIOS_MAX_INSTANCES	64
#define MIOS_MAX_RINGS		16
#define MIOS_MAX_SEGMENTS	16
#define MIOS_REASON_LEN		160

/* States of an instance, in sysfs ("state") by the names in the comments. */
enum mios_state {
	MIOS_STATE_DOWN = 0,	/* "down": node belongs to instance 0 */
	MIOS_STATE_CLAIMED,	/* "claimed": taken from instance 0, not started */
	MIOS_STATE_BOOTING,	/* "booting": started, not at the sync point */
	MIOS_STATE_UP,		/* "up": joined its ring */
	MIOS_STATE_STOPPING,	/* "stopping": asked to power off */
	MIOS_STATE_FENCING,	/* "fencing": its CPUs are being stopped */
	MIOS_STATE_DEAD,	/* "dead": stopped for good, being taken back */
	MIOS_STATE_HELD,	/* "held": fenced, its memory kept for a dump */
};

/**
 * struct mios_claim - take a node away from instance 0
 * @instance:	in: instance (= node) number, 1..MIOS_MAX_INSTANCES-1
 * @ring:	in: ring to join, 0..MIOS_MAX_RINGS-1
 * @load_base:	out: first physical address that segments may use
 * @load_size:	out: bytes there; the kernel, the initrd, the zero page and
 *		the command line must lie inside
 * @incarnation: out: number of this boot
 * @nr_cpus:	out: CPUs of the node
 *
 * Exclusive until the file is closed or MIOS_IOC_START succeeds: a second
 * claimer gets EBUSY.  Closing the file before the start gives the node back.
 * ENODEV: no such node; EEXIST: it is up; EBUSY: somebody else is booting it,
 * or one of its pages is pinned (the reason names the owner).
 */
struct mios_claim {
	__u32 instance;
	__u32 ring;
	__u64 load_base;
	__u64 load_size;
	__u32 incarnation;
	__u32 nr_cpus;
};

/**
 * struct mios_segment - one piece of the image
 * @buf:	user address of the bytes
 * @bufsz:	bytes to copy
 * @dest:	physical address, inside the load range, page aligned
 * @memsz:	bytes it occupies, >= @bufsz; the rest is zeroed
 * @crc:	CRC-32 (the IEEE one, zlib's crc32()) of the @bufsz bytes;
 *		checked again in the node's memory just before the start
 */
struct mios_segment {
	__u64 buf;
	__u64 bufsz;
	__u64 dest;
	__u64 memsz;
	__u32 crc;
	__u32 pad;
};

/**
 * struct mios_load - put an image into a claimed node
 * @segments:	user address of an array of struct mios_segment
 * @nr_segments: 1..MIOS_MAX_SEGMENTS; they must not overlap
 * @entry:	physical address of the 64-bit entry point (RSI: zero page)
 * @zero_page:	physical address of struct boot_params, inside a segment of at
 *		least 4096 bytes; its e820 table and setup_data are filled in by
 *		the kernel
 */
struct mios_load {
	__u64 segments;
	__u32 nr_segments;
	__u32 pad;
	__u64 entry;
	__u64 zero_page;
};

/**
 * struct mios_start - start the loaded image and wait for the sync point
 * @timeout_ms:	how long to wait; on ETIMEDOUT everything has been undone
 */
struct mios_start {
	__u32 timeout_ms;
	__u32 pad;
};

/**
 * struct mios_end - stop or kill an instance
 * @instance:	which; 0 gives EINVAL
 * @timeout_ms:	how long it may take (ETIMEDOUT: still running after a stop,
 *		a CPU that does not stop after a kill)
 */
struct mios_end {
	__u32 instance;
	__u32 timeout_ms;
};

/**
 * struct mios_stream - open a log or a console
 * @instance:	in: which
 * @flags:	in: MIOS_STREAM_*
 * @fd:		out: a file to read (log) or to read and write (console);
 *		both can be polled
 */
struct mios_stream {
	__u32 instance;
	__u32 flags;
	__s32 fd;
	__u32 pad;
};

#define MIOS_STREAM_FOLLOW	(1u << 0)	/* log: block at its end */

/**
 * struct mios_reason - why the last call on this file failed
 * @text:	one line for a person, NUL-terminated; empty: errno says it all
 * @frame:	number of the page frame that could not be moved, 0: none
 */
struct mios_reason {
	char text[MIOS_REASON_LEN];
	__u64 frame;
};

#define MIOS_DUMP_RANGES	4
#define MIOS_DUMP_REGS		27	/* struct user_regs_struct of x86-64 */
#define MIOS_DUMP_COMM		16

#define MIOS_CPU_SAVED		(1u << 0)	/* the rest of it is valid */
#define MIOS_CPU_PANICKED	(1u << 1)	/* this one called panic() */

/**
 * struct mios_dump_cpu - what a dead instance left of a CPU
 * @apicid:	which CPU
 * @flags:	MIOS_CPU_*
 * @pid:	task that was running
 * @pad:	0
 * @cr3:	its page tables
 * @comm:	its name; any bytes
 * @regs:	its registers, as in a core file
 */
struct mios_dump_cpu {
	__u32 apicid;
	__u32 flags;
	__u32 pid;
	__u32 pad;
	__u64 cr3;
	char comm[MIOS_DUMP_COMM];
	__u64 regs[MIOS_DUMP_REGS];
};

struct mios_dump_range {
	__u64 base;
	__u64 size;
};

/**
 * struct mios_dump - read the memory of a dead instance whose node is held
 * @instance:	in: which
 * @flags:	in: MIOS_DUMP_*
 * @cpus:	in: user address of an array of struct mios_dump_cpu, or 0
 * @nr_cpus:	in: room there; out: CPUs of the node
 * @fd:		out: a file to read (pread; the offset is the physical
 *		address); one at a time, and a read may be short
 * @incarnation: out: number of the boot that it was
 * @nr_ranges:	out: entries of @ranges
 * @page_offset: out: where its kernel had all memory mapped, 0: not known
 * @vmcoreinfo:	out: physical address of its kernel's description of itself,
 *		an ELF note, 0: not known
 * @vmcoreinfo_size: out: bytes of it
 * @ranges:	out: the memory
 *
 * @page_offset and @vmcoreinfo, like all of the memory, are what the dead
 * kernel wrote: anything.  ESRCH: nothing is held; EBUSY: somebody else reads
 * it.  A read fails with ESTALE when the node has been given back.
 */
struct mios_dump {
	__u32 instance;
	__u32 flags;
	__u64 cpus;
	__u32 nr_cpus;
	__s32 fd;
	__u32 incarnation;
	__u32 nr_ranges;
	__u64 page_offset;
	__u64 vmcoreinfo;
	__u64 vmcoreinfo_size;
	struct mios_dump_range ranges[MIOS_DUMP_RANGES];
};

#define MIOS_DUMP_DISCARD	(1u << 0)	/* open nothing, give it back */
#define MIOS_DUMP_LAST		(1u << 1)	/* give it back at the close */

#define MIOS_IOC_CLAIM		_IOWR('M', 1, struct mios_claim)
#define MIOS_IOC_LOAD		_IOW('M', 2, struct mios_load)
#define MIOS_IOC_START		_IOW('M', 3, struct mios_start)
#define MIOS_IOC_STOP		_IOW('M', 4, struct mios_end)
#define MIOS_IOC_KILL		_IOW('M', 5, struct mios_end)
#define MIOS_IOC_LOG		_IOWR('M', 6, struct mios_stream)
#define MIOS_IOC_CONSOLE	_IOWR('M', 7, struct mios_stream)
#define MIOS_IOC_REASON		_IOR('M', 8, struct mios_reason)
#define MIOS_IOC_DUMP		_IOWR('M', 9, struct mios_dump)

#endif /* _UAPI_LINUX_MIOS_H */
