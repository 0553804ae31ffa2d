// SPDX-License-Identifier: GPL-2.0
/*
 * Writes the dump: an ELF core file as /proc/vmcore is one.  The node's memory
 * is in it once; the program headers name it twice or more, at the addresses
 * where the dead kernel had it.  Pages of zeros are left out as holes, and the
 * head of the file is written last, so that half of a dump is never one.
 *
 *   ELF header | program headers | notes | range 0 | range 1 | ...
 *
 */
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/procfs.h>
#include <unistd.h>

#include "dump.h"

#define PIECE		(1024 * 1024ULL)
#define CORE_NAME	"CORE"
/* Where a kernel without KASLR has it: for one that could not say. */
#define PAGE_OFFSET	0xffff888000000000ULL

_Static_assert(sizeof(((struct elf_prstatus *)0)->pr_reg) ==
	       MIOS_DUMP_REGS * sizeof(uint64_t), "registers of a core file");

struct cpu_note {
	Elf64_Nhdr head;
	char name[8];
	struct elf_prstatus status;
} __attribute__((packed));

struct layout {
	size_t nr_headers;
	size_t notes_at, notes_size;
	uint64_t data_at;
};

static uint64_t align_page(uint64_t size)
{
	return (size + DUMP_PAGE - 1) & -DUMP_PAGE;
}

static void layout_make(const struct dump *d, struct layout *l)
{
	unsigned int i;

	l->nr_headers = 1 + d->node.nr_ranges + d->nr_maps;
	l->notes_at = sizeof(Elf64_Ehdr) + l->nr_headers * sizeof(Elf64_Phdr);
	l->notes_size = d->note_size;
	for (i = 0; i < d->node.nr_cpus; i++)
		if (d->cpus[i].flags & MIOS_CPU_SAVED)
			l->notes_size += sizeof(struct cpu_note);
	l->data_at = align_page(l->notes_at + l->notes_size);
}

/* Where in the file a range begins. */
static uint64_t range_at(const struct dump *d, const struct layout *l,
			 unsigned int range)
{
	uint64_t at = l->data_at;
	unsigned int i;

	for (i = 0; i < range; i++)
		at += d->node.ranges[i].size;
	return at;
}

static void elf_header(const struct layout *l, Elf64_Ehdr *e)
{
	memcpy(e->e_ident, ELFMAG, SELFMAG);
	e->e_ident[EI_CLASS] = ELFCLASS64;
	e->e_ident[EI_DATA] = ELFDATA2LSB;
	e->e_ident[EI_VERSION] = EV_CURRENT;
	e->e_type = ET_CORE;
	e->e_machine = EM_X86_64;
	e->e_version = EV_CURRENT;
	e->e_phoff = sizeof(*e);
	e->e_ehsize = sizeof(*e);
	e->e_phentsize = sizeof(Elf64_Phdr);
	e->e_phnum = l->nr_headers;
}

static void load_header(const struct dump *d, const struct layout *l,
			const struct dump_map *map, Elf64_Phdr *p)
{
	int range = dump_range(d, map->physical);

	p->p_type = PT_LOAD;
	p->p_flags = PF_R | PF_W | PF_X;
	p->p_vaddr = map->virtual;
	p->p_paddr = map->physical;
	p->p_filesz = p->p_memsz = map->size;
	p->p_offset = range_at(d, l, range) + map->physical -
		      d->node.ranges[range].base;
}

/*
 * The map of all memory comes last: from the last one below the image
 * makedumpfile learns where that map is.
 */
static void program_headers(const struct dump *d, const struct layout *l,
			    Elf64_Phdr *p)
{
	uint64_t base = d->node.page_offset ?: PAGE_OFFSET;
	size_t i;

	p->p_type = PT_NOTE;
	p->p_offset = l->notes_at;
	p->p_filesz = p->p_memsz = l->notes_size;
	for (i = 0; i < d->nr_maps; i++)
		load_header(d, l, &d->maps[i], ++p);
	for (i = 0; i < d->node.nr_ranges; i++) {
		const struct mios_dump_range *r = &d->node.ranges[i];
		struct dump_map map = { base + r->base, r->base, r->size };

		load_header(d, l, &map, ++p);
	}
}

