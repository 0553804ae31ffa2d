// SPDX-License-Identifier: GPL-2.0
/*
 * The data of the program and of its libraries: from the end of what the loader
 * protects to the end of .bss it becomes memory of the window, at the address where it
 * is, copied by the first process, only mapped by the others.  But a few libraries are
 * each process's own: what they keep is of its kernel, its threads or its loader.
 * Arguments and environment lie on the first stack, which is private; the program
 * gets copies.
 */
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "inside.h"

#define PAGE_SIZE	4096
#define PAGE_MASK	(PAGE_SIZE - 1ul)

struct range {
	unsigned long start, end;
	const char *name;		/* "": the program */
};

/* In the order in which they are loaded, the program's first. */
static struct range shared[OMP_MAX_OBJECTS];
static unsigned int nr_shared;

/* Without what the loader protects, which is whole pages of one segment. */
static void take_segment(const struct dl_phdr_info *info, const Elf64_Phdr *p,
			 unsigned long relro)
{
	unsigned long at = info->dlpi_addr + p->p_vaddr;
	struct range data = {
		.start = at & ~PAGE_MASK,
		.end = (at + p->p_memsz + PAGE_MASK) & ~PAGE_MASK,
		.name = info->dlpi_name,
	};

	if (relro > data.start && relro <= data.end)
		data.start = relro;
	if (data.start == data.end)
		return;
	if (nr_shared == OMP_MAX_OBJECTS)
		omp_die("more than %d segments of data", OMP_MAX_OBJECTS);
	shared[nr_shared++] = data;
}

/* As a rule there is one that is written; large data has another. */
static void take_segments(const struct dl_phdr_info *info)
{
	unsigned long relro = 0;
	const Elf64_Phdr *p;
	int i;

	for (i = 0; i < info->dlpi_phnum; i++) {
		p = &info->dlpi_phdr[i];
		if (p->p_type == PT_GNU_RELRO)
			relro = (info->dlpi_addr + p->p_vaddr + p->p_memsz) &
				~PAGE_MASK;
	}
	for (i = 0; i < info->dlpi_phnum; i++) {
		p = &info->dlpi_phdr[i];
		if (p->p_type == PT_LOAD && p->p_flags & PF_W)
			take_segment(info, p, relro);
	}
}

static const Elf64_Dyn *find_dynamic(const struct dl_phdr_info *info)
{
	int i;

	for (i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
			return (const void *)(info->dlpi_addr +
					      info->dlpi_phdr[i].p_vaddr);
	return NULL;
}

/*
 * Each process's own: loader and libc, of which only the calls are everybody's that
 * have a file here; what unwinds, and C++'s streams, which libc's are below; ours; and
 * a library that has threads of its own by now, for each process, and no state that a
 * program sees.
 */
static bool is_private(const char *name)
{
	static const char *const names[] = {
		"ld-linux-", "libc.so.", "libm.so.", "libmvec.so.",
		"libpthread.so.", "libdl.so.", "librt.so.", "libutil.so.",
		"libresolv.so.", "libanl.so.", "libgcc_s.so.", "libstdc++.so.",
		"libgomp.so.", "libmios-omp.so", "linux-vdso.",
		"libopenblas", "libblas.so.", "liblapack.so.",
	};
	const char *slash = strrchr(name, '/');
	size_t i;

	name = slash ? slash + 1 : name;
	for (i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strncmp(name, names[i], strlen(names[i])))
			return true;
	return false;
}

/* Is it linked with libgomp?  Its members work with its data, then. */
static bool has_regions(const struct dl_phdr_info *info)
{
	const Elf64_Dyn *d, *dynamic = find_dynamic(info);
	const char *strings = NULL;

	for (d = dynamic; d && d->d_tag != DT_NULL; d++)
		if (d->d_tag == DT_STRTAB)	/* the loader has moved it */
			strings = (const char *)d->d_un.d_ptr;
	for (d = dynamic; strings && d->d_tag != DT_NULL; d++)
		if (d->d_tag == DT_NEEDED &&
		    !strcmp(strings + d->d_un.d_val, "libgomp.so.1"))
			return true;
	return false;
}

static int take_object(struct dl_phdr_info *info, size_t size, void *first)
{
	bool *is_program = first;

	/* What malloc() gives may be private: then so is what points to it. */
	if (*is_program || has_regions(info) ||
	    (!mios_omp_place.strict && !is_private(info->dlpi_name)))
		take_segments(info);
	*is_program = false;
	return 0;
}

static void find_all(void)
{
	bool first = true;

	if (!nr_shared)
		dl_iterate_phdr(take_object, &first);
}

size_t data_size(void)
{
	size_t size = 0;
	unsigned int i;

	find_all();
	for (i = 0; i < nr_shared; i++)
		size += shared[i].end - shared[i].start;
	return size;
}

bool data_holds(const void *p)
{
	unsigned long at = (unsigned long)p;
	unsigned int i;

	for (i = 0; i < nr_shared; i++)
		if (at >= shared[i].start && at < shared[i].end)
			return true;
	return false;
}

/* Does the same lie there in all processes? */
bool data_shared(const void *p)
{
	const struct omp_window *w = mios_omp_place.window;

	return w && ((uintptr_t)p - (uintptr_t)w < w->size || data_holds(p));
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

/* The window's own mapping shows the same pages at a second address. */
static int map_data(int fd, int how)
{
	off_t at = OMP_DATA_AT;
	unsigned int i;
	size_t size;

	for (i = 0; i < nr_shared; at += size, i++) {
		size = shared[i].end - shared[i].start;
		if (size && kernel_mmap((void *)shared[i].start, size,
					PROT_READ | PROT_WRITE, how | MAP_FIXED,
					fd, at) == MAP_FAILED)
			return -errno;
	}
	return 0;
}

void data_share(struct omp_window *w)
{
	char *to = (char *)w + OMP_DATA_AT;
	unsigned int i;
	int err;

	find_all();
	for (i = 0; i < nr_shared && !mios_omp_place.number; i++) {
		copy_data(to, &shared[i]);
		to += shared[i].end - shared[i].start;
	}
	err = map_data(mios_omp_place.fd, MAP_SHARED);
	if (err)
		omp_die("cannot share the program's data: %s", strerror(-err));
}

void data_each(void (*fn)(const char *name, unsigned long start,
			  unsigned long end))
{
	unsigned int i;

	for (i = 0; i < nr_shared; i++)
		fn(shared[i].name, shared[i].start, shared[i].end);
}

/* In a child: what it writes is its own. */
int data_separate(int fd)
{
	return map_data(fd, MAP_PRIVATE);
}

static char **copy_words(char **words)
{
	size_t n = 0, i;
	char **copy;

	while (words[n])
		n++;
	copy = mios_omp_zalloc((n + 1) * sizeof(*copy));
	for (i = 0; copy && i < n; i++) {
		copy[i] = mios_omp_alloc(strlen(words[i]) + 1);
		if (copy[i])
			strcpy(copy[i], words[i]);
		else
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
