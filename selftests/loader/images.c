// SPDX-License-Identifier: GPL-2.0
/*
 * Feeds libloader real kernels, whole and broken in every way that we know
 * of, and checks what it makes of them.  Started by 10-images with the paths
 * of a bzImage and a vmlinux.  Exit status 0 or 1; the last line says what
 * failed.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <asm/bootparam.h>
#include <zlib.h>

#include "loader/loader.h"

#define BASE 0x140000000ULL
#define SIZE (1ULL << 30)

static struct loader_error err;
static struct loader_layout layout;

#define CHECK(cond, ...) do {						\
	if (!(cond)) {							\
		printf("%s:%d: %s: ", __FILE__, __LINE__, #cond);	\
		printf(__VA_ARGS__);					\
		printf("\n");						\
		exit(1);						\
	}								\
} while (0)

static struct loader_file copy_of(const struct loader_file *file, size_t size)
{
	struct loader_file copy = { .path = "copy", .size = size };

	copy.data = malloc(size ? size : 1);
	CHECK(copy.data, "no memory");
	memcpy(copy.data, file->data, size);
	return copy;
}

/* What must be refused, with a line that holds @word. */
static void refuse(struct loader_file *file, const char *word)
{
	struct loader_image image;
	int ret = image_check(file, &image, &err);

	CHECK(ret < 0, "taken, %s expected", word);
	CHECK(strstr(err.text, word), "'%s' does not say '%s'", err.text,
	      word);
	CHECK(!strchr(err.text, '\n'), "more than one line");
	loader_file_free(file);
}

static void refuse_truncated(const struct loader_file *file)
{
	struct loader_file copy;
	struct loader_image image;
	size_t size, step = file->size / 97 + 1;

	for (size = 0; size < file->size; size += size < 4096 ? 61 : step) {
		copy = copy_of(file, size);
		CHECK(image_check(&copy, &image, &err) < 0,
		      "the first %zu of %zu bytes were taken", size,
		      file->size);
		loader_file_free(&copy);
	}
	copy = copy_of(file, file->size - 1);
	refuse(&copy, "truncated");
}

/* The checksum covers every byte: one that is flipped anywhere is found. */
static void refuse_flipped(const struct loader_file *file)
{
	struct loader_file copy = copy_of(file, file->size);
	struct loader_image image;
	size_t at;

	for (at = 1; at < file->size; at += file->size / 41) {
		copy.data[at] ^= 0x10;
		CHECK(image_check(&copy, &image, &err) < 0,
		      "byte %zu is wrong, yet it was taken", at);
		copy.data[at] ^= 0x10;
	}
	CHECK(!image_check(&copy, &image, &err), "%s", err.text);
	loader_file_free(&copy);
}

static struct setup_header *header(struct loader_file *file)
{
	return (void *)(file->data + offsetof(struct boot_params, hdr));
}

static void refuse_bzimages(const struct loader_file *good)
{
	struct loader_file f;

	f = copy_of(good, good->size);
	header(&f)->version = 0x0206;
	refuse(&f, "too old");
	f = copy_of(good, good->size);
	header(&f)->relocatable_kernel = 0;
	refuse(&f, "CONFIG_RELOCATABLE");
	f = copy_of(good, good->size);
	header(&f)->xloadflags &= ~XLF_CAN_BE_LOADED_ABOVE_4G;
	refuse(&f, "above 4 GiB");
	f = copy_of(good, good->size);
	header(&f)->xloadflags &= ~XLF_KERNEL_64;
	refuse(&f, "64-bit");
	f = copy_of(good, good->size);
	header(&f)->loadflags &= ~LOADED_HIGH;
	refuse(&f, "zImage");
	f = copy_of(good, good->size);
	header(&f)->init_size = 0xffffffff;
	refuse(&f, "too large");
	f = copy_of(good, good->size);
	header(&f)->init_size = 4096;
	refuse(&f, "damaged");
	f = copy_of(good, good->size);
	header(&f)->syssize = 0xffffffff;
	refuse(&f, "truncated");
	f = copy_of(good, good->size);
	header(&f)->syssize = 1;
	refuse(&f, "damaged");
	f = copy_of(good, good->size);
	header(&f)->kernel_alignment = 0x300000;
	refuse(&f, "damaged");
	f = copy_of(good, good->size);
	memset(f.data + 0x3c, 0xff, 4);
	f.data[0x3c] = 0x80;	/* a PE header that wraps 32 bits */
	refuse(&f, "checksum");
}

