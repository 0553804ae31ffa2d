// SPDX-License-Identifier: GPL-2.0
/*
 * Checks a vmlinux, the kernel as the linker leaves it, and lists what to
 * load: its PT_LOAD headers by physical address, relative to the first.  An
 * x86-64 kernel finds out by itself how far it was moved, as long as it
 * keeps its offset within 2 MiB.  Called by image_check().
 */
#include <errno.h>
#include <gelf.h>
#include <stdbool.h>
#include <string.h>

#include "loader.h"

#define BANNER "Linux version "

/*
 * An ordinary static program has everything else that a kernel has, so the
 * banner decides.  It also names the release.
 */
static int check_banner(const struct loader_file *file,
			struct loader_image *image, struct loader_error *err)
{
	const unsigned char *found, *text;
	const struct loader_part *part;
	unsigned int i;

	for (i = 0; i < image->nr_parts; i++) {
		part = &image->parts[i];
		found = memmem(file->data + part->from, part->size, BANNER,
			       strlen(BANNER));
		if (!found)
			continue;
		text = found + strlen(BANNER);
		image_release_copy(image, text, file->data + part->from +
						part->size - text);
		return 0;
	}
	return loader_fail(err, -ENOEXEC, "%s: an ELF program, but not a "
			   "Linux kernel", file->path);
}

static int add_part(const struct loader_file *file, const GElf_Phdr *ph,
		    uint64_t first, struct loader_image *image,
		    struct loader_error *err)
{
	struct loader_part *part;

	if (ph->p_offset > file->size ||
	    ph->p_filesz > file->size - ph->p_offset)
		return loader_fail(err, -ENOEXEC, "%s: truncated: a part of "
				   "it lies behind its end", file->path);
	if (ph->p_filesz > ph->p_memsz || ph->p_paddr % LOADER_PAGE ||
	    ph->p_paddr < first + image->memsz)
		return loader_fail(err, -ENOEXEC, "%s: damaged: its parts "
				   "overlap or lie crooked", file->path);
	if (ph->p_memsz > LOADER_MAX_KERNEL ||
	    ph->p_paddr - first > LOADER_MAX_KERNEL)
		return loader_fail(err, -EFBIG, "%s: too large: at most %llu "
				   "MiB are possible", file->path,
				   LOADER_MAX_KERNEL >> 20);
	if (image->nr_parts == LOADER_MAX_PARTS)
		return loader_fail(err, -ENOEXEC, "%s: more than %d parts to "
				   "load", file->path, LOADER_MAX_PARTS);
	part = &image->parts[image->nr_parts++];
	part->from = ph->p_offset;
	part->size = ph->p_filesz;
	part->to = ph->p_paddr - first;
	part->memsz = loader_align_up(ph->p_memsz, LOADER_PAGE);
	image->memsz = part->to + part->memsz;
	return 0;
}

static int read_parts(Elf *elf, const struct loader_file *file,
		      uint64_t *first, struct loader_image *image,
		      struct loader_error *err)
{
	size_t i, nr;
	GElf_Phdr ph;
	int ret;

	if (elf_getphdrnum(elf, &nr))
		return loader_fail(err, -ENOEXEC, "%s: truncated or damaged: "
				   "%s", file->path, elf_errmsg(-1));
	for (i = 0; i < nr; i++) {
		if (!gelf_getphdr(elf, i, &ph))
			return loader_fail(err, -ENOEXEC, "%s: truncated or "
					   "damaged: %s", file->path,
					   elf_errmsg(-1));
		if (ph.p_type != PT_LOAD || !ph.p_memsz)
			continue;
		if (!image->nr_parts)
			*first = ph.p_paddr;
		ret = add_part(file, &ph, *first, image, err);
		if (ret)
			return ret;
	}
	if (!image->nr_parts)
		return loader_fail(err, -ENOEXEC, "%s: damaged: nothing in "
				   "it to load", file->path);
	return 0;
}

/*
 * Sections are not loaded, but a file that lost some at its end was cut, and
 * nobody knows what else happened to it.
 */
static int check_sections(Elf *elf, const GElf_Ehdr *eh,
			  const struct loader_file *file,
			  struct loader_error *err)
{
	Elf_Scn *section = NULL;
	uint64_t end = eh->e_shoff + (uint64_t)eh->e_shnum * eh->e_shentsize;
	GElf_Shdr sh;

