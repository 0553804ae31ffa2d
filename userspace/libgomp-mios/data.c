// SPDX-License-Identifier: GPL-2.0
/*
 * The program's own data, from the end of what the loader protects to the end
 * of .bss, becomes memory of the window, at the address where it is: copied by
 * the first process, only mapped by the others.  Arguments and environment lie
 * on the first stack, which is private; the program gets copies.
 */
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "window.h"

#define PAGE_SIZE	4096
#define PAGE_MASK	(PAGE_SIZE - 1ul)

struct range {
	unsigned long start, end;
};

/* The program is the first object; it has one segment that is written. */
static int find_data(struct dl_phdr_info *info, size_t size, void *out)
{
	struct range *data = out;
	const Elf64_Phdr *p;
	unsigned long at, relro = 0;
	int i;

	for (i = 0; i < info->dlpi_phnum; i++) {
		p = &info->dlpi_phdr[i];
		at = info->dlpi_addr + p->p_vaddr;
		if (p->p_type == PT_GNU_RELRO)
			relro = at + p->p_memsz;
		if (p->p_type != PT_LOAD || !(p->p_flags & PF_W))
			continue;
		data->start = at & ~PAGE_MASK;
		data->end = (at + p->p_memsz + PAGE_MASK) & ~PAGE_MASK;
	}
	relro &= ~PAGE_MASK;	/* the loader protects whole pages */
	if (relro > data->start && relro <= data->end)
		data->start = relro;
	return 1;
}

static struct range shared;		/* once it is */

static struct range data_range(void)
{
	struct range data = { 0, 0 };

	dl_iterate_phdr(find_data, &data);
	return data;
}

bool data_holds(const void *p)
{
	return (unsigned long)p >= shared.start &&
	       (unsigned long)p < shared.end;
}

/* Pages of zeroes are left to whoever uses them first: .bss may be large. */
static void copy_data(char *to, const struct range *data)
{
	static const char zeroes[PAGE_SIZE];
	const char *from;

	for (from = (char *)data->start; from < (char *)data->end;
	     from += PAGE_SIZE, to += PAGE_SIZE)
		if (memcmp(from, zeroes, PAGE_SIZE))
			memcpy(to, from, PAGE_SIZE);
}

size_t data_size(void)
{
	struct range data = data_range();

	return data.end - data.start;
}

/* The window's own mapping shows the same pages at a second address. */
void data_share(struct omp_window *w)
{
	struct range data = data_range();
	size_t size = data.end - data.start;

	if (!size)
		return;
	if (!mios_omp_place.number)
		copy_data((char *)w + OMP_DATA_AT, &data);
	if (mmap((void *)data.start, size, PROT_READ | PROT_WRITE, MAP_SHARED |
		 MAP_FIXED, mios_omp_place.fd, OMP_DATA_AT) == MAP_FAILED)
		omp_die("cannot share the program's data: %s",
			strerror(errno));
	shared = data;
}

static char **copy_words(char **words)
{
	size_t n = 0, i;
	char **copy;

	while (words[n])
		n++;
	copy = calloc(n + 1, sizeof(*copy));
	for (i = 0; copy && i < n; i++) {
		copy[i] = strdup(words[i]);
		if (!copy[i])
			copy = NULL;
	}
	if (!copy)
		omp_die("no memory left in the window for the arguments");
	return copy;
}

/* Returns the program's new argv[]. */
char **arguments_share(char **argv)
{
	char **copy = copy_words(argv), *slash;

	if (copy[0]) {
		slash = strrchr(copy[0], '/');
		program_invocation_name = copy[0];
		program_invocation_short_name = slash ? slash + 1 : copy[0];
	}
	environ = copy_words(environ);
	return copy;
}
