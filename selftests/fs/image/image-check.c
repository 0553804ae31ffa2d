// SPDX-License-Identifier: GPL-2.0
/*
 * Is the miosfs of a machine whole, while nobody changes it?  Looks at copies of
 * the sections of its pool.
 *   image-check LIVE BASE:SIZE:NODE:FILE...
 *     LIVE  a bit for each instance that may have files open, in hex
 * Prints how many pages files have, and how many more a user pays for than there are
 * of his, at most.  Exit status: 0 whole, 1 not, 2 wrong usage, or no miosfs there.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fstest.h"

/* Whoever looks is none of them. */
#define SELF	(MIOS_POOL_INSTANCES - 1)

void (*test_point)(const volatile void *address, bool write);
unsigned int test_held;
unsigned long test_locked;
void (*test_wait)(void);
void (*test_cleared)(void);

/* A private copy, so that nothing here can spoil it. */
static void *section_read(const char *text, struct mios_pool_place *place)
{
	int name, fd;
	void *memory;

	if (sscanf(text, "%llx:%llx:%u:%n", &place->base, &place->size,
		   &place->node, &name) != 3)
		return NULL;
	fd = open(text + name, O_RDONLY);
	if (fd < 0)
		return NULL;
	memory = mmap(NULL, place->size, PROT_READ | PROT_WRITE, MAP_PRIVATE,
		      fd, 0);
	close(fd);
	return memory == MAP_FAILED ? NULL : memory;
}

static int pool_read(struct mios_pool *pool, int nr, char **text)
{
	struct mios_pool_place place;
	void *memory;
	int i, err = 0;

	for (i = 0; i < nr && !err; i++) {
		memory = section_read(text[i], &place);
		if (!memory)
			return -EINVAL;
		err = i ? mios_pool_adopt(pool, memory, &place) :
			mios_pool_attach(pool, memory, &place, place.node,
					 SELF, MIOS_EPOCH_MAX);
	}
	return nr ? err : -EINVAL;
}

static int image_read(struct mios_fs *fs, struct mios_pool *pool)
{
	static struct mios_fs_parts parts;
	const struct mios_section *section = &pool->section[0];
	u64 phys;
	u32 i;

	for (i = 0; i < section->nr_extents; i++) {
		if (section->extent[i].object != MIOS_FS_IMAGE)
			continue;
		phys = section->base + i * (u64)MIOS_EXTENT_SIZE;
		return mios_fs_attach(fs, pool, mios_pool_memory(pool, phys),
				      phys, &parts);
	}
	return -EBADMSG;
}

int main(int argc, char **argv)
{
	static struct mios_pool_usage usage;
	static struct mios_pool pool;
	static struct mios_fs fs;
	const char *wrong;
	u64 excess;
	int err;

	if (argc < 3)
		return 2;
	err = pool_read(&pool, argc - 2, argv + 2);
	if (!err)
		err = image_read(&fs, &pool);
	if (err) {
		fprintf(stderr, "image-check: no miosfs there: %d\n", err);
		return 2;
	}
	wrong = fs_check(&fs, strtoull(argv[1], NULL, 16));
	if (wrong) {
		printf("not whole: %s\n", wrong);
		return 1;
	}
	mios_pool_usage(&pool, &usage);
	fs_check_shares(&fs, &excess);
	printf("whole, %llu pages, and %llu more of a user's at most\n",
	       usage.kept - mios_fs_extents(&fs) * MIOS_EXTENT_PAGES, excess);
	return 0;
}
