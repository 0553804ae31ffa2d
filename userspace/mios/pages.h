/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What miosfs tells of the memory that instances share: the pool's sections, one
 * in each node, and where the pages of a file lie.
 */
#ifndef MIOS_PAGES_H
#define MIOS_PAGES_H

#include <stdbool.h>
#include <stdint.h>

#include "libmios/libmios.h"

#define SHARED_DIR	"/mios"
#define SHARED_PAGE	4096ULL

/* A section of the pool; sizes in pages, but for @size. */
struct pool_section {
	unsigned int node;
	uint64_t address, size, own;
	uint64_t kept[MIOS_MAX_INSTANCES];	/* in files, by who has made them */
	uint64_t held[MIOS_MAX_INSTANCES];	/* on their way in or out */
};

/* Is there any? */
bool pool_is_there(void);

/* How many there are; ends the program, as @command, where there are none. */
unsigned int pool_read(const char *command, struct pool_section **sections);

/* What a user has, and pays for; ->uid is -1 for all whom there was no room for. */
struct pool_user {
	int64_t uid;
	uint64_t files, pages;
	uint64_t paid_files, paid_pages;
};

/* The same of users, in the order of their numbers. */
unsigned int pool_users_read(const char *command, struct pool_user **users);

/* What each user may have; 0: any number. */
struct pool_share {
	uint64_t bytes, files;
};

/* share.c: 0 or -errno.  "4G,1000", "4G" or "none" */
int share_parse(const char *text, struct pool_share *share);
int share_change(const char *text);
int share_read(struct pool_share *share);
int share_now(char *text, size_t size);

/* Pages of a file on each node; -errno. */
int file_pages_read(const char *path, uint64_t pages[MIOS_MAX_INSTANCES]);

#endif /* MIOS_PAGES_H */
