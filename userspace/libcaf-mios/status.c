// SPDX-License-Identifier: GPL-2.0
/*
 * What a program asks about images: who has failed or stopped; and random
 * numbers, which differ between them.
 */
#include <stdlib.h>

#include "caf.h"

/* libgfortran's. */
void _gfortran_random_seed_i4(int *size, struct caf_desc *put,
			      struct caf_desc *get) __attribute__((weak));

static void put(char *list, size_t i, int kind, int64_t value)
{
	memcpy(list + i * kind, &value, kind);	/* little-endian */
}

static size_t room(const struct caf_desc *list)
{
	ptrdiff_t n = list->dim[0].upper - list->dim[0].lower + 1;

	return list->base && n > 0 ? n : 0;
}

/*
 * The descriptor is that of a fresh list, or of an array which the compiler
 * assigns it to: then its own memory takes as many as there is room for.
 */
static void list_images(struct caf_desc *list, enum caf_state state, int kind)
{
	uint32_t i, n = 0;
	size_t space;

	for (i = 0; i < team_size(caf_team); i++)
		n += image_state(caf_team->area->seats[i].image) == state;
	space = room(list);
	if (!space || space < n) {
		list->base = malloc(n ? n * kind : 1);
		space = n;
	}
	if (!list->base)
		caf_die("no memory for a list of %u images", n);
	list->elem_len = kind;
	list->type = CAF_INTEGER;
	list->rank = 1;
	list->span = kind;
	list->dim[0] = (struct caf_dim){ 1, 0, (ptrdiff_t)n - 1 };
	list->offset = 0;
	for (i = 0, n = 0; i < team_size(caf_team) && n < space; i++)
		if (image_state(caf_team->area->seats[i].image) == state)
			put(list->base, n++, kind, i + 1);
}

void _gfortran_caf_failed_images(struct caf_desc *list, struct caf_team **team,
				 int *kind)
{
	list_images(list, CAF_DEAD, kind ? *kind : 4);
}

void _gfortran_caf_stopped_images(struct caf_desc *list, struct caf_team **team,
				  int *kind)
{
	list_images(list, CAF_STOPPED, kind ? *kind : 4);
}

int _gfortran_caf_image_status(int image, struct caf_team **team)
{
	switch (image_state(team_image(caf_team, image))) {
	case CAF_STOPPED:
		return CAF_STAT_STOPPED;
	case CAF_DEAD:
		return CAF_STAT_FAILED;
	}
	return 0;
}

/* Splitmix64. */
static uint64_t mix(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15ull;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

/*
 * A seed that is the same at each run, or not; and on each image, or not.  All
 * of it differs, and nobody has to meet: the n-th calls of all images are alike.
 */
void _gfortran_caf_random_init(bool repeatable, bool distinct)
{
	static uint32_t calls;
	struct {
		struct caf_desc desc;
		struct caf_dim dim;
	} list = { .desc = { .elem_len = 4, .rank = 1, .type = CAF_INTEGER,
			     .offset = -1, .span = 4 } };
	uint64_t state = repeatable ? 0 : caf_self.window->seed + ++calls;
	uint32_t seed[64];
	int size = 0, i;

	if (!_gfortran_random_seed_i4)
		return;
	_gfortran_random_seed_i4(&size, NULL, NULL);
	if (size < 1 || size > 64)
		caf_die("a random seed of %d integers", size);
	if (distinct)
		state ^= (uint64_t)(caf_self.number + 1) << 32;
	for (i = 0; i < size; i++)
		seed[i] = mix(&state);
	list.desc.base = (char *)seed;
	list.dim = (struct caf_dim){ 1, 1, size };
	_gfortran_random_seed_i4(NULL, &list.desc, NULL);
}
