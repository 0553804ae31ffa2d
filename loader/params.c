// SPDX-License-Identifier: GPL-2.0
/*
 * Fills the zero page (struct boot_params), what a boot loader tells an x86
 * kernel.  Everything that is not named here stays zero, which is "absent"
 * in the boot protocol: no screen, no EFI, no disks.  The memory map and the
 * manifest (in setup_data) are the kernel module's to add, since it alone
 * knows them for sure.  Called by image_layout().  No
 * locks.
 */
#include <string.h>
#include <asm/bootparam.h>

#include "loader.h"

#define LOADER_TYPE_OTHER 0xff	/* "undefined boot loader" */

/* A vmlinux carries no header; the kernel reads no more than this of it. */
static void plain_header(struct setup_header *hdr)
{
	hdr->boot_flag = 0xaa55;
	hdr->header = 0x53726448;	/* "HdrS" */
	hdr->version = 0x020f;
	hdr->loadflags = LOADED_HIGH;
	hdr->kernel_alignment = LOADER_ALIGN;
	hdr->relocatable_kernel = 1;
	hdr->xloadflags = XLF_KERNEL_64 | XLF_CAN_BE_LOADED_ABOVE_4G;
	hdr->cmdline_size = 2047;
}

void params_fill(unsigned char params[LOADER_PAGE],
		 const struct loader_image *image, uint64_t cmdline,
		 uint64_t initrd, uint64_t initrd_size)
{
	struct boot_params *bp = (struct boot_params *)params;

	_Static_assert(sizeof(*bp) == LOADER_PAGE, "a page, by protocol");
	memset(params, 0, LOADER_PAGE);
	if (image->header_len)
		memcpy(&bp->hdr, image->file->data +
			offsetof(struct boot_params, hdr), image->header_len);
	else
		plain_header(&bp->hdr);
	bp->hdr.type_of_loader = LOADER_TYPE_OTHER;
	/* No real-mode part was run: no heap, no quiet flag from one. */
	bp->hdr.loadflags &= LOADED_HIGH;
	bp->hdr.setup_data = 0;
	bp->hdr.hardware_subarch = 0;
	bp->hdr.hardware_subarch_data = 0;
	bp->hdr.cmd_line_ptr = cmdline;
	bp->ext_cmd_line_ptr = cmdline >> 32;
	bp->hdr.ramdisk_image = initrd;
	bp->ext_ramdisk_image = initrd >> 32;
	bp->hdr.ramdisk_size = initrd_size;
	bp->ext_ramdisk_size = initrd_size >> 32;
}