/*
 * What sbsign(1) does to a bzImage must not look like damage; a kernel
 * without CONFIG_EFI_STUB cannot be signed.
 */
static void take_signed(const struct loader_file *good)
{
	struct loader_file f = copy_of(good, good->size);
	struct loader_image image;
	uint32_t pe;

	if (memcmp(f.data, "MZ", 2)) {
		loader_file_free(&f);
		return;
	}
	memcpy(&pe, f.data + 0x3c, 4);
	memset(f.data + pe + 24 + 64, 0xa5, 4);		/* its checksum */
	memset(f.data + pe + 24 + 112 + 32, 0x5a, 8);	/* its certificates */
	CHECK(!image_check(&f, &image, &err), "%s", err.text);
	loader_file_free(&f);
}

static Elf64_Phdr *first_load(struct loader_file *file)
{
	Elf64_Ehdr *eh = (void *)file->data;
	Elf64_Phdr *ph = (void *)(file->data + eh->e_phoff);

	while (ph->p_type != PT_LOAD)
		ph++;
	return ph;
}

static void refuse_vmlinuxes(const struct loader_file *good)
{
	struct loader_file f;

	f = copy_of(good, good->size);
	((Elf64_Ehdr *)f.data)->e_machine = EM_AARCH64;
	refuse(&f, "x86-64");
	f = copy_of(good, good->size);
	((Elf64_Ehdr *)f.data)->e_type = ET_DYN;
	refuse(&f, "not a kernel");
	f = copy_of(good, good->size);
	((Elf64_Ehdr *)f.data)->e_phoff = f.size - 8;
	refuse(&f, "damaged");
	f = copy_of(good, good->size);
	((Elf64_Ehdr *)f.data)->e_entry = 0x7fffffff;
	refuse(&f, "entry point");
	f = copy_of(good, good->size);
	first_load(&f)->p_filesz = 1ULL << 62;
	refuse(&f, "truncated");
	f = copy_of(good, good->size);
	first_load(&f)->p_memsz = 1ULL << 40;
	refuse(&f, "too large");
	f = copy_of(good, good->size);
	first_load(&f)->p_memsz = 4096;
	first_load(&f)->p_filesz = 8192;
	refuse(&f, "damaged");
	f = copy_of(good, good->size);
	first_load(&f)->p_paddr += 4096;
	refuse(&f, "2 MiB");
	f = copy_of(good, good->size);
	first_load(&f)[1].p_paddr = first_load(&f)->p_paddr;
	refuse(&f, "overlap");
}

static void refuse_others(void)
{
	static unsigned char text[100000];
	struct loader_file f = { .path = "text", .data = text };
	size_t sizes[] = { 1, 2, 511, 512, 4096, sizeof(text) };
	struct loader_image image;
	size_t i;

	memset(text, 'x', sizeof(text));
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		f.size = sizes[i];
		CHECK(image_check(&f, &image, &err) == -ENOEXEC, "taken");
		CHECK(strstr(err.text, "not a kernel"), "'%s'", err.text);
	}
	CHECK(!loader_file_read(&f, "/bin/true", "kernel", &err), "%s",
	      err.text);
	refuse(&f, "not a kernel");
}

