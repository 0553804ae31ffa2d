// SPDX-License-Identifier: GPL-2.0
/*
 * What mios dump makes of a dead kernel's memory, without a kernel: a file
 * stands for the memory.  First one whose tables and description are known,
 * then ones full of garbage, from which only an answer within bounds is asked.
 * Started by 85-dump-input; the last line says what failed.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/procfs.h>
#include <unistd.h>

#include "mios/dump.h"

#define LOW		0x40000000ULL
#define LOW_SIZE	0x400000ULL
#define HIGH		0x80000000ULL
#define HIGH_SIZE	0x200000ULL
#define DIRECT		0xffff91c000000000ULL
#define VMALLOC		0xffffc90000000000ULL
#define TEXT		0xffffffff81000000ULL
#define INFO		(LOW + 0x1000)
#define TABLE		(LOW + 0x3000)
#define ROUNDS		60

#define CHECK(cond) do {						\
	if (!(cond)) {							\
		printf("line %d, round %d: %s\n", __LINE__, round_nr,	\
		       #cond);						\
		exit(1);						\
	}								\
} while (0)

static const char text[] =
"OSRELEASE=6.12.0-test\nSYMBOL(init_top_pgt)=ffffffff81003000\n"
"KERNELOFFSET=1a000000\nNUMBER(phys_base)=1056964608\n"
"NUMBER(pgtable_l5_enabled)=0\nNUMBER(VMALLOC_START)=0xffffc90000000000\n";

static int round_nr;
static unsigned char *low, *high;	/* the memory, as we write it */
static int memory, out;
static volatile int stop;
static unsigned long long seed = 1;

static unsigned long long any(void)
{
	seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return seed >> 16;
}

static int temporary(void)
{
	char name[] = "/var/tmp/mios-dump-XXXXXX";
	int fd = mkstemp(name);

	CHECK(fd >= 0 && !unlink(name));
	return fd;
}

static void memory_make(void)
{
	memory = temporary();
	out = temporary();
	CHECK(!ftruncate(memory, HIGH + HIGH_SIZE));
	low = mmap(NULL, LOW_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, memory,
		   LOW);
	high = mmap(NULL, HIGH_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED,
		    memory, HIGH);
	CHECK(low != MAP_FAILED && high != MAP_FAILED);
}

static void entry(uint64_t table, int index, uint64_t value)
{
	memcpy(low + (table - LOW) + index * 8, &value, sizeof(value));
}

static void info_put(void)
{
	Elf64_Nhdr head = {
		.n_namesz = sizeof("VMCOREINFO"),
		.n_descsz = sizeof(text) - 1,
	};
	unsigned char *at = low + (INFO - LOW);

	memcpy(at, &head, sizeof(head));
	memcpy(at + sizeof(head), "VMCOREINFO", sizeof("VMCOREINFO"));
	memcpy(at + sizeof(head) + 12, text, sizeof(text));
}

/* Text in two large pages and beyond the node; three pages of vmalloc(). */
static void tables_put(void)
{
	entry(TABLE, 511, (TABLE + 0x1000) | 1);
	entry(TABLE + 0x1000, 510, (TABLE + 0x2000) | 1);
	entry(TABLE + 0x2000, 8, LOW | 0x81);
	entry(TABLE + 0x2000, 9, (LOW + 0x200000) | 0x81);
	entry(TABLE + 0x2000, 10, (LOW + 0x400000) | 0x81);
	entry(TABLE, VMALLOC >> 39 & 511, (TABLE + 0x3000) | 1);
	entry(TABLE + 0x3000, 0, (TABLE + 0x4000) | 1);
	entry(TABLE + 0x4000, 0, (TABLE + 0x5000) | 1);
	entry(TABLE + 0x5000, 0, HIGH | 1);
	entry(TABLE + 0x5000, 1, (HIGH + 0x1000) | 1ULL | 1ULL << 63);
	entry(TABLE + 0x5000, 2, (LOW + 0x100000) | 1);
	entry(TABLE + 0x5000, 3, LOW + 0x100000);	/* not present */
}

static struct dump *dump_make(void)
{
	static struct dump d;

	memset(&d, 0, sizeof(d));
	d.fd = memory;
	d.node.nr_ranges = 2;
	d.node.ranges[0] = (struct mios_dump_range){ LOW, LOW_SIZE };
	d.node.ranges[1] = (struct mios_dump_range){ HIGH, HIGH_SIZE };
	d.node.nr_cpus = 2;
	d.node.page_offset = DIRECT;
	d.node.vmcoreinfo = INFO;
	d.node.vmcoreinfo_size = 4096;
	d.cpus[0].flags = MIOS_CPU_SAVED;
	d.cpus[0].regs[19] = VMALLOC + 0x1800;
	return &d;
}

/* The registers of CPU 0, and what the kernel said of itself. */
static void notes_check(const struct dump *d, uint64_t at, uint64_t size)
{
	unsigned char buf[16384];
	Elf64_Nhdr *n = (void *)buf;
	struct elf_prstatus status;

	CHECK(size <= sizeof(buf) && pread(out, buf, size, at) == (ssize_t)size);
	CHECK(n->n_type == NT_PRSTATUS && n->n_descsz == sizeof(status) &&
	      n->n_namesz == 5 && !strcmp((char *)(n + 1), "CORE"));
	memcpy(&status, buf + sizeof(*n) + 8, sizeof(status));
	CHECK(status.pr_pid == 1 && !memcmp(&status.pr_reg, d->cpus[0].regs,
					    sizeof(status.pr_reg)));
	CHECK(size == sizeof(*n) + 8 + sizeof(status) + d->note_size);
	if (d->note)
		CHECK(!memcmp(buf + size - d->note_size, d->note,
			      d->note_size));
}

