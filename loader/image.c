// SPDX-License-Identifier: GPL-2.0
/*
 * Tells the kinds of kernels apart and lays a checked one out in a node's
 * memory: kernel, zero page, command line, initrd, in this order from the
 * bottom.  Pure: files in, segments out.  Called by "mios boot" and by
 * the tests.
 */
#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <zlib.h>

#include "loader.h"

/* The release is a word of printable characters, or it is not taken. */
void image_release_copy(struct loader_image *image, const void *text,
			size_t len)
{
	const unsigned char *from = text;
	size_t i;

	for (i = 0; i < len && i < sizeof(image->release) - 1; i++) {
		if (!isgraph(from[i]) || from[i] == '/')
			break;
		image->release[i] = from[i];
	}
	image->release[i] = '\0';
}

int image_check(const struct loader_file *file, struct loader_image *image,
		struct loader_error *err)
{
	int ret;

	memset(image, 0, sizeof(*image));
	err->text[0] = '\0';
	image->file = file;
	ret = bzimage_check(file, image, err);
	if (ret == -ENOEXEC && !err->text[0])
		ret = elf_check(file, image, err);
	if (ret == -ENOEXEC && !err->text[0])
		loader_fail(err, ret, "%s: not a kernel: it is neither a "
			    "bzImage nor an ELF vmlinux", file->path);
	return ret;
}

static void add_segment(struct loader_layout *layout, const void *data,
			uint64_t size, uint64_t dest, uint64_t memsz)
{
	struct mios_segment *seg = &layout->segments[layout->nr_segments++];

	seg->buf = (uintptr_t)data;
	seg->bufsz = size;
	seg->dest = dest;
	seg->memsz = loader_align_up(memsz, LOADER_PAGE);
	seg->crc = crc32_z(0, data, size);
}

static int check_cmdline(const struct loader_image *image, const char *cmdline,
			 struct loader_error *err)
{
	size_t len = strlen(cmdline), most = image->cmdline_max;

	if (most > LOADER_CMDLINE_MAX - 1)
		most = LOADER_CMDLINE_MAX - 1;
	if (len > most)
		return loader_fail(err, -E2BIG, "the command line has %zu "
				   "characters, this kernel takes %zu: shorten "
				   "--append", len, most);
	return 0;
}

static int check_room(const struct loader_image *image, uint64_t initrd_size,
		      uint64_t base, uint64_t size, struct loader_error *err)
{
	uint64_t kernel = loader_align_up(image->memsz, LOADER_PAGE);
	uint64_t align = image->align > LOADER_ALIGN ? image->align :
						       LOADER_ALIGN;
	uint64_t need;

	/* Every term is bounded by its check, so nothing here wraps. */
	need = loader_align_up(base, align) - base + kernel + 2 * LOADER_PAGE +
	       loader_align_up(initrd_size, LOADER_PAGE);
	if (base % LOADER_PAGE || base + size < base || need > size)
		return loader_fail(err, -EFBIG, "too large for the node: kernel "
				   "and initrd want %llu MiB, it has %llu",
				   (unsigned long long)(need + 0xfffff) >> 20,
				   (unsigned long long)size >> 20);
	return 0;
}

int image_layout(const struct loader_image *image,
		 const struct loader_file *initrd, const char *cmdline,
		 uint64_t base, uint64_t size, struct loader_layout *layout,
		 struct loader_error *err)
{
	uint64_t align = image->align > LOADER_ALIGN ? image->align :
						       LOADER_ALIGN;
	uint64_t initrd_size = initrd ? initrd->size : 0;
	uint64_t kernel, params, line, disk;
	const struct loader_part *part;
	int ret;

	ret = check_cmdline(image, cmdline, err);
	if (!ret)
		ret = check_room(image, initrd_size, base, size, err);
	if (ret)
		return ret;
	kernel = loader_align_up(base, align);
	params = kernel + loader_align_up(image->memsz, LOADER_PAGE);
	line = params + LOADER_PAGE;
	disk = line + LOADER_PAGE;

	memset(layout, 0, sizeof(*layout));
	for (part = image->parts; part < image->parts + image->nr_parts; part++)
		add_segment(layout, image->file->data + part->from, part->size,
			    kernel + part->to, part->memsz);
	params_fill(layout->params, image, line, initrd ? disk : 0,
		    initrd_size);
	add_segment(layout, layout->params, LOADER_PAGE, params, LOADER_PAGE);
	strcpy(layout->cmdline, cmdline);
	add_segment(layout, layout->cmdline, strlen(cmdline) + 1, line,
		    LOADER_PAGE);
	if (initrd)
		add_segment(layout, initrd->data, initrd_size, disk,
			    initrd_size);
	layout->entry = kernel + image->entry;
	layout->zero_page = params;
	return 0;
}
