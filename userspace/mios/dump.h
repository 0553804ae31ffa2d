/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the files of mios dump share: a dead instance's memory, what its kernel
 * says of itself there, and where it had what mapped.  None of that is to be
 * believed: the kernel is dead for a reason.  Functions return 0 or -errno and
 * print nothing.
 */
#ifndef MIOS_DUMP_H
#define MIOS_DUMP_H

#include <linux/mios.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DUMP_CPUS	256		/* no node has more */
#define DUMP_PAGE	4096ULL
#define DUMP_INFO_MAX	65536		/* bytes of the kernel's own note */
#define DUMP_MAPS_MAX	8192

/* So much of the kernel's addresses shows the same bytes as @physical. */
struct dump_map {
	uint64_t virtual;
	uint64_t physical;
	uint64_t size;
};

struct dump {
	int fd;				/* its memory, by physical address */
	struct mios_dump node;
	struct mios_dump_cpu cpus[DUMP_CPUS];
	uint64_t memory;		/* bytes, of all ranges */
	unsigned char *note;		/* VMCOREINFO, or NULL */
	size_t note_size;
	char *info;			/* its text, or "" */
	uint64_t offset;		/* by which the kernel was moved */
	struct dump_map maps[DUMP_MAPS_MAX];
	size_t nr_maps;
	bool more_maps;			/* there was no room for all */
};

/* dump_memory.c APIs: */
int dump_range(const struct dump *d, uint64_t physical);
int dump_read(const struct dump *d, uint64_t at, void *buf, size_t size);
void dump_info_read(struct dump *d);
int dump_info(const struct dump *d, const char *key, char *value, size_t size);
int dump_info_number(const struct dump *d, const char *key, int base,
		     uint64_t *value);

/* dump_tables.c APIs: */
int dump_maps_find(struct dump *d);

/* dump_core.c APIs: */
int dump_core_write(const struct dump *d, int fd, const volatile int *stop);

#endif /* MIOS_DUMP_H */
