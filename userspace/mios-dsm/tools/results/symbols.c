// SPDX-License-Identifier: GPL-2.0
/*
 * Symbols of an ELF file, by libelf, which looks at what the file says before
 * it believes it.  Called by record.c.
 */
#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <unistd.h>

#include "symbols.h"

void symbols_open(struct symbols *s, const char *path)
{
	s->elf = NULL;
	s->fd = open(path, O_RDONLY | O_CLOEXEC);
	if (s->fd >= 0 && elf_version(EV_CURRENT) != EV_NONE)
		s->elf = elf_begin(s->fd, ELF_C_READ_MMAP, NULL);
}

void symbols_close(struct symbols *s)
{
	elf_end(s->elf);
	if (s->fd >= 0)
		close(s->fd);
}

/* The function of this table that has the address. */
static bool find(Elf_Data *table, uint64_t at, GElf_Sym *sym)
{
	for (int i = 0; gelf_getsym(table, i, sym); i++)
		if (GELF_ST_TYPE(sym->st_info) == STT_FUNC &&
		    at - sym->st_value < sym->st_size)
			return true;
	return false;
}

bool symbols_name(const struct symbols *s, uint64_t at, char *text,
		  size_t room)
{
	Elf_Scn *section = NULL;
	const char *name;
	GElf_Shdr head;
	GElf_Sym sym;

	while ((section = elf_nextscn(s->elf, section))) {
		if (!gelf_getshdr(section, &head) ||
		    (head.sh_type != SHT_SYMTAB && head.sh_type != SHT_DYNSYM) ||
		    !find(elf_getdata(section, NULL), at, &sym))
			continue;
		name = elf_strptr(s->elf, head.sh_link, sym.st_name);
		if (!name)
			continue;
		snprintf(text, room, "%s+%#llx", name,
			 (unsigned long long)(at - sym.st_value));
		return true;
	}
	return false;
}
