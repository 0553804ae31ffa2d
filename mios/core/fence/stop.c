// SPDX-License-Identifier: GPL-2.0
/*
 * How an instance is stopped: instance 0 sets a word in the notes and sends
 * each CPU an NMI; here the CPU leaves its registers, says so, and halts until
 * its INIT.  In a panic the instance does the same to itself, because the
 * kernel's way leaves no registers, and its CPUs deaf to a later NMI.  Runs in
 * NMI context: no locks, nothing but the CPU's own note.
 */
#include <linux/cpu.h>
#include <linux/cpuhotplug.h>
#include <linux/delay.h>
#include <linux/instruction_pointer.h>
#include <linux/moduleparam.h>
#include <linux/percpu.h>
#include <linux/printk.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/vmcore_info.h>

#include <asm/apic.h>
#include <asm/kexec.h>
#include <asm/mios.h>
#include <asm/msr.h>
#include <asm/nmi.h>
#include <asm/irqflags.h>
#include <asm/smp.h>
#include <asm/segment.h>
#include <asm/special_insns.h>
#include <asm/user.h>

#include "../../inject/inject.h"
#include "fence.h"

static_assert(sizeof(struct user_regs_struct) ==
	      MIOS_NOTE_REGS * sizeof(u64));
static_assert(MIOS_NOTES_CPUS == MIOS_MAX_CPUS);
static_assert(MIOS_NOTE_COMM == TASK_COMM_LEN);

MIOS_INJECT_SWITCH(stuck_nmi, "a CPU never comes back from its next NMI");
MIOS_INJECT_SWITCH(wrong_regs, "a CPU that panics leaves no registers");

/* How long a panic waits for the others' registers. */
#define PANIC_WAIT_US	100000
#define PANIC_LOOK_US	10

static struct mios_notes *notes;
static int panic_cpu_own = -1;		/* who stops all others, -1: nobody */
static void (*stop_others_native)(int wait);
static DEFINE_PER_CPU(struct mios_cpu_note *, own_note);
static enum cpuhp_state hotplug_state;

/**
 * mios_notes - where this instance keeps its notes
 *
 * Return: the notes; NULL on instance 0, and where there is no room for them.
 */
struct mios_notes *mios_notes(void)
{
	return notes;
}

/**
 * mios_cpu_note - the note of a CPU
 * @cpu: one that is, or was, online
 *
 * Return: the note; NULL if the manifest does not name the CPU.
 */
struct mios_cpu_note *mios_cpu_note(unsigned int cpu)
{
	return per_cpu(own_note, cpu);
}

/* pt_regs begins with the same words, in the same order, up to ss. */
static_assert(offsetof(struct user_regs_struct, fs_base) ==
	      sizeof(struct pt_regs));
static_assert(offsetof(struct user_regs_struct, ip) ==
	      offsetof(struct pt_regs, ip));

static void regs_save(struct mios_cpu_note *note, const struct pt_regs *regs)
{
	struct user_regs_struct *to = (struct user_regs_struct *)note->regs;

	memcpy(to, regs, sizeof(*regs));
	mios_rdmsrq(MSR_FS_BASE, to->fs_base);
	mios_rdmsrq(MSR_GS_BASE, to->gs_base);
	savesegment(ds, to->ds);
	savesegment(es, to->es);
	savesegment(fs, to->fs);
	savesegment(gs, to->gs);
}

static void note_save(struct mios_cpu_note *note, const struct pt_regs *regs,
		      u32 request)
{
	/* The first ones: a CPU that panicked is stopped once more later. */
	if (note->taken == request)
		return;
	regs_save(note, regs);
	note->cr3 = __read_cr3();
	note->pid = current->pid;
	memcpy(note->comm, current->comm, MIOS_NOTE_COMM);
	/* Whoever sees the answer also sees the registers: has_answered(). */
	smp_store_release(&note->taken, request);
}

/* Why this CPU is to stop: 0: it is not. */
static u32 stop_request(void)
{
	int cpu = READ_ONCE(panic_cpu_own);

	if (cpu >= 0 && cpu != smp_processor_id())
		return mios_manifest()->incarnation;
	return READ_ONCE(notes->request);
}

static int take_nmi(unsigned int type, struct pt_regs *regs)
{
	struct mios_cpu_note *note = this_cpu_read(own_note);
	u32 request = stop_request();

	while (inject_stuck_nmi)
		native_halt();
	if (!request || !note)
		return NMI_DONE;
	note_save(note, regs, request);
	for (;;)
		native_halt();
}

static bool others_stopped(u32 request)
{
	unsigned int cpu;

	for_each_online_cpu(cpu) {
		struct mios_cpu_note *note = per_cpu(own_note, cpu);

		if (cpu == READ_ONCE(panic_cpu_own))
			continue;
		/* Pairs with the release in note_save(). */
		if (!note || smp_load_acquire(&note->taken) != request)
			return false;
	}
	return true;
}