/* Every byte that a program header names is the memory's. */
static unsigned int file_check(const struct dump *d)
{
	unsigned char a[16], b[16];
	uint64_t size = lseek(out, 0, SEEK_END);
	unsigned int i, j, loads = 0;
	Elf64_Ehdr e;
	Elf64_Phdr p;

	CHECK(pread(out, &e, sizeof(e), 0) == sizeof(e));
	CHECK(!memcmp(e.e_ident, ELFMAG, SELFMAG) && e.e_type == ET_CORE);
	for (i = 0; i < e.e_phnum; i++) {
		CHECK(pread(out, &p, sizeof(p), e.e_phoff + i * sizeof(p)) ==
		      sizeof(p));
		CHECK(p.p_offset <= size && p.p_filesz <= size - p.p_offset);
		if (p.p_type == PT_NOTE)
			notes_check(d, p.p_offset, p.p_filesz);
		if (p.p_type != PT_LOAD)
			continue;
		loads++;
		for (j = 0; j < 4; j++) {
			uint64_t at = any() % (p.p_filesz / 16) * 16;

			CHECK(!dump_read(d, p.p_paddr + at, a, sizeof(a)));
			CHECK(pread(out, b, sizeof(b), p.p_offset + at) == 16);
			CHECK(!memcmp(a, b, sizeof(a)));
		}
	}
	return loads;
}

static void forget(struct dump *d)
{
	free(d->note);
	if (*d->info)
		free(d->info);
}

static void known(void)
{
	struct dump *d = dump_make();
	static const struct dump_map want[] = {
		{ TEXT, LOW, LOW_SIZE },
		{ VMALLOC, HIGH, 0x2000 },		/* the stack's */
		{ VMALLOC + 0x2000, LOW + 0x100000, 0x1000 },
		{ VMALLOC, HIGH, 0x2000 },
		{ VMALLOC + 0x2000, LOW + 0x100000, 0x1000 },
	};
	char release[32];

	info_put();
	tables_put();
	dump_info_read(d);
	CHECK(d->note && d->offset == 0x1a000000);
	CHECK(!dump_info(d, "OSRELEASE", release, sizeof(release)));
	CHECK(!strcmp(release, "6.12.0-test"));
	CHECK(dump_info(d, "RELEASE", release, sizeof(release)) == -ENOENT);
	CHECK(!dump_maps_find(d));
	CHECK(d->nr_maps == 5 && !d->more_maps);
	CHECK(!memcmp(d->maps, want, sizeof(want)));
	CHECK(!dump_core_write(d, out, &stop));
	CHECK(file_check(d) == 2 + 5);
	stop = 1;
	CHECK(dump_core_write(d, out, &stop) == -EINTR);
	stop = 0;
	forget(d);
}

static void no_memory(void)
{
	struct dump *d = dump_make();
	char buf[64];

	CHECK(dump_read(d, LOW + LOW_SIZE - 32, buf, 64) == -EFAULT);
	CHECK(dump_read(d, LOW - 1, buf, 1) == -EFAULT);
	CHECK(dump_read(d, -1ULL, buf, 64) == -EFAULT);
	d->node.vmcoreinfo = LOW + LOW_SIZE - 64;
	dump_info_read(d);
	CHECK(!d->note && !*d->info && dump_maps_find(d) == -ENOENT);
	d->node.vmcoreinfo_size = -1ULL;
	dump_info_read(d);
	CHECK(!d->note);
}

/* Tables that lead anywhere, most often to each other. */
static void tables_spoil(void)
{
	int i;

	for (i = 0; i < 8 * 512; i++) {
		uint64_t value = 0;

		if (any() % 4 < 1 + round_nr % 4)
			value = TABLE + (any() % 8 << 12);
		if (any() % 8 == 0)
			value = any() << 12;
		entry(TABLE, i, value | (any() & 0x81));
	}
}

static void info_spoil(struct dump *d)
{
	int i;

	for (i = 0; i < round_nr % 8; i++)
		low[INFO - LOW + any() % (20 + sizeof(text))] = any();
	d->node.vmcoreinfo_size = round_nr % 3 ? 4096 : any() % 300;
	d->node.page_offset = any() % 2 ? any() * any() : DIRECT;
	d->cpus[0].regs[19] = any() * any();
}

static void garbage(void)
{
	for (round_nr = 1; round_nr <= ROUNDS; round_nr++) {
		struct dump *d = dump_make();
		size_t i;

		info_put();
		tables_spoil();
		info_spoil(d);
		dump_info_read(d);
		dump_maps_find(d);
		CHECK(d->nr_maps <= DUMP_MAPS_MAX);
		for (i = 0; i < d->nr_maps; i++) {
			int range = dump_range(d, d->maps[i].physical);

			CHECK(range >= 0 && d->maps[i].size);
			CHECK(dump_range(d, d->maps[i].physical +
					 d->maps[i].size - 1) == range);
		}
		CHECK(!ftruncate(out, 0) && !dump_core_write(d, out, &stop));
		CHECK(file_check(d) == 2 + d->nr_maps);
		forget(d);
	}
}

int main(void)
{
	memory_make();
	known();
	no_memory();
	garbage();
	printf("known memory, and %d of garbage\n", ROUNDS);
	return 0;
}