/* As QEMU does it, "thread" i + 1 is CPU i: idle tasks all have PID 0. */
static void notes_fill(const struct dump *d, unsigned char *at)
{
	unsigned int i;

	for (i = 0; i < d->node.nr_cpus; i++) {
		const struct mios_dump_cpu *cpu = &d->cpus[i];
		struct cpu_note note = {
			.head.n_namesz = sizeof(CORE_NAME),
			.head.n_descsz = sizeof(note.status),
			.head.n_type = NT_PRSTATUS,
			.name = CORE_NAME,
			.status.pr_pid = i + 1,
		};

		if (!(cpu->flags & MIOS_CPU_SAVED))
			continue;
		memcpy(&note.status.pr_reg, cpu->regs, sizeof(cpu->regs));
		memcpy(at, &note, sizeof(note));
		at += sizeof(note);
	}
	if (d->note)
		memcpy(at, d->note, d->note_size);
}

static int write_all(int fd, const void *buf, size_t size, uint64_t at)
{
	while (size) {
		ssize_t put = pwrite(fd, buf, size, at);

		if (put < 0 && errno == EINTR)
			continue;
		if (put <= 0)
			return put ? -errno : -EIO;
		buf = (const char *)buf + put;
		at += put;
		size -= put;
	}
	return 0;
}

static bool is_zero(const unsigned char *page)
{
	return !page[0] && !memcmp(page, page + 1, DUMP_PAGE - 1);
}

/* Pages with something in them, as few writes as possible. */
static int piece_write(int fd, const unsigned char *buf, size_t size,
		       uint64_t at)
{
	size_t first = 0, end;
	int err = 0;

	while (first < size && !err) {
		if (is_zero(buf + first)) {
			first += DUMP_PAGE;
			continue;
		}
		for (end = first; end < size && !is_zero(buf + end);)
			end += DUMP_PAGE;
		err = write_all(fd, buf + first, end - first, at + first);
		first = end;
	}
	return err;
}

static int range_write(const struct dump *d, const struct layout *l,
		       unsigned int range, int fd, const volatile int *stop)
{
	const struct mios_dump_range *r = &d->node.ranges[range];
	uint64_t done, size, at = range_at(d, l, range);
	unsigned char *buf = malloc(PIECE);
	int err = buf ? 0 : -ENOMEM;

	for (done = 0; done < r->size && !err; done += size) {
		size = r->size - done < PIECE ? r->size - done : PIECE;
		err = *stop ? -EINTR : dump_read(d, r->base + done, buf, size);
		if (!err)
			err = piece_write(fd, buf, size, at + done);
	}
	free(buf);
	return err;
}

static int head_write(const struct dump *d, const struct layout *l, int fd)
{
	unsigned char *head = calloc(1, l->data_at);
	int err;

	if (!head)
		return -ENOMEM;
	elf_header(l, (Elf64_Ehdr *)head);
	program_headers(d, l, (Elf64_Phdr *)(head + sizeof(Elf64_Ehdr)));
	notes_fill(d, head + l->notes_at);
	err = write_all(fd, head, l->data_at, 0);
	free(head);
	return err;
}

/* -EINTR when @stop is set meanwhile. */
int dump_core_write(const struct dump *d, int fd, const volatile int *stop)
{
	struct layout l;
	unsigned int i;
	int err = 0;

	layout_make(d, &l);
	/* A hole at the end is a part of the file, too. */
	if (ftruncate(fd, range_at(d, &l, d->node.nr_ranges)))
		return -errno;
	for (i = 0; i < d->node.nr_ranges && !err; i++)
		err = range_write(d, &l, i, fd, stop);
	if (!err && fsync(fd))
		err = -errno;
	return err ?: head_write(d, &l, fd) ?: fsync(fd) ? -errno : 0;
}
