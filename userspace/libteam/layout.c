// SPDX-License-Identifier: GPL-2.0
/*
 * Pointers to functions, tables of virtual functions and what the loader has
 * resolved lie in shared data.  So the program and all its libraries must be
 * the same files at the same addresses in all processes of a team; who finds
 * that they are not, says which and ends.
 */
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "inside.h"

struct walk {
	struct omp_object *list;
	unsigned int count;
};

/* FNV-1a over the build-id, or 0 if there is none. */
static uint64_t hash_note(const uint8_t *note, const uint8_t *end)
{
	uint64_t hash = 0xcbf29ce484222325ull;
	const Elf64_Nhdr *head;
	const uint8_t *p;

	while (note + sizeof(*head) <= end) {
		head = (const void *)note;
		p = note + sizeof(*head) + ((head->n_namesz + 3) & ~3u);
		if (p + head->n_descsz > end)
			break;
		note = p + ((head->n_descsz + 3) & ~3u);
		if (head->n_type != NT_GNU_BUILD_ID)
			continue;
		while (p < note)
			hash = (hash ^ *p++) * 0x100000001b3ull;
		return hash;
	}
	return 0;
}

static uint64_t build_of(const struct dl_phdr_info *info)
{
	uint64_t hash = 0;
	const uint8_t *note;
	int i;

	for (i = 0; i < info->dlpi_phnum && !hash; i++) {
		if (info->dlpi_phdr[i].p_type != PT_NOTE)
			continue;
		note = (const uint8_t *)info->dlpi_addr +
			info->dlpi_phdr[i].p_vaddr;
		hash = hash_note(note, note + info->dlpi_phdr[i].p_memsz);
	}
	return hash;
}

static const char *name_of(const struct dl_phdr_info *info)
{
	const char *slash = strrchr(info->dlpi_name, '/');

	if (!*info->dlpi_name)
		return "the program";
	return slash ? slash + 1 : info->dlpi_name;
}

/* All but what the kernel itself puts there, which nothing refers to. */
static int take_object(struct dl_phdr_info *info, size_t size, void *data)
{
	struct walk *walk = data;
	struct omp_object *o = &walk->list[walk->count];
	const char *name = name_of(info);

	if (!strncmp(name, "linux-vdso", 10))
		return 0;
	if (walk->count == OMP_MAX_OBJECTS)
		omp_die("more than %d libraries", OMP_MAX_OBJECTS);
	if (!strncmp(name, "libomp.so", 9) || !strncmp(name, "libiomp", 7) ||
	    !strncmp(name, "libgomp-", 8))	/* as wheels of Python have it */
		omp_die("%s is a second OpenMP runtime in this program: it "
			"knows nothing of the team", name);
	allocator_refuse(name);
	o->base = info->dlpi_addr;
	o->build = build_of(info);
	snprintf(o->name, sizeof(o->name), "%s", name);
	walk->count++;
	return 0;
}

/* Links of the folder: itself, its parent, and one for each thread. */
static bool has_threads(void)
{
	struct stat st;

	return !stat("/proc/self/task", &st) && st.st_nlink > 3;
}

/* BLAS may: each process has one of its own (data.c). */
static int is_blas(struct dl_phdr_info *info, size_t size, void *unused)
{
	return !!strstr(info->dlpi_name, "blas");
}

void layout_write(struct omp_window *w)
{
	struct walk walk = { w->objects, 0 };

	dl_iterate_phdr(take_object, &walk);
	w->nr_objects = walk.count;
	if (has_threads() && !dl_iterate_phdr(is_blas, NULL))
		omp_die("a library of the program has started a thread before "
			"main(), one in each process: run the program without "
			"--omp");
}

void layout_compare(const struct omp_window *w)
{
	static struct omp_object mine[OMP_MAX_OBJECTS];
	const struct omp_object *o;
	struct walk walk = { mine, 0 };
	unsigned int i;

	dl_iterate_phdr(take_object, &walk);
	for (i = 0; i < walk.count && i < w->nr_objects; i++) {
		o = &w->objects[i];
		if (strncmp(o->name, mine[i].name, sizeof(o->name)) ||
		    o->build != mine[i].build)
			omp_die("process %u: %s is not that of the first one",
				mios_omp_place.number, mine[i].name);
		if (o->base != mine[i].base)
			omp_die("process %u has %s at 0x%lx, the first one at "
				"0x%lx; if a library has just been installed, try again",
				mios_omp_place.number, mine[i].name,
				(unsigned long)mine[i].base,
				(unsigned long)o->base);
	}
	if (walk.count != w->nr_objects)
		omp_die("process %u has %u libraries, the first one %u",
			mios_omp_place.number, walk.count, w->nr_objects);
}

/*
 * What all are to run has to be there in all.  What dlopen() has loaded since is in
 * one process alone; of what the program has made itself nobody knows.
 */
void mios_omp_demand_code(const void *code)
{
	const struct omp_window *w = mios_omp_place.window;
	struct dl_find_object found;
	const char *slash;
	unsigned int i;

	if (_dl_find_object((void *)code, &found))
		return;
	for (i = 0; i < w->nr_objects; i++)
		if (w->objects[i].base == found.dlfo_link_map->l_addr)
			return;
	slash = strrchr(found.dlfo_link_map->l_name, '/');
	omp_die("%s has been loaded by dlopen(), into one process alone, so its "
		"regions cannot be the team's: run the program without --omp",
		slash ? slash + 1 : found.dlfo_link_map->l_name);
}
