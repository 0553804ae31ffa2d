// SPDX-License-Identifier: GPL-2.0
/*
 * Checks a bzImage: the x86 boot protocol's header, the size that it claims
 * and the checksum that the kernel build puts behind it.  A flaw that got
 * through would be a triple fault before the new kernel has an IDT, and that
 * resets the whole machine; hence nothing is assumed.  Called by
 * image_check().
 */
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <asm/bootparam.h>
#include <zlib.h>

#include "loader.h"

#define HEADER_AT	offsetof(struct boot_params, hdr)
#define HEADER_MAGIC	0x53726448		/* "HdrS" */
#define BOOT_FLAG	0xaa55
#define PROTOCOL_MIN	0x020c			/* 2.12: xloadflags */
#define SECTOR		512
#define ENTRY_64	0x200
#define XLF_NEEDED	(XLF_KERNEL_64 | XLF_CAN_BE_LOADED_ABOVE_4G)

/* The header in the file; its caller knows that so many bytes are there. */
static struct setup_header header_of(const struct loader_file *file)
{
	struct setup_header hdr;

	memcpy(&hdr, file->data + HEADER_AT, sizeof(hdr));
	return hdr;
}

static bool looks_like_one(const struct loader_file *file)
{
	struct setup_header hdr;

	if (file->size < HEADER_AT + sizeof(hdr))
		return false;
	hdr = header_of(file);
	return hdr.boot_flag == BOOT_FLAG && hdr.header == HEADER_MAGIC;
}

static int check_protocol(const struct loader_file *file,
			  const struct setup_header *hdr,
			  struct loader_error *err)
{
	if (hdr->version < PROTOCOL_MIN)
		return loader_fail(err, -ENOEXEC, "%s: its boot protocol %u.%02u"
				   " is too old: 2.12 is needed (Linux 3.8)",
				   file->path, hdr->version >> 8,
				   hdr->version & 0xff);
	if (!(hdr->loadflags & LOADED_HIGH))
		return loader_fail(err, -ENOEXEC, "%s: a zImage: build a "
				   "bzImage", file->path);
	if ((hdr->xloadflags & XLF_NEEDED) != XLF_NEEDED)
		return loader_fail(err, -ENOEXEC, "%s: not a 64-bit kernel "
				   "that can be loaded above 4 GiB", file->path);
	if (!(hdr->xloadflags & LOADER_XLF_MIOS))
		return loader_fail(err, -ENOEXEC, "%s: not a kernel that can "
				   "be one of several: build it with the "
				   "series in linux/ and CONFIG_MIOS=y",
				   file->path);
	if (!hdr->relocatable_kernel)
		return loader_fail(err, -ENOEXEC, "%s: not relocatable: build "
				   "it with CONFIG_RELOCATABLE=y", file->path);
	return 0;
}

static uint64_t setup_size(const struct setup_header *hdr)
{
	/* The boot protocol: 0 means 4; the boot sector itself is extra. */
	return ((hdr->setup_sects ? hdr->setup_sects : 4) + 1) * SECTOR;
}

static int check_sizes(const struct loader_file *file,
		       const struct setup_header *hdr,
		       struct loader_error *err)
{
	uint64_t code = (uint64_t)hdr->syssize * 16;
	uint64_t align = hdr->kernel_alignment;

	if (file->size < setup_size(hdr) + code)
		return loader_fail(err, -ENOEXEC, "%s: truncated: it says it "
				   "has %llu bytes, %zu are there", file->path,
				   (unsigned long long)(setup_size(hdr) + code),
				   file->size);
	if (code <= ENTRY_64 || hdr->init_size < code)
		return loader_fail(err, -ENOEXEC, "%s: damaged: %llu bytes of "
				   "code for %u bytes of memory", file->path,
				   (unsigned long long)code, hdr->init_size);
	if (hdr->init_size > LOADER_MAX_KERNEL)
		return loader_fail(err, -EFBIG, "%s: too large: it wants %u "
				   "MiB of memory, at most %llu are possible",
				   file->path, hdr->init_size >> 20,
				   LOADER_MAX_KERNEL >> 20);
	if (align < LOADER_PAGE || align & (align - 1) ||
	    align > LOADER_MAX_KERNEL)
		return loader_fail(err, -ENOEXEC, "%s: damaged: it wants to be"
				   " aligned to %#x", file->path,
				   hdr->kernel_alignment);
	return 0;
}

