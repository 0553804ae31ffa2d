// SPDX-License-Identifier: GPL-2.0
/*
 * Symbols of an ELF file, which need not be a good one: whatever it says is
 * compared with its length.  Called by record.c.
 */
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "symbols.h"

/* length bytes of the file, or NULL. */
static const void *part(const struct symbols *s, uint64_t at, uint64_t length)
{
	return at <= s->size && length <= s->size - at ? s->file + at : NULL;
}

static const Elf64_Shdr *section(const struct symbols *s, uint32_t i)
{
	const Elf64_Ehdr *e = part(s, 0, sizeof(*e));
	uint64_t at = e ? e->e_shoff : 0;

	if (!e || i >= e->e_shnum || e->e_shentsize != sizeof(Elf64_Shdr) ||
	    at % 8 || at > s->size)
		return NULL;
	return part(s, at + (uint64_t)i * sizeof(Elf64_Shdr),
		    sizeof(Elf64_Shdr));
}

void symbols_open(struct symbols *s, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	void *at;

	memset(s, 0, sizeof(*s));
	if (fd < 0)
		return;
	if (!fstat(fd, &st) && st.st_size > 0) {
		at = mmap(NULL, st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (at != MAP_FAILED && st.st_size > SELFMAG &&
		    !memcmp(at, ELFMAG, SELFMAG)) {
			s->file = at;
			s->size = st.st_size;
		}
	}
	close(fd);
}

void symbols_close(struct symbols *s)
{
	if (s->file)
		munmap((void *)s->file, s->size);
}

/* The function of this table that has the address. */
static const Elf64_Sym *find(const struct symbols *s, const Elf64_Shdr *table,
			     uint64_t at)
{
	const Elf64_Sym *sym = part(s, table->sh_offset, table->sh_size);

	if (!sym || table->sh_offset % 8)
		return NULL;
	for (uint64_t i = 0; i < table->sh_size / sizeof(*sym); i++)
		if (ELF64_ST_TYPE(sym[i].st_info) == STT_FUNC &&
		    at - sym[i].st_value < sym[i].st_size)
			return &sym[i];
	return NULL;
}

bool symbols_name(const struct symbols *s, uint64_t at, char *text,
		  size_t room)
{
	const Elf64_Shdr *table, *names;
	const Elf64_Sym *sym;
	const char *name;

	for (uint32_t i = 0; s->file && (table = section(s, i)); i++) {
		if (table->sh_type != SHT_SYMTAB && table->sh_type != SHT_DYNSYM)
			continue;
		sym = find(s, table, at);
		names = section(s, table->sh_link);
		if (!sym || !names || sym->st_name >= names->sh_size)
			continue;
		name = part(s, names->sh_offset, names->sh_size);
		if (!name || !memchr(name + sym->st_name, 0,
				     names->sh_size - sym->st_name))
			continue;
		snprintf(text, room, "%s+%#llx", name + sym->st_name,
			 (unsigned long long)(at - sym->st_value));
		return true;
	}
	return false;
}