static bool others_stop(u32 request)
{
	unsigned int cpu, waited;

	for_each_online_cpu(cpu)
		if (cpu != READ_ONCE(panic_cpu_own) && per_cpu(own_note, cpu))
			apic->send_IPI(cpu, NMI_VECTOR);
	for (waited = 0; waited < PANIC_WAIT_US; waited += PANIC_LOOK_US) {
		if (others_stopped(request))
			return true;
		udelay(PANIC_LOOK_US);
	}
	return false;
}

/* In a panic: leave this CPU's registers and those of all others. */
static noinline void stop_all_at(unsigned long ip, unsigned long bp,
				 unsigned long sp, int wait)
{
	struct mios_cpu_note *note = this_cpu_read(own_note);
	u32 request = mios_manifest()->incarnation;
	struct pt_regs regs = { };
	bool stopped = false;

	if (oops_in_progress && note && cmpxchg(&panic_cpu_own, -1,
						smp_processor_id()) == -1) {
		crash_setup_regs(&regs, NULL);
		regs.ip = ip;
		regs.bp = bp;
		regs.sp = sp;
		notes->panicked = note - notes->cpu + 1;
		if (!inject_wrong_regs)
			note_save(note, &regs, request);
		stopped = others_stop(request);
	}
	if (!stopped)
		stop_others_native(wait);
}

/*
 * In place of the kernel's smp_ops.stop_other_cpus(), which panic() calls: the
 * registers are to be as it has them.  Nothing else here: objtool does not
 * follow a function that has a frame of its own and branches.
 */
static noinline void stop_others(int wait)
{
	unsigned long *frame = __builtin_frame_address(0);

	stop_all_at(_RET_IP_, frame[0], (unsigned long)(frame + 2), wait);
}

static struct mios_cpu_note *note_find(unsigned int cpu)
{
	const struct mios_manifest *m = mios_manifest();
	u32 i;

	for (i = 0; i < min(m->nr_cpus, MIOS_NOTES_CPUS); i++)
		if (m->apicid[i] == per_cpu(x86_cpu_to_apicid, cpu))
			return &notes->cpu[i];
	return NULL;
}

static int cpu_comes(unsigned int cpu)
{
	struct mios_cpu_note *note = note_find(cpu);

	per_cpu(own_note, cpu) = note;
	if (!note)
		return 0;
	/* From here an NMI finds its note: stop_by_nmi() asks for this word. */
	smp_store_release(&note->ready, 1);
	return 0;
}

/* Once it is off, an NMI would find it in another state each time. */
static int cpu_goes(unsigned int cpu)
{
	struct mios_cpu_note *note = per_cpu(own_note, cpu);

	if (!note)
		return 0;
	/* Before the CPU is gone: the same word. */
	smp_store_release(&note->ready, 0);
	return 0;
}

static void notes_describe(const struct mios_manifest *m)
{
	notes->version = MIOS_NOTES_VERSION;
	notes->size = sizeof(*notes);
	notes->nr_cpus = min(m->nr_cpus, MIOS_NOTES_CPUS);
#ifdef CONFIG_VMCORE_INFO
	notes->vmcoreinfo = paddr_vmcoreinfo_note();
	notes->vmcoreinfo_size = VMCOREINFO_NOTE_SIZE;
#endif
	notes->page_offset = PAGE_OFFSET;
	/* Pairs with the acquire in mios_node_notes(). */
	smp_store_release(&notes->magic, MIOS_NOTES_MAGIC);
}

/**
 * mios_stop_init - on an instance, be ready for the NMI that stops it
 *
 * Return: 0, on instance 0 too; or -errno.
 */
int mios_stop_init(void)
{
	struct mios_manifest *m = mios_manifest();
	int ret;

	/* A loader of another version may have kept less for us. */
	if (!m || m->head_size < MIOS_NOTES_OFFSET + MIOS_NOTES_SIZE)
		return 0;
	notes = (void *)m + MIOS_NOTES_OFFSET;
	notes_describe(m);
	ret = register_nmi_handler(NMI_LOCAL, take_nmi, NMI_FLAG_FIRST,
				   "mios");
	if (ret)
		return ret;
	/* On each CPU, those that are online now included. */
	ret = cpuhp_setup_state(CPUHP_AP_ONLINE_DYN, "mios:stop", cpu_comes,
				cpu_goes);
	if (ret < 0) {
		unregister_nmi_handler(NMI_LOCAL, "mios");
		return ret;
	}
	hotplug_state = ret;
	stop_others_native = smp_ops.stop_other_cpus;
	WRITE_ONCE(smp_ops.stop_other_cpus, stop_others);
	return 0;
}

/**
 * mios_stop_exit - take no such NMI any more
 */
void mios_stop_exit(void)
{
	if (!notes)
		return;
	WRITE_ONCE(smp_ops.stop_other_cpus, stop_others_native);
	cpuhp_remove_state(hotplug_state);
	unregister_nmi_handler(NMI_LOCAL, "mios");
}
