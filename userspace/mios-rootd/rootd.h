/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mios-rootd: what NFS does not do for the root that all instances share.
 */
#ifndef MIOS_ROOTD_H
#define MIOS_ROOTD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>

#define CAPABILITY		"security.capability"
#define CAPABILITY_LEN		24	/* the longest: version 3 */

/* Which files have any, in the root that instance 0 exports. */
#define LIST			"/etc/mios/capabilities"

/**
 * struct capable - a file with capabilities, and what tells it from others
 * @caps: the attribute as the kernel has it
 *
 * A file that is changed in any way, or another one of that name, has another
 * time of change, which nobody can set.
 */
struct capable {
	char *path;
	uint8_t caps[CAPABILITY_LEN];
	size_t len;
	uint64_t ino;
	int64_t size;
	struct timespec mtime, ctime;
};

/* capable.c APIs: */
bool capable_place(const char *path);
bool capable_read(struct capable *c, const char *path);
bool capable_is(const struct capable *c, const struct stat *st);
void capable_write(const struct capable *c, FILE *to);
int capable_parse(struct capable *c, char *line);

/* list.c APIs: on instance 0 */
struct list {
	struct capable *files;
	size_t nr;
};

int list_update(struct list *l, const char *path);
int list_write(const struct list *l);

/* hold.c APIs: on instance 0 */
void hold_files(void);
bool hold_dir(const char *dir);

/* watch.c APIs: on instance 0 */
int watch_root(void);

/* cover.c APIs: on the others */
int cover_prepare(void);
int cover_all(void);

/* pin.c APIs: on the others */
int pin_first_process(void);
bool first_process_replaced(void);

#endif /* MIOS_ROOTD_H */