static void refuse_files(void)
{
	static const char * const paths[][2] = {
		{ "/", "not a regular file" },
		{ "/dev/zero", "not a regular file" },
		{ "/no/such/file", "No such file" },
		{ "empty", "empty" }, { "fifo", "not a regular file" },
		{ "huge", "too large" },
	};
	char dir[] = "/tmp/mios-images.XXXXXX";
	struct loader_file f;
	size_t i;

	CHECK(mkdtemp(dir) && !chdir(dir), "%m");
	CHECK(!mkfifo("fifo", 0600), "%m");
	close(open("empty", O_CREAT | O_WRONLY, 0600));
	close(open("huge", O_CREAT | O_WRONLY, 0600));
	CHECK(!truncate("huge", 5LL << 30), "%m");
	for (i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		CHECK(loader_file_read(&f, paths[i][0], "kernel", &err) < 0,
		      "%s was read", paths[i][0]);
		CHECK(strstr(err.text, paths[i][1]), "'%s'", err.text);
	}
	unlink("fifo");
	unlink("empty");
	unlink("huge");
	CHECK(!chdir("/") && !rmdir(dir), "%m");
}

/* Inside the node, page aligned, no overlap, the right checksums. */
static void check_segments(uint64_t base, uint64_t size)
{
	const struct mios_segment *s = layout.segments, *t;
	unsigned int i, j;

	for (i = 0; i < layout.nr_segments; i++) {
		CHECK(!(s[i].dest % 4096) && !(s[i].memsz % 4096),
		      "segment %u", i);
		CHECK(s[i].dest >= base && s[i].memsz <= size &&
		      s[i].dest - base <= size - s[i].memsz, "segment %u", i);
		CHECK(s[i].bufsz <= s[i].memsz, "segment %u", i);
		CHECK(s[i].crc == crc32(0, (void *)s[i].buf, s[i].bufsz),
		      "segment %u", i);
		for (j = 0; j < i; j++) {
			t = &s[j];
			CHECK(s[i].dest >= t->dest + t->memsz ||
			      t->dest >= s[i].dest + s[i].memsz,
			      "segments %u and %u", i, j);
		}
	}
}

static const struct mios_segment *segment_at(uint64_t dest)
{
	unsigned int i;

	for (i = 0; i < layout.nr_segments; i++)
		if (layout.segments[i].dest == dest)
			return &layout.segments[i];
	CHECK(0, "no segment at %#llx", (unsigned long long)dest);
}

static void check_layout(const struct loader_file *file, uint64_t base)
{
	unsigned char disk[12345];
	struct loader_file initrd = { "initrd", disk, sizeof(disk) };
	const struct mios_segment *seg;
	struct boot_params *bp;
	struct loader_image image;
	uint64_t at;

	memset(disk, 7, sizeof(disk));
	CHECK(!image_check(file, &image, &err), "%s", err.text);
	CHECK(image.release[0] == '6', "release '%s'", image.release);
	CHECK(!image_layout(&image, &initrd, "a=1 b", base, SIZE, &layout,
			    &err), "%s", err.text);
	check_segments(base, SIZE);
	CHECK(!(layout.segments[0].dest % image.align), "alignment");
	CHECK(layout.entry >= layout.segments[0].dest &&
	      layout.entry < layout.segments[0].dest +
			     layout.segments[0].bufsz, "entry");

	bp = (void *)segment_at(layout.zero_page)->buf;
	at = bp->hdr.cmd_line_ptr | (uint64_t)bp->ext_cmd_line_ptr << 32;
	CHECK(!strcmp((char *)segment_at(at)->buf, "a=1 b"), "command line");
	at = bp->hdr.ramdisk_image | (uint64_t)bp->ext_ramdisk_image << 32;
	seg = segment_at(at);
	CHECK(seg->bufsz == sizeof(disk) && bp->hdr.ramdisk_size ==
	      sizeof(disk) && !memcmp((void *)seg->buf, disk, sizeof(disk)),
	      "initrd");
	CHECK(bp->hdr.type_of_loader == 0xff && !bp->sentinel &&
	      !bp->e820_entries && !bp->hdr.setup_data, "zero page");
	CHECK(bp->hdr.header == 0x53726448, "header");
}

