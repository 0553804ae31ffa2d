/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What an instance keeps for the case of its death, in the head of its node's
 * memory: a note for each of its CPUs, which says that the CPU still makes
 * progress, and takes its registers when instance 0 stops it.  Instance 0
 * clears it before the start; afterwards the instance writes all of it but
 * @request.  A reader takes nothing here for granted: indices are its own,
 * words are read once.
 */
#ifndef _MIOS_NOTES_H
#define _MIOS_NOTES_H

#include <linux/build_bug.h>
#include <linux/stddef.h>
#include <linux/types.h>

#define MIOS_NOTES_MAGIC	0x5345544f4e534f4dULL	/* "MOSNOTES" */
#define MIOS_NOTES_VERSION	2
#define MIOS_NOTE_REGS		27	/* struct user_regs_struct of x86-64 */
#define MIOS_NOTE_COMM		16

/**
 * struct mios_cpu_note - one CPU, in the order of the manifest's APIC ids
 * @ready:	not 0: this CPU has a handler for the NMI that stops it.  Before
 *		that an NMI may find no stack and no interrupt table, and a
 *		triple fault would reset the machine
 * @taken:	value of &mios_notes.request that this CPU has obeyed, or its
 *		incarnation after a panic; released after the registers
 * @tick:	timer interrupts that were asked for and taken, one a second
 * @task:	times that a real-time task was asked for and ran, one a second
 * @cr3:	page tables of the task that was running
 * @pid:	of this task
 * @comm:	its name
 * @regs:	its registers, as in a core file
 */
struct mios_cpu_note {
	__u32 ready;
	__u32 taken;
	__u64 tick;
	__u64 task;
	__u64 cr3;
	__u32 pid;
	__u32 reserved;
	char comm[MIOS_NOTE_COMM];
	__u64 regs[MIOS_NOTE_REGS];
	__u8 pad[48];
};

static_assert(offsetof(struct mios_cpu_note, tick) == 8);
static_assert(offsetof(struct mios_cpu_note, regs) == 56);
static_assert(sizeof(struct mios_cpu_note) == 320);

/**
 * struct mios_notes - all of an instance
 * @magic:	MIOS_NOTES_MAGIC, released last, when the notes are in use
 * @version:	MIOS_NOTES_VERSION of the instance
 * @size:	bytes of this structure without @cpu
 * @request:	not 0: who takes an NMI is to stop; the incarnation (host)
 * @nr_cpus:	entries of @cpu
 * @vmcoreinfo:	physical address of the kernel's own description, an ELF note
 *		(Documentation/admin-guide/kdump/vmcoreinfo.rst); 0: none
 * @vmcoreinfo_size: bytes of it
 * @memory:	pages that were asked for and given, at most one a second
 * @page_offset: where the kernel has all memory mapped
 * @panicked:	entry of @cpu that called panic(), and 1; 0: none
 * @cpu:	the notes
 */
struct mios_notes {
	__u64 magic;
	__u32 version;
	__u32 size;
	__u32 request;
	__u32 nr_cpus;
	__u64 vmcoreinfo;
	__u64 vmcoreinfo_size;
	__u64 memory;
	__u64 page_offset;
	__u32 panicked;
	__u8 pad[4];
	struct mios_cpu_note cpu[];
};

static_assert(offsetof(struct mios_notes, request) == 16);
static_assert(offsetof(struct mios_notes, vmcoreinfo) == 24);
static_assert(offsetof(struct mios_notes, page_offset) == 48);
static_assert(offsetof(struct mios_notes, panicked) == 56);
static_assert(sizeof(struct mios_notes) == 64);

/*
 * Where they lie: so far behind the manifest, whose address the instance
 * knows; behind the log and below the end of the node's head.
 */
#define MIOS_NOTES_OFFSET	0x90000u
#define MIOS_NOTES_CPUS		256u	/* = MIOS_MAX_CPUS of the manifest */
#define MIOS_NOTES_SIZE		(sizeof(struct mios_notes) + \
				 MIOS_NOTES_CPUS * sizeof(struct mios_cpu_note))

#endif /* _MIOS_NOTES_H */
