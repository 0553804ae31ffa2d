// SPDX-License-Identifier: GPL-2.0
/*
 * Linux by its 64-bit boot protocol (Documentation/arch/x86/boot.rst): zero page,
 * command line, initrd, page tables that map the first 4 GiB as they are, and a
 * GDT with the two segments that it wants.
 */
#include <asm/bootparam.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "acpi.h"
#include "boot.h"
#include "memory.h"

#define GDT		0x500
#define ZERO_PAGE	0x7000
#define TABLES		0x9000	/* PML4, PDPT, four PDs */
#define COMMAND_LINE	0x20000
#define COMMAND_MAX	2048
#define DEADLINE_DIVISOR	8	/* TSC_DIVISOR of arch/x86/kernel/apic/apic.c */
#define PROTOCOL	0x020c	/* the first that tells of a 64-bit entry */
#define ENTRY_64	0x200
#define HEADER		0x1f1

#define PAGE_THERE	3	/* present, writable */
#define PAGE_LARGE	0x80
#define CR0_PE		1u
#define CR0_ET		0x10u
#define CR0_PG		0x80000000u
#define CR4_PAE		0x20
#define EFER_LME	0x100
#define EFER_LMA	0x400

/* A file as it is read: private memory, so that the copy faults as any store. */
struct image {
	const uint8_t *bytes;
	uint64_t size;
};

