// SPDX-License-Identifier: GPL-2.0
/*
 * C's streams.  They and their buffers are in the heap of all; what libc does with
 * their descriptors goes by its tables of functions, where ours stand instead, so
 * whoever uses a stream reads and writes as calls.c has it.
 */
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "files.h"

#define PAGE_MASK	4095ul
#define HAS_FAILED	0x20		/* libc's _IO_ERR_SEEN */

/* What stands in libc's tables, by the names that it gives out. */
enum { READ, WRITE, SEEK, CLOSE, STAT, ENTRIES };

static uintptr_t libcs[ENTRIES];

#define LIBC(I, TYPE)	((TYPE)libcs[I])

static ssize_t stream_read(FILE *f, void *p, ssize_t n)
{
	if (files_here(f->_fileno))
		return LIBC(READ, ssize_t (*)(FILE *, void *, ssize_t))(f, p, n);
	return read(f->_fileno, p, n);
}

static ssize_t stream_write(FILE *f, const void *p, ssize_t n)
{
	ssize_t left = n, done;

	if (files_here(f->_fileno))
		return LIBC(WRITE, ssize_t (*)(FILE *, const void *,
					       ssize_t))(f, p, n);
	while (left > 0) {
		done = write(f->_fileno, p, left);
		if (done < 0) {
			f->_flags |= HAS_FAILED;
			break;
		}
		left -= done;
		p = (const char *)p + done;
	}
	n -= left;
	if (f->_offset >= 0)
		f->_offset += n;
	return n;
}

static off64_t stream_seek(FILE *f, off64_t at, int from)
{
	return lseek64(f->_fileno, at, from);
}

static int stream_close(FILE *f)
{
	return close(f->_fileno);
}

static int stream_stat(FILE *f, void *st)
{
	return fstat64(f->_fileno, st);
}

static const struct {
	const char *name;
	uintptr_t ours;
} entries[ENTRIES] = {
	[READ] = { "_IO_file_read", (uintptr_t)stream_read },
	[WRITE] = { "_IO_file_write", (uintptr_t)stream_write },
	[SEEK] = { "_IO_file_seek", (uintptr_t)stream_seek },
	[CLOSE] = { "_IO_file_close", (uintptr_t)stream_close },
	[STAT] = { "_IO_file_stat", (uintptr_t)stream_stat },
};

/* How many of them were there. */
static int set_entries(uintptr_t *from, uintptr_t *end)
{
	int i, found = 0;

	for (; from < end; from++)
		for (i = 0; i < ENTRIES; i++)
			if (*from == libcs[i]) {
				*from = entries[i].ours;
				found++;
			}
	return found;
}

/* The tables are in what the loader has protected. */
static int set_tables(struct dl_phdr_info *info, size_t size, void *found)
{
	const Elf64_Phdr *p = info->dlpi_phdr, *end = p + info->dlpi_phnum;
	uintptr_t from, to;

	if (!strstr(info->dlpi_name, "/libc.so"))
		return 0;
	while (p < end && p->p_type != PT_GNU_RELRO)
		p++;
	if (p == end)
		return 0;
	from = (info->dlpi_addr + p->p_vaddr) & ~PAGE_MASK;
	to = (info->dlpi_addr + p->p_vaddr + p->p_memsz) & ~PAGE_MASK;
	if (syscall(SYS_mprotect, from, to - from, PROT_READ | PROT_WRITE))
		return 0;
	*(int *)found = set_entries((uintptr_t *)from, (uintptr_t *)to);
	syscall(SYS_mprotect, from, to - from, PROT_READ);
	return 1;
}

void streams_start(void)
{
	int i, found = 0;

	for (i = 0; i < ENTRIES; i++)
		libcs[i] = (uintptr_t)dlsym(RTLD_NEXT, entries[i].name);
	for (i = 0; i < ENTRIES && libcs[i]; i++)
		;
	if (i == ENTRIES)
		dl_iterate_phdr(set_tables, &found);
	if (found < ENTRIES && !mios_omp_place.number)
		fputs("mios: omp: this C library's streams work only in the "
		      "process that has opened them\n", stderr);
}