static void refuse_layouts(const struct loader_file *file)
{
	struct loader_image image;
	struct loader_file huge = { "huge", file->data, SIZE };
	char line[4000];

	memset(line, 'x', sizeof(line) - 1);
	line[sizeof(line) - 1] = '\0';
	CHECK(!image_check(file, &image, &err), "%s", err.text);
	CHECK(image_layout(&image, NULL, line, BASE, SIZE, &layout, &err) ==
	      -E2BIG, "a long command line was taken");
	line[image.cmdline_max] = '\0';
	CHECK(!image_layout(&image, NULL, line, BASE, SIZE, &layout, &err),
	      "%s", err.text);
	CHECK(image_layout(&image, NULL, "", BASE, image.memsz, &layout,
			   &err) == -EFBIG, "a small node was taken");
	CHECK(image_layout(&image, &huge, "", BASE, SIZE, &layout, &err) ==
	      -EFBIG, "a large initrd was taken");
	CHECK(image_layout(&image, NULL, "", UINT64_MAX - SIZE / 2, SIZE,
			   &layout, &err) < 0, "a wrapping node was taken");
	CHECK(image_layout(&image, NULL, "", BASE, 0, &layout, &err) < 0,
	      "an empty node was taken");
}

static void check_cmdlines(void)
{
	char out[256];

	CHECK(!cmdline_build(out, sizeof(out), "root=/dev/sda ro quiet "
			     "memmap=1G$4G mios.pool=1G@4G x=\"root= y\" console=ttyS0 z -- s",
			     "mine", &err), "%s", err.text);
	CHECK(!strncmp(out, "x=\"root= y\" z mine no_ipi_broadcast=1 ", 38),
	      "'%s'", out);
	CHECK(!cmdline_build(out, sizeof(out), NULL, "no_ipi_broadcast=0",
			     &err), "%s", err.text);
	CHECK(strstr(out, "no_ipi_broadcast=1") >
	      strstr(out, "no_ipi_broadcast=0"), "the last word must be ours");
	CHECK(cmdline_build(out, 64, NULL, NULL, &err) == -E2BIG, "too long");
	CHECK(cmdline_build(out, sizeof(out), NULL, "a\nb", &err) == -EINVAL,
	      "two lines");
	CHECK(cmdline_build(out, sizeof(out), NULL, "foo=\"bar", &err) ==
	      -EINVAL, "an open quotation mark would swallow our words");
	CHECK(!cmdline_build(out, sizeof(out), "a b=\"c", "x -- single", &err),
	      "%s", err.text);
	CHECK(!strncmp(out, "a x ", 4) && strstr(out, " panic=-1 ") &&
	      strlen(out) > 10 &&
	      !strcmp(out + strlen(out) - 10, " -- single"), "'%s'", out);
}

int main(int argc, char **argv)
{
	struct loader_file bzimage, vmlinux;

	if (argc != 3)
		return 2;
	CHECK(!loader_file_read(&bzimage, argv[1], "kernel", &err), "%s",
	      err.text);
	CHECK(!loader_file_read(&vmlinux, argv[2], "kernel", &err), "%s",
	      err.text);
	check_layout(&bzimage, BASE);
	check_layout(&bzimage, 0x8000000 + 4096);
	check_layout(&vmlinux, BASE);
	check_layout(&vmlinux, BASE + 0x123000);
	refuse_layouts(&bzimage);
	refuse_layouts(&vmlinux);
	refuse_truncated(&bzimage);
	refuse_truncated(&vmlinux);
	refuse_flipped(&bzimage);
	refuse_bzimages(&bzimage);
	take_signed(&bzimage);
	refuse_vmlinuxes(&vmlinux);
	refuse_others();
	refuse_files();
	check_cmdlines();
	loader_file_free(&bzimage);
	loader_file_free(&vmlinux);
	puts("all images judged rightly");
	return 0;
}
