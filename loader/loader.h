/* SPDX-License-Identifier: GPL-2.0 */
/*
 * libloader: checks a kernel and lays it out in a node's memory.  Used by
 * "mios boot", which then talks to the device, and by the loader's tests.
 * What comes from a file is never believed: image_check() has seen every
 * byte that image_layout() uses, and both are pure, so that a test needs
 * neither a device nor a second kernel.
 *
 * Functions return 0 or -errno and leave the one line for the person in
 * struct loader_error.
 */
#ifndef LOADER_H
#define LOADER_H

#include <stddef.h>
#include <stdint.h>
#include <linux/mios.h>

#define LOADER_PAGE		4096ULL
#define LOADER_ALIGN		(2ULL << 20)	/* a kernel maps itself so */
#define LOADER_MAX_FILE		(4ULL << 30)
#define LOADER_MAX_KERNEL	(1ULL << 30)	/* what it may occupy */
#define LOADER_CMDLINE_MAX	4096		/* room, NUL included */

/*
 * How a kernel says that it can be one of several (asm/mios.h in the series);
 * any other would take the machine for its own, and reset it when it ends.
 */
#define LOADER_XLF_MIOS		0x2000		/* bzImage: in xloadflags */
#define LOADER_NOTE_NAME	"MIOS"		/* vmlinux: an ELF note */
#define LOADER_NOTE_MANIFEST	3

struct loader_error {
	char text[256];
};

/* file.c: a whole file in memory of our own, so nobody can change it */
struct loader_file {
	const char *path;
	unsigned char *data;
	size_t size;
};

int loader_file_read(struct loader_file *file, const char *path,
		     const char *what, struct loader_error *err);
void loader_file_free(struct loader_file *file);

/* One range of a kernel file and where it goes, relative to the image. */
struct loader_part {
	size_t from;		/* offset in the file */
	size_t size;		/* bytes there */
	uint64_t to;		/* offset from the image's first byte */
	uint64_t memsz;		/* bytes it occupies */
};

#define LOADER_MAX_PARTS	(MIOS_MAX_SEGMENTS - 3)

/* What image_check() learnt of a kernel. */
struct loader_image {
	const struct loader_file *file;
	struct loader_part parts[LOADER_MAX_PARTS];
	unsigned int nr_parts;
	uint64_t memsz;		/* from the first byte to the last */
	uint64_t align;
	uint64_t entry;		/* offset of the 64-bit entry point */
	unsigned int cmdline_max;	/* characters, NUL not included */
	unsigned int header_len;	/* of the setup header, 0: vmlinux */
	char release[128];	/* as in uname -r, "" if it does not say */
};

/* bzimage.c, elf.c: -ENOEXEC without a text: some other kind of file */
int bzimage_check(const struct loader_file *file, struct loader_image *image,
		  struct loader_error *err);
int elf_check(const struct loader_file *file, struct loader_image *image,
	      struct loader_error *err);

/* image.c */
int image_check(const struct loader_file *file, struct loader_image *image,
		struct loader_error *err);
void image_release_copy(struct loader_image *image, const void *text,
			size_t len);

/* Segments for MIOS_IOC_LOAD; params and command line live in here. */
struct loader_layout {
	struct mios_segment segments[MIOS_MAX_SEGMENTS];
	unsigned int nr_segments;
	uint64_t entry;
	uint64_t zero_page;
	unsigned char params[LOADER_PAGE];
	char cmdline[LOADER_CMDLINE_MAX];
};

int image_layout(const struct loader_image *image,
		 const struct loader_file *initrd, const char *cmdline,
		 uint64_t base, uint64_t size, struct loader_layout *layout,
		 struct loader_error *err);

/* params.c: the zero page */
void params_fill(unsigned char params[LOADER_PAGE],
		 const struct loader_image *image, uint64_t cmdline,
		 uint64_t initrd, uint64_t initrd_size);

/* cmdline.c */
int cmdline_build(char *out, size_t len, const char *reused,
		  const char *append, struct loader_error *err);

/* error.c */
int loader_fail(struct loader_error *err, int code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

static inline uint64_t loader_align_up(uint64_t value, uint64_t align)
{
	return (value + align - 1) / align * align;
}

#endif /* LOADER_H */
