// SPDX-License-Identifier: GPL-2.0
/*
 * KVM without any interrupt controller of its own: with one, interrupts to CPUs
 * of other nodes would vanish in it.  So every register of the x2APIC comes
 * here as an access that KVM refuses, but for the TSC deadline, which it must be
 * told to let through.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "apic.h"
#include "kvm.h"
#include "memory.h"

#define API_VERSION	12
/* Intel wants four pages that the guest has no other use for. */
#define TSS_AT		0xfffbd000
#define IDENTITY_AT	0xfffbc000
#define APIC_BASE	0xfee00000
#define APIC_X2		0xc00	/* on, and x2APIC */
#define APIC_FIRST	0x100	/* of the CPU that boots */

static struct {
	int fd, vm;
	struct kvm_cpuid2 *cpuid;
} kvm = { -1, -1, NULL };

static const struct {
	int cap;
	const char *what;
} wanted[] = {
	{ KVM_CAP_USER_MEMORY, "memory of ours as the guest's" },
	{ KVM_CAP_IMMEDIATE_EXIT, "KVM_CAP_IMMEDIATE_EXIT" },
	{ KVM_CAP_X86_USER_SPACE_MSR, "KVM_CAP_X86_USER_SPACE_MSR" },
	{ KVM_CAP_X86_MSR_FILTER, "KVM_CAP_X86_MSR_FILTER" },
	{ KVM_CAP_GET_TSC_KHZ, "KVM_CAP_GET_TSC_KHZ" },
};

static bool parameter_set(const char *path)
{
	char c = 'N';
	FILE *file = fopen(path, "re");

	if (file) {
		if (fread(&c, 1, 1, file) != 1)
			c = 'N';
		fclose(file);
	}
	return c == 'Y' || c == '1';
}

/*
 * With shadow paging KVM keeps what it has made of a page table that another
 * node has changed since.  A guest in real mode has no page tables.
 */
static int paging_good(const struct kvm_needs *needs)
{
	if (needs->real || needs->shadow ||
	    parameter_set("/sys/module/kvm_amd/parameters/npt") ||
	    parameter_set("/sys/module/kvm_intel/parameters/ept"))
		return 0;
	return say("this KVM has shadow paging, under which a guest of several nodes sees old "
		   "page tables: use a processor with NPT or EPT, and kvm_amd npt=1 or kvm_intel "
		   "ept=1 (tests: --unsafe-shadow-paging)");
}

/*
 * With its own timer KVM on Intel takes a write of the TSC deadline before it
 * looks whether it is to be handed over, and, having no APIC, drops it.
 */
static int timer_good(const struct kvm_needs *needs)
{
	if (needs->real ||
	    !parameter_set("/sys/module/kvm_intel/parameters/preemption_timer"))
		return 0;
	return say("this KVM keeps the guest's timer for itself: load kvm_intel with "
		   "preemption_timer=0");
}

