// SPDX-License-Identifier: GPL-2.0
/*
 * Reads the memory of a dead instance by physical address, and what its kernel
 * wrote there about itself (VMCOREINFO).  Addresses and sizes come from that
 * memory too, so each is held against the node's ranges first.
 */
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dump.h"

#define INFO_NAME	"VMCOREINFO"

/* Which of the node's ranges an address lies in, or -1. */
int dump_range(const struct dump *d, uint64_t physical)
{
	unsigned int i;

	for (i = 0; i < d->node.nr_ranges; i++) {
		const struct mios_dump_range *r = &d->node.ranges[i];

		if (physical >= r->base && physical - r->base < r->size)
			return i;
	}
	return -1;
}

/* All of it or nothing; -EFAULT where the node has no memory. */
int dump_read(const struct dump *d, uint64_t at, void *buf, size_t size)
{
	while (size) {
		int range = dump_range(d, at);
		uint64_t left;
		ssize_t got;

		if (range < 0)
			return -EFAULT;
		left = d->node.ranges[range].base +
		       d->node.ranges[range].size - at;
		got = pread(d->fd, buf, size < left ? size : left, at);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return got ? -errno : -EFAULT;
		buf = (char *)buf + got;
		at += got;
		size -= got;
	}
	return 0;
}

static size_t align4(size_t size)
{
	return (size + 3) & ~(size_t)3;
}

/* The text behind the head of an ELF note of that name, or NULL. */
static char *note_text(const unsigned char *note, size_t size)
{
	Elf64_Nhdr head;
	size_t at = sizeof(head) + align4(sizeof(INFO_NAME));

	if (size < at)
		return NULL;
	memcpy(&head, note, sizeof(head));
	if (head.n_namesz != sizeof(INFO_NAME) ||
	    memcmp(note + sizeof(head), INFO_NAME, sizeof(INFO_NAME)) ||
	    head.n_descsz > size - at)
		return NULL;
	return strndup((const char *)note + at, head.n_descsz);
}

static size_t note_length(const unsigned char *note)
{
	Elf64_Nhdr head;

	memcpy(&head, note, sizeof(head));
	return sizeof(head) + align4(head.n_namesz) + align4(head.n_descsz);
}

/* Leaves @d without a note where there is none that can be understood. */
void dump_info_read(struct dump *d)
{
	uint64_t size = d->node.vmcoreinfo_size;
	char *text = NULL;

	/* Room for the padding behind a text of any length. */
	if (size && size <= DUMP_INFO_MAX)
		d->note = calloc(1, size + 4);
	if (d->note && !dump_read(d, d->node.vmcoreinfo, d->note, size))
		text = note_text(d->note, size);
	if (text) {
		d->info = text;
		d->note_size = note_length(d->note);
		if (dump_info_number(d, "KERNELOFFSET", 16, &d->offset))
			d->offset = 0;
		return;
	}
	free(d->note);
	d->note = NULL;
	d->info = "";
}

/* The value of "KEY=value", one line of the text. */
int dump_info(const struct dump *d, const char *key, char *value, size_t size)
{
	size_t len = strlen(key);
	const char *at = d->info;

	while (*at) {
		size_t line = strcspn(at, "\n");

		if (line > len && !strncmp(at, key, len) && at[len] == '=') {
			line -= len + 1;
			if (line >= size)
				return -ERANGE;
			memcpy(value, at + len + 1, line);
			value[line] = '\0';
			return 0;
		}
		at += line + (at[line] == '\n');
	}
	return -ENOENT;
}

int dump_info_number(const struct dump *d, const char *key, int base,
		     uint64_t *value)
{
	char text[32], *end;
	int err;

	err = dump_info(d, key, text, sizeof(text));
	if (err)
		return err;
	errno = 0;
	/* Some are printed signed. */
	*value = text[0] == '-' ? (uint64_t)strtoll(text, &end, base) :
				  strtoull(text, &end, base);
	return errno || end == text || *end ? -EINVAL : 0;
}
