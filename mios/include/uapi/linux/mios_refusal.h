/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * Why the module does not load, or starts no instance on a machine: what it says
 * itself, and "mios check" beforehand.
 */
#ifndef _UAPI_LINUX_MIOS_REFUSAL_H
#define _UAPI_LINUX_MIOS_REFUSAL_H

/* main.c, at load; the first is a format for the last PID, twice */
#define MIOS_REFUSAL_PIDS \
	"tasks here may get PIDs above %d, which are other instances': boot with pid_range=1-%d"
#define MIOS_REFUSAL_IPI \
	"an IPI for all CPUs would reach those of other instances, too: boot with no_ipi_broadcast=1"
#define MIOS_REFUSAL_LOCK \
	"this kernel has one CPU, and what it does at once is not so to others: boot with noreplace-smp"

/* core/node/machine.c, at each claim */
#define MIOS_REFUSAL_TSC \
	"its TSC is unstable, and instances tell the time by it alone"
#define MIOS_REFUSAL_SME \
	"it encrypts memory (SME): boot with mem_encrypt=off"
#define MIOS_REFUSAL_GUEST \
	"it is a guest with encrypted memory"
#define MIOS_REFUSAL_TDX \
	"TDX is on: switch it off in the firmware's setup"

/* core/node/cpu.c, at each start */
#define MIOS_REFUSAL_PAGES \
	"starting it needs CPUs with 1 GiB pages and memory below 256 TiB"

/* core/dev/dev.c, at each claim */
#define MIOS_REFUSAL_LOCKDOWN \
	"this kernel is locked down: it starts no other one"

/* devices/iommu.c, of each function that is to be given */
#define MIOS_REFUSAL_REMAPPED \
	"interrupts are remapped: boot with intremap=off"

#endif /* _UAPI_LINUX_MIOS_REFUSAL_H */