static int image_open(struct image *i, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	void *at = MAP_FAILED;

	if (fd >= 0 && !fstat(fd, &st) && !S_ISREG(st.st_mode))
		errno = EINVAL;
	else if (fd >= 0 && st.st_size)
		at = mmap(NULL, st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (fd >= 0)
		close(fd);
	if (at == MAP_FAILED)
		return say("cannot read %s: %s", path,
			   errno ? strerror(errno) : "it is empty");
	i->bytes = at;
	i->size = st.st_size;
	return 0;
}

static void image_close(struct image *i)
{
	munmap((void *)i->bytes, i->size);
}

static int put(uint64_t at, const void *bytes, uint64_t len)
{
	void *to = memory_at(at, len);

	if (!to)
		return say("no memory for %llu KiB at %#llx of node 0: give it more (mios-dsm "
			   "run --memory)",
			   (unsigned long long)len >> 10, (unsigned long long)at);
	memcpy(to, bytes, len);
	return 0;
}

static int put_file(uint64_t at, const char *path)
{
	struct image i;
	int err = image_open(&i, path);

	if (err)
		return err;
	err = put(at, i.bytes, i.size);
	image_close(&i);
	return err;
}

static int tables_put(void)
{
	const uint64_t gdt[] = { 0, 0, 0x00af9b000000ffff, 0x00cf93000000ffff };
	uint64_t table[6 * 512] = { TABLES + VMM_PAGE + PAGE_THERE };

	for (uint64_t i = 0; i < 4; i++)
		table[512 + i] = TABLES + (2 + i) * VMM_PAGE + PAGE_THERE;
	for (uint64_t i = 0; i < 4 * 512; i++)
		table[2 * 512 + i] = i << 21 | PAGE_LARGE | PAGE_THERE;
	return put(TABLES, table, sizeof(table)) || put(GDT, gdt, sizeof(gdt));
}

static void e820(struct boot_params *zero, uint64_t from, uint64_t to,
		 uint32_t type)
{
	zero->e820_table[zero->e820_entries++] =
		(struct boot_e820_entry){ from, to - from, type };
}

/*
 * Linux counts an eighth of the TSC's ticks in a second by 32 bits for its timer
 * of deadlines.  With a faster clock, as by --slow, they wrap: each deadline is
 * many times too early, and Linux does nothing but set the next one.  Then it
 * has the APIC's counter, which it compares with the TSC.
 */
static bool deadline_wraps(const struct shape *s, uint64_t khz)
{
	return khz * s->slow * (1000 / DEADLINE_DIVISOR) > UINT32_MAX;
}

static int command_put(const struct boot *b, const struct shape *s, uint64_t khz)
{
	char text[COMMAND_MAX];
	int len;

	/*
	 * The clock's rate is told, as there is no other clock to compare with,
	 * and from it what each CPU would find out by waiting for ticks (at 250
	 * HZ, as most are); who waits idly leaves the CPU, unlike who polls.
	 */
	len = snprintf(text, sizeof(text),
		       "console=ttyS0 tsc=reliable tsc_early_khz=%llu lpj=%llu no_timer_check "
		       "idle=halt reboot=acpi %s%s",
		       (unsigned long long)(khz * s->slow),
		       (unsigned long long)(khz * s->slow * 1000 / 250),
		       deadline_wraps(s, khz) ? "lapic=notscdeadline " : "",
		       b->append);
	if (len >= (int)sizeof(text))
		return say("--append is too long: %d characters of %d at most",
			   len, COMMAND_MAX - 1);
	return put(COMMAND_LINE, text, len + 1);
}

/* At the end of node 0's memory; behind the kernel, in any case. */
static int initrd_put(struct boot_params *zero, const struct boot *b,
		      const struct shape *s, uint64_t kernel_end)
{
	struct image i;
	uint64_t at;
	int err;

	if (!b->initrd)
		return 0;
	if (image_open(&i, b->initrd))
		return -1;
	at = (s->each - i.size) & ~(VMM_PAGE - 1);
	if (i.size > s->each || at < kernel_end) {
		err = say("too little memory at node 0: the kernel ends at %llu MiB, %s has "
			  "%llu: give it more (mios-dsm run --memory)",
			  (unsigned long long)(kernel_end >> 20), b->initrd,
			  (unsigned long long)(i.size >> 20));
	} else {
		zero->hdr.ramdisk_image = at;
		zero->hdr.ramdisk_size = i.size;
		err = put(at, i.bytes, i.size);
	}
	image_close(&i);
	return err;
}

/* It says itself where it ends; newer ones than ours may be longer. */
static size_t header_size(const struct image *i)
{
	size_t size = 0x202 + i->bytes[0x201] - HEADER;

	return size < sizeof(struct setup_header) ? size :
		sizeof(struct setup_header);
}

static bool kernel_good(const struct image *i, const struct setup_header *h)
{
	return h->header == 0x53726448 && h->version >= PROTOCOL &&
		h->xloadflags & XLF_KERNEL_64 && h->relocatable_kernel &&
		(h->setup_sects + 1ull) * 512 < i->size;
}

static int kernel_put(struct boot *b, const struct shape *s,
		      struct boot_params *zero, const struct image *i)
{
	const struct setup_header *h = &zero->hdr;
	uint64_t head = (h->setup_sects + 1ull) * 512, at = h->pref_address;

	if (at + h->init_size > s->each || at < VMM_HIGH)
		return say("too little memory at node 0: the kernel wants %llu MiB there: give "
			   "it more (mios-dsm run --memory)",
			   (unsigned long long)((at + h->init_size) >> 20) + 1);
	b->entry = at + ENTRY_64;
	if (initrd_put(zero, b, s, at + h->init_size))
		return -1;
	return put(at, i->bytes + head, i->size - head);
}

static int linux_load(struct boot *b, const struct shape *s, uint64_t khz)
{
	struct boot_params zero = { };
	uint8_t acpi[ACPI_ROOM] = { };
	struct image i;
	int err;

	if (image_open(&i, b->kernel))
		return -1;
	if (i.size > HEADER + sizeof(zero.hdr))
		memcpy(&zero.hdr, i.bytes + HEADER, header_size(&i));
	if (!kernel_good(&i, &zero.hdr)) {
		image_close(&i);
		return say("%s is no 64-bit bzImage that can be moved: give --kernel a kernel of "
			   "x86-64 as its build leaves it in arch/x86/boot/bzImage",
			   b->kernel);
	}
	zero.hdr.type_of_loader = 0xff;
	zero.hdr.cmd_line_ptr = COMMAND_LINE;
	zero.acpi_rsdp_addr = VMM_ACPI;
	e820(&zero, 0, VMM_LOW_END, 1);
	e820(&zero, VMM_LOW_END, VMM_HIGH, 2);
	e820(&zero, VMM_HIGH, s->nodes * s->each, 1);
	err = kernel_put(b, s, &zero, &i);
	image_close(&i);
	if (err || command_put(b, s, khz) || tables_put())
		return -1;
	return put(VMM_ACPI, acpi, acpi_write(acpi, s)) ||
		put(ZERO_PAGE, &zero, sizeof(zero)) ? -1 : 0;
}

int boot_load(struct boot *b, const struct shape *s, uint64_t khz)
{
	return b->real ? put_file(BOOT_REAL_AT, b->real) :
		linux_load(b, s, khz);
}

static void real_registers(struct kvm_sregs *sregs, struct kvm_regs *regs)
{
	struct kvm_segment *all[] = { &sregs->cs, &sregs->ds, &sregs->es,
		&sregs->ss, &sregs->fs, &sregs->gs };

	for (int i = 0; i < 6; i++) {
		all[i]->selector = 0;
		all[i]->base = 0;
	}
	*regs = (struct kvm_regs){ .rip = BOOT_REAL_AT, .rsp = BOOT_REAL_AT,
				   .rflags = 2 };
}

void boot_registers(const struct boot *b, struct kvm_sregs *sregs,
		    struct kvm_regs *regs)
{
	const struct kvm_segment code = {
		.limit = 0xffffffff, .selector = 0x10, .type = 0xb,
		.present = 1, .s = 1, .l = 1, .g = 1,
	}, data = {
		.limit = 0xffffffff, .selector = 0x18, .type = 3,
		.present = 1, .s = 1, .db = 1, .g = 1,
	};

	if (b->real) {
		real_registers(sregs, regs);
		return;
	}
	sregs->cs = code;
	sregs->ds = sregs->es = sregs->ss = sregs->fs = sregs->gs = data;
	sregs->gdt.base = GDT;
	sregs->gdt.limit = 4 * 8 - 1;
	sregs->cr0 = CR0_PE | CR0_ET | CR0_PG;
	sregs->cr3 = TABLES;
	sregs->cr4 = CR4_PAE;
	sregs->efer = EFER_LME | EFER_LMA;
	*regs = (struct kvm_regs){ .rip = b->entry, .rsi = ZERO_PAGE,
				   .rflags = 2 };
}