	if (eh->e_shoff > file->size || end > file->size)
		return loader_fail(err, -ENOEXEC, "%s: truncated: %zu bytes "
				   "are there, more than that belong to it",
				   file->path, file->size);
	while ((section = elf_nextscn(elf, section))) {
		if (!gelf_getshdr(section, &sh))
			return loader_fail(err, -ENOEXEC, "%s: truncated or "
					   "damaged: %s", file->path,
					   elf_errmsg(-1));
		if (sh.sh_type != SHT_NOBITS &&
		    (sh.sh_offset > file->size ||
		     sh.sh_size > file->size - sh.sh_offset))
			return loader_fail(err, -ENOEXEC, "%s: truncated: a "
					   "section lies behind its end",
					   file->path);
	}
	return 0;
}

static int check_entry(const GElf_Ehdr *eh, const struct loader_file *file,
		       uint64_t first, struct loader_image *image,
		       struct loader_error *err)
{
	if (first % LOADER_ALIGN)
		return loader_fail(err, -ENOEXEC, "%s: linked to %#llx, not "
				   "to a multiple of 2 MiB", file->path,
				   (unsigned long long)first);
	if (eh->e_entry < first || eh->e_entry - first >= image->parts[0].size)
		return loader_fail(err, -ENOEXEC, "%s: damaged: its entry "
				   "point %#llx lies outside its code",
				   file->path,
				   (unsigned long long)eh->e_entry);
	image->entry = eh->e_entry - first;
	return 0;
}

static bool notes_name_mios(Elf *elf, const GElf_Phdr *ph)
{
	Elf_Data *notes = elf_getdata_rawchunk(elf, ph->p_offset, ph->p_filesz,
					       ELF_T_NHDR);
	size_t at = 0, name, desc;
	GElf_Nhdr note;

	while (notes && (at = gelf_getnote(notes, at, &note, &name, &desc)))
		if (note.n_type == LOADER_NOTE_MANIFEST &&
		    note.n_namesz == sizeof(LOADER_NOTE_NAME) &&
		    !memcmp((char *)notes->d_buf + name, LOADER_NOTE_NAME,
			    sizeof(LOADER_NOTE_NAME)))
			return true;
	return false;
}

static int check_notes(Elf *elf, const struct loader_file *file,
		       struct loader_error *err)
{
	size_t i, nr = 0;
	GElf_Phdr ph;

	elf_getphdrnum(elf, &nr);
	for (i = 0; i < nr; i++)
		if (gelf_getphdr(elf, i, &ph) && ph.p_type == PT_NOTE &&
		    notes_name_mios(elf, &ph))
			return 0;
	return loader_fail(err, -ENOEXEC, "%s: not a kernel that can be one "
			   "of several: build it with the series in linux/ "
			   "and CONFIG_MIOS=y", file->path);
}

static int check_elf(Elf *elf, const struct loader_file *file,
		     struct loader_image *image, struct loader_error *err)
{
	uint64_t first = 0;
	GElf_Ehdr eh;
	int ret;

	if (!gelf_getehdr(elf, &eh))
		return loader_fail(err, -ENOEXEC, "%s: truncated or damaged: "
				   "%s", file->path, elf_errmsg(-1));
	if (eh.e_ident[EI_CLASS] != ELFCLASS64 || eh.e_machine != EM_X86_64)
		return loader_fail(err, -ENOEXEC, "%s: an ELF file, but not "
				   "for x86-64", file->path);
	if (eh.e_type != ET_EXEC)
		return loader_fail(err, -ENOEXEC, "%s: an ELF file, but not a "
				   "kernel", file->path);
	ret = read_parts(elf, file, &first, image, err);
	if (!ret)
		ret = check_sections(elf, &eh, file, err);
	if (!ret)
		ret = check_entry(&eh, file, first, image, err);
	if (!ret)
		ret = check_banner(file, image, err);
	if (!ret)
		ret = check_notes(elf, file, err);
	return ret;
}

int elf_check(const struct loader_file *file, struct loader_image *image,
	      struct loader_error *err)
{
	Elf *elf;
	int ret;

	if (file->size < SELFMAG || memcmp(file->data, ELFMAG, SELFMAG))
		return -ENOEXEC;
	elf_version(EV_CURRENT);
	elf = elf_memory((char *)file->data, file->size);
	if (!elf)
		return loader_fail(err, -ENOEXEC, "%s: truncated or damaged: "
				   "%s", file->path, elf_errmsg(-1));
	ret = check_elf(elf, file, image, err);
	elf_end(elf);
	if (ret)
		return ret;
	image->align = LOADER_ALIGN;
	/* A vmlinux has no header that says so: COMMAND_LINE_SIZE - 1. */
	image->cmdline_max = 2047;
	return 0;
}
