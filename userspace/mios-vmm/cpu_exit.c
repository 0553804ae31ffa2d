// SPDX-License-Identifier: GPL-2.0
/*
 * What a CPU has stopped for: its APIC, a port, a device's memory, HLT, or that
 * it cannot go on.  On the CPU's own thread, without its lock.
 */
#include <string.h>
#include <sys/ioctl.h>

#include "../mios-dsm/runtime/mios_dsm.h"
#include "bus.h"
#include "clock.h"
#include "cpu.h"
#include "end.h"

static void port(struct cpu *c)
{
	struct kvm_run *run = c->kvm.run;
	uint8_t *data = (uint8_t *)run + run->io.data_offset;
	struct access a = {
		.cpu = c->id, .space = ROUTE_PORT, .size = run->io.size,
		.write = run->io.direction == KVM_EXIT_IO_OUT,
		.at = run->io.port,
	};
	uint64_t value;

	for (uint32_t i = 0; i < run->io.count; i++, data += a.size) {
		a.value = 0;
		memcpy(&a.value, data, a.size);
		value = bus_access(&a);
		if (!a.write)
			memcpy(data, &value, a.size);
	}
}

static void memory(struct cpu *c)
{
	struct kvm_run *run = c->kvm.run;
	struct access a = {
		.cpu = c->id, .space = ROUTE_MEMORY, .size = run->mmio.len,
		.write = run->mmio.is_write, .at = run->mmio.phys_addr,
	};
	uint64_t value;

	memcpy(&a.value, run->mmio.data, a.size);
	value = bus_access(&a);
	if (!a.write)
		memcpy(run->mmio.data, &value, a.size);
}

static bool apics(uint32_t msr)
{
	return msr == APIC_MSR_DEADLINE ||
		(msr >= APIC_MSR_FIRST && msr <= APIC_MSR_LAST);
}

static void msr_read(struct cpu *c)
{
	struct kvm_run *run = c->kvm.run;
	struct apic_time now = clock_now();
	uint64_t value = 0;

	run->msr.error = 1;
	if (!apics(run->msr.index))
		return;
	pthread_mutex_lock(&c->lock);
	run->msr.error = !apic_read(&c->apic, run->msr.index, &now, &value);
	pthread_mutex_unlock(&c->lock);
	run->msr.data = value;
}

static void msr_write(struct cpu *c)
{
	struct kvm_run *run = c->kvm.run;
	struct apic_time now = clock_now();
	enum apic_wish wish = APIC_REFUSED;
	struct apic_ipi ipi;

	if (apics(run->msr.index)) {
		pthread_mutex_lock(&c->lock);
		wish = apic_write(&c->apic, run->msr.index, run->msr.data, &now,
				  &ipi);
		pthread_mutex_unlock(&c->lock);
	}
	run->msr.error = wish == APIC_REFUSED;
	if (wish == APIC_SEND)
		route_interrupt(&ipi);
	if (wish == APIC_ENDED)
		bus_access(&(struct access){
			.cpu = c->id, .space = ROUTE_EOI, .size = 1,
			.write = true, .value = ipi.vector,
		});
}

/* Where it was helps who looks for the fault. */
static void stuck(struct cpu *c, const char *why, uint64_t detail)
{
	struct kvm_regs regs = { };

	ioctl(c->kvm.fd, KVM_GET_REGS, &regs);
	say("CPU %u at %#llx: %s (%#llx); the guest ends", c->id,
	    (unsigned long long)regs.rip, why, (unsigned long long)detail);
	end_guest(END_FAULT);
	c->stop = true;
}

void cpu_exit(struct cpu *c)
{
	struct kvm_run *run = c->kvm.run;

	switch (run->exit_reason) {
	case KVM_EXIT_IO:
		port(c);
		break;
	case KVM_EXIT_MMIO:
		memory(c);
		break;
	case KVM_EXIT_X86_RDMSR:
		msr_read(c);
		break;
	case KVM_EXIT_X86_WRMSR:
		msr_write(c);
		break;
	case KVM_EXIT_HLT:
		c->state = CPU_HALTS;
		mios_dsm_cpu_rests();
		break;
	case KVM_EXIT_IRQ_WINDOW_OPEN:
	case KVM_EXIT_SET_TPR:
	case KVM_EXIT_INTR:
		break;
	case KVM_EXIT_SHUTDOWN:
		stuck(c, "a triple fault", 0);
		break;
	case KVM_EXIT_INTERNAL_ERROR:
		stuck(c, "KVM cannot go on", run->internal.suberror);
		break;
	case KVM_EXIT_FAIL_ENTRY:
		stuck(c, "the processor does not enter the guest",
		      run->fail_entry.hardware_entry_failure_reason);
		break;
	default:
		stuck(c, "KVM wants what this VMM does not know",
		      run->exit_reason);
	}
}
