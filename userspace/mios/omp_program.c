// SPDX-License-Identifier: GPL-2.0
/*
 * Whether an OpenMP program can have its team on several instances, found out
 * before anything is started: a program that does not take our libraries would
 * run once on each instance, as many programs.  What only the loader knows, such
 * as the libraries of its libraries, is found out by these (libteam).
 */
#include <elf.h>
#include <errno.h>
#include <gelf.h>
#include <libelf.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "libmios/libmios.h"
#include "run_mpi.h"
#include "run_omp.h"

#define WHO	"mios: run"

/* Each library that cannot be there, and why. */
static const struct bad_library {
	const char *prefix, *why;
} bad_libraries[] = {
	{ "libasan.", "a sanitizer, which has an address space and a malloc() "
		      "of its own" },
	{ "libtsan.", "a sanitizer, which has an address space and a malloc() "
		      "of its own" },
	{ "liblsan.", "a sanitizer, which has a malloc() of its own" },
	{ "libhwasan.", "a sanitizer, which has an address space and a "
			"malloc() of its own" },
	{ "libgomp-", "a copy of gcc's OpenMP under another name, which knows "
		      "nothing of other instances" },
	{ "libomp.so", "another OpenMP runtime than gcc's, which knows nothing "
		       "of other instances" },
	{ "libomp5.so", "another OpenMP runtime than gcc's, which knows nothing "
			"of other instances" },
	{ "libiomp5.so", "another OpenMP runtime than gcc's, which knows "
			 "nothing of other instances" },
	{ }
};

struct program {
	bool x86_64, loaded;		/* by the dynamic loader */
	const struct bad_library *bad;
	char library[64];		/* the bad one's name */
};

static void take_needed(struct program *p, const char *library)
{
	const struct bad_library *bad;

	for (bad = bad_libraries; library && bad->prefix && !p->bad; bad++) {
		if (strncmp(library, bad->prefix, strlen(bad->prefix)))
			continue;
		p->bad = bad;
		snprintf(p->library, sizeof(p->library), "%s", library);
	}
}

static void read_dynamic(struct program *p, Elf *elf)
{
	Elf_Scn *section = NULL;
	Elf_Data *data;
	GElf_Shdr head;
	GElf_Dyn dyn;
	int i;

	while ((section = elf_nextscn(elf, section))) {
		if (!gelf_getshdr(section, &head) ||
		    head.sh_type != SHT_DYNAMIC)
			continue;
		data = elf_getdata(section, NULL);
		for (i = 0; data && gelf_getdyn(data, i, &dyn) &&
		     dyn.d_tag != DT_NULL; i++)
			if (dyn.d_tag == DT_NEEDED)
				take_needed(p, elf_strptr(elf, head.sh_link,
							  dyn.d_un.d_val));
	}
}

static void read_program(struct program *p, int fd)
{
	GElf_Ehdr head;
	GElf_Phdr segment;
	size_t i, n = 0;
	Elf *elf;

	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	if (elf && gelf_getehdr(elf, &head))
		p->x86_64 = head.e_machine == EM_X86_64 &&
			    head.e_ident[EI_CLASS] == ELFCLASS64;
	if (p->x86_64 && elf_getphdrnum(elf, &n))
		n = 0;
	for (i = 0; i < n; i++)
		if (gelf_getphdr(elf, i, &segment) &&
		    segment.p_type == PT_INTERP)
			p->loaded = true;
	if (p->loaded)
		read_dynamic(p, elf);
	elf_end(elf);
}

/* Whoever gains rights by its file takes no libraries from his environment. */
static bool gains_rights(int fd)
{
	struct stat st;

	if (fstat(fd, &st))
		return false;
	return st.st_mode & 04000 ||
	       (st.st_mode & 02010) == 02010 ||
	       fgetxattr(fd, "security.capability", NULL, 0) > 0;
}

int omp_check_program(const char *program)
{
	struct program p = { .x86_64 = false };
	bool gains;
	int fd;

	fd = open_program(program);
	if (fd < 0) {
		mios_error(WHO, "cannot read %s: %s", program,
			   strerror(errno ? errno : ENOENT));
		return -ENOENT;
	}
	gains = gains_rights(fd);
	read_program(&p, fd);
	close(fd);
	if (!p.x86_64)
		mios_error(WHO, "%s is not a program for x86-64, but perhaps a "
			   "script: --omp wants the program itself", program);
	else if (!p.loaded)
		mios_error(WHO, "%s is linked statically: --omp works by the "
			   "libraries that a program loads", program);
	else if (gains)
		mios_error(WHO, "%s is setuid, setgid or has capabilities, so "
			   "it takes no libraries from --omp", program);
	else if (p.bad)
		mios_error(WHO, "%s needs %s, %s: leave --omp out", program,
			   p.library, p.bad->why);
	else
		return 0;
	return -EINVAL;
}