int kvm_open(const struct kvm_needs *needs)
{
	kvm.fd = open("/dev/kvm", O_RDWR | O_CLOEXEC);
	if (kvm.fd < 0)
		return say("cannot open /dev/kvm: %s: load kvm_amd or kvm_intel, and let this "
			   "user open it (group kvm)",
			   strerror(errno));
	if (ioctl(kvm.fd, KVM_GET_API_VERSION, 0) != API_VERSION)
		return say("/dev/kvm has another interface than version 12: use Linux 6.1 or "
			   "later");
	for (uint32_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
		if (ioctl(kvm.fd, KVM_CHECK_EXTENSION, wanted[i].cap) <= 0)
			return say("this KVM lacks %s: use Linux 6.1 or later",
				   wanted[i].what);
	if (paging_good(needs) || timer_good(needs))
		return -1;
	kvm.cpuid = cpuid_common(kvm.fd);
	kvm.vm = ioctl(kvm.fd, KVM_CREATE_VM, 0);
	if (kvm.vm < 0 || !kvm.cpuid)
		return say("KVM makes no machine: %s", strerror(errno));
	return 0;
}

static int machine(void)
{
	struct kvm_enable_cap msrs = {
		.cap = KVM_CAP_X86_USER_SPACE_MSR,
		.args = { KVM_MSR_EXIT_REASON_INVAL |
			  KVM_MSR_EXIT_REASON_FILTER },
	};
	uint8_t none = 0;
	struct kvm_msr_filter filter = {
		.flags = KVM_MSR_FILTER_DEFAULT_ALLOW,
		.ranges = { {
			.flags = KVM_MSR_FILTER_READ | KVM_MSR_FILTER_WRITE,
			.nmsrs = 1, .base = APIC_MSR_DEADLINE, .bitmap = &none,
		} },
	};
	uint64_t identity = IDENTITY_AT;

	/* AMD has no use for these two, and refuses neither. */
	if (ioctl(kvm.vm, KVM_SET_TSS_ADDR, TSS_AT) ||
	    ioctl(kvm.vm, KVM_SET_IDENTITY_MAP_ADDR, &identity) ||
	    ioctl(kvm.vm, KVM_ENABLE_CAP, &msrs) ||
	    ioctl(kvm.vm, KVM_X86_SET_MSR_FILTER, &filter))
		return say("KVM does not hand over the APIC's registers: %s",
			   strerror(errno));
	return 0;
}

int kvm_memory(const struct shape *s)
{
	if (machine() || cpuid_alike(kvm.cpuid, s))
		return -1;
	for (uint16_t i = 0; i < s->nodes; i++) {
		struct kvm_userspace_memory_region region = {
			.slot = i, .guest_phys_addr = i * s->each,
			.memory_size = s->each,
			.userspace_addr = (uintptr_t)memory_piece(i),
		};

		if (ioctl(kvm.vm, KVM_SET_USER_MEMORY_REGION, &region))
			return say("KVM does not take the guest's memory: %s",
				   strerror(errno));
	}
	return 0;
}

/* The guest's TSC is the machine's own, the same for all. */
static int tsc_set(int fd)
{
	uint64_t none = 0;
	struct kvm_device_attr offset = {
		.group = KVM_VCPU_TSC_CTRL, .attr = KVM_VCPU_TSC_OFFSET,
		.addr = (uintptr_t)&none,
	};

	if (!ioctl(fd, KVM_SET_DEVICE_ATTR, &offset))
		return 0;
	return say("KVM cannot set a TSC's offset (%s): use Linux 6.1 or later",
		   strerror(errno));
}

static int registers_set(struct kvm_cpu *c, bool boots)
{
	if (ioctl(c->fd, KVM_GET_SREGS, &c->reset))
		return -1;
	c->reset.apic_base = APIC_BASE | APIC_X2 | (boots ? APIC_FIRST : 0);
	return ioctl(c->fd, KVM_SET_SREGS, &c->reset);
}

int kvm_cpu_create(struct kvm_cpu *c, const struct shape *s, uint16_t index)
{
	uint32_t id = shape_cpu(s, s->self, index);
	int size = ioctl(kvm.fd, KVM_GET_VCPU_MMAP_SIZE, 0);

	c->fd = ioctl(kvm.vm, KVM_CREATE_VCPU, index);
	if (c->fd < 0 || size < (int)sizeof(*c->run))
		return say("KVM makes no CPU %u: %s", id, strerror(errno));
	c->run = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, c->fd, 0);
	cpuid_name(kvm.cpuid, s, id);
	if (c->run == MAP_FAILED ||
	    ioctl(c->fd, KVM_SET_CPUID2, kvm.cpuid) ||
	    registers_set(c, !id))
		return say("KVM does not set CPU %u up: %s", id,
			   strerror(errno));
	return tsc_set(c->fd);
}

int kvm_khz(uint64_t *khz)
{
	int rate = ioctl(kvm.vm, KVM_GET_TSC_KHZ, 0);

	if (rate <= 0)
		return say("KVM does not know how fast the TSC counts (%s): use Linux 6.1 or later",
			   strerror(errno));
	*khz = rate;
	return 0;
}