/*
 * The PE header inside a bzImage has two fields that signing for Secure Boot
 * fills in after the checksum was made: they count as the zeros that they
 * were then.  Offsets are the PE/COFF specification's for PE32+.
 */
#define PE_POINTER	0x3c
#define PE_CHECKSUM	(24 + 64)	/* 4 bytes, from the "PE" signature */
#define PE_CERT_TABLE	(24 + 112 + 4 * 8)	/* 8 bytes */

static uint64_t pe_header(const struct loader_file *file, uint64_t limit)
{
	uint32_t at;

	memcpy(&at, file->data + PE_POINTER, sizeof(at));
	if (memcmp(file->data, "MZ", 2) ||
	    (uint64_t)at + PE_CERT_TABLE + 8 > limit ||
	    memcmp(file->data + at, "PE\0\0", 4))
		return 0;
	return at;
}

static uLong crc_with_zeros(uLong crc, const unsigned char *data, uint64_t from,
			    uint64_t hole, unsigned int len)
{
	static const unsigned char zeros[8];

	crc = crc32_z(crc, data + from, hole - from);
	return crc32_z(crc, zeros, len);
}

static int check_crc(const struct loader_file *file,
		     const struct setup_header *hdr, struct loader_error *err)
{
	uint64_t end = setup_size(hdr) + (uint64_t)hdr->syssize * 16 - 4;
	uint64_t pe = pe_header(file, setup_size(hdr)), from = 0;
	uint32_t stored;
	uLong crc = crc32_z(0, NULL, 0);

	memcpy(&stored, file->data + end, sizeof(stored));
	if (pe) {
		crc = crc_with_zeros(crc, file->data, from, pe + PE_CHECKSUM, 4);
		from = pe + PE_CHECKSUM + 4;
		crc = crc_with_zeros(crc, file->data, from, pe + PE_CERT_TABLE,
				     8);
		from = pe + PE_CERT_TABLE + 8;
	}
	crc = crc32_z(crc, file->data + from, end - from);
	/* The kernel build leaves out the final inversion. */
	if ((uint32_t)~crc != stored)
		return loader_fail(err, -ENOEXEC, "%s: damaged: its checksum "
				   "is %08x, it should be %08x: copy or build "
				   "it again", file->path, (uint32_t)~crc,
				   stored);
	return 0;
}

static void read_release(const struct loader_file *file,
			 const struct setup_header *hdr,
			 struct loader_image *image)
{
	uint64_t at = hdr->kernel_version + 0x200ULL;

	if (!hdr->kernel_version || at >= setup_size(hdr))
		return;
	image_release_copy(image, file->data + at, setup_size(hdr) - at);
}

static unsigned int header_len(const struct loader_file *file)
{
	/* The jump's operand, at 0x201, says where the header ends. */
	unsigned int end = 0x202 + file->data[0x201];
	unsigned int most = HEADER_AT + sizeof(struct setup_header);

	return (end < most ? end : most) - HEADER_AT;
}

int bzimage_check(const struct loader_file *file, struct loader_image *image,
		  struct loader_error *err)
{
	struct setup_header hdr;
	int ret;

	if (!looks_like_one(file))
		return -ENOEXEC;
	hdr = header_of(file);
	ret = check_protocol(file, &hdr, err);
	if (!ret)
		ret = check_sizes(file, &hdr, err);
	if (!ret)
		ret = check_crc(file, &hdr, err);
	if (ret)
		return ret;
	image->parts[0] = (struct loader_part) {
		.from = setup_size(&hdr),
		.size = (uint64_t)hdr.syssize * 16,
		.memsz = hdr.init_size,
	};
	image->nr_parts = 1;
	image->memsz = hdr.init_size;
	image->align = hdr.kernel_alignment;
	image->entry = ENTRY_64;
	image->cmdline_max = hdr.cmdline_size;
	image->header_len = header_len(file);
	read_release(file, &hdr, image);
	return 0;
}
