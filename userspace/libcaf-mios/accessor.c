// SPDX-License-Identifier: GPL-2.0
/*
 * What gfortran 15 calls in place of get, put and references: the compiler makes a
 * function for each access, which works on the memory of the image that is
 * accessed.  That is memory here, too, so the image that wants it calls the
 * function itself.  Images know the functions by a hash of the source.
 */
#include <stdlib.h>

#include "caf.h"

/* Arguments of all kinds begin so: the caller's data, and its number. */
typedef void (*get_fn)(void *add, const int *image, void *to,
		       int32_t *is_allocated, void *from, void *add_token,
		       size_t offset, size_t *to_len, const size_t *from_len);
typedef void (*put_fn)(void *add, const int *image, void *to, const void *from,
		       void *add_token, size_t offset, const size_t *to_len,
		       const size_t *from_len);
typedef void (*present_fn)(void *add, const int *image, int32_t *present,
			   void *at, void *add_token, size_t offset);

struct accessor {
	int hash;
	void (*fn)(void);		/* one of the above */
};

/* A descriptor of any rank. */
union any_desc {
	struct caf_desc desc;
	char room[sizeof(struct caf_desc) +
		  CAF_MAX_RANK * sizeof(struct caf_dim)];
};

static struct accessor *accessors;
static int nr_accessors;

/* By constructors of the program's objects, all of them before main(). */
void _gfortran_caf_register_accessor(int hash, void (*fn)(void))
{
	struct accessor *more;

	more = realloc(accessors, (nr_accessors + 1) * sizeof(*more));
	if (!more)
		caf_die("no memory for an accessor");
	accessors = more;
	accessors[nr_accessors++] = (struct accessor){ hash, fn };
}

static int compare(const void *a, const void *b)
{
	int x = ((const struct accessor *)a)->hash;
	int y = ((const struct accessor *)b)->hash;

	return (x > y) - (x < y);
}

void _gfortran_caf_register_accessors_finish(void)
{
	if (nr_accessors)
		qsort(accessors, nr_accessors, sizeof(*accessors), compare);
}

int _gfortran_caf_get_remote_function_index(int hash)
{
	struct accessor wanted = { .hash = hash }, *found = NULL;

	if (nr_accessors)
		found = bsearch(&wanted, accessors, nr_accessors,
				sizeof(*accessors), compare);
	if (!found)
		caf_die("no accessor %d", hash);
	return found - accessors;
}

static void (*function(int index))(void)
{
	if (index < 0 || index >= nr_accessors)
		caf_die("no accessor at %d", index);
	return accessors[index].fn;
}

/* A copy of @desc, whose array is at @at. */
static void *moved(union any_desc *room, const struct caf_desc *desc, void *at)
{
	memcpy(room, desc, sizeof(*desc) + desc->rank * sizeof(*desc->dim));
	room->desc.base = at;
	return room;
}

/* The memory of an image, or the array there that is as @desc says. */
static void *remote(union any_desc *room, void *token, uint32_t image,
		    const struct caf_desc *desc)
{
	char *at = token_at(token, image, 0);

	return desc ? moved(room, desc, at) : at;
}

static size_t bytes_of(const struct caf_desc *desc)
{
	size_t n = desc->span;
	int i;

	for (i = 0; i < desc->rank; i++)
		n *= desc->dim[i].upper < desc->dim[i].lower ? 0 :
		     desc->dim[i].upper - desc->dim[i].lower + 1;
	return n;
}

/* What lies in order; for a put to this image itself, whose sides may overlap. */
static const void *own_copy(union any_desc *room, const struct caf_desc *from)
{
	struct caf_section source, copy;
	ptrdiff_t step = from->span;
	struct caf_dim *dim;
	char *buffer = malloc(bytes_of(from) + from->elem_len);

	if (!buffer)
		caf_die("no memory for a put");
	moved(room, from, buffer);
	room->desc.offset = 0;
	section_desc(&source, from, from->base, 0);
	section_scalar(&copy, buffer, from->elem_len, from->type, 0);
	for (dim = room->desc.dim; dim < room->desc.dim + from->rank; dim++) {
		dim->stride = step / from->span;
		room->desc.offset -= dim->lower * dim->stride;
		section_dim(&copy, dim->upper - dim->lower + 1, step);
		step *= dim->upper - dim->lower + 1;
	}
	section_copy(&copy, &source, false);
	return room;
}

/* The accessor allocates where it finds no memory; the caller has some. */
static void keep_place(struct caf_desc *to, char *place)
{
	if (!place || to->base == place)
		return;
	memcpy(place, to->base, bytes_of(to));
	free(to->base);
	to->base = place;
}

void _gfortran_caf_get_from_remote(void *token, const struct caf_desc *from,
				   const size_t *from_len, int index,
				   size_t size, void **data, size_t *to_len,
				   struct caf_desc *to, bool may_realloc,
				   int accessor, void *add, size_t add_size,
				   int *stat, struct caf_team **team,
				   int *number)
{
	get_fn get = (get_fn)function(accessor);
	struct caf_token add_token = { .own = add };
	int32_t is_allocated = false;
	union any_desc room;
	char *place = NULL;
	uint32_t image;

	if (!image_selected(index, team, number, stat, &image))
		return;
	if (to && !may_realloc) {
		place = to->base;
		to->base = NULL;
	}
	get(add, &index, to ? (void *)to : data, &is_allocated,
	    remote(&room, token, image, from), &add_token, 0, to_len, from_len);
	if (to)
		keep_place(to, place);
}

void _gfortran_caf_send_to_remote(void *token, struct caf_desc *to,
				  const size_t *to_len, int index, size_t size,
				  const void *data, const size_t *from_len,
				  const struct caf_desc *from, int accessor,
				  void *add, size_t add_size, int *stat,
				  struct caf_team **team, int *number)
{
	put_fn put = (put_fn)function(accessor);
	struct caf_token add_token = { .own = add };
	union any_desc room, copy = { .desc.base = NULL };
	const void *source = from ? (const void *)from : data;
	uint32_t image;

	if (!image_selected(index, team, number, stat, &image))
		return;
	if (from && image == caf_self.number)
		source = own_copy(&copy, from);
	put(add, &index, remote(&room, token, image, to), source, &add_token, 0,
	    to_len, from_len);
	free(copy.desc.base);
}

/*
 * By way of memory of this image, which the first accessor allocates.  Two more
 * arguments are declared, a team and a number for the source, which gfortran 15.3
 * does not pass.
 */
void _gfortran_caf_transfer_between_remotes(void *to_token,
					    struct caf_desc *to, size_t *to_len,
					    int to_index, int to_accessor,
					    void *to_add, size_t to_add_size,
					    void *from_token,
					    const struct caf_desc *from,
					    const size_t *from_len, int from_index,
					    int from_accessor, void *from_add,
					    size_t from_add_size, size_t size,
					    bool is_scalar, int *to_stat,
					    int *from_stat,
					    struct caf_team **to_team,
					    int *to_number)
{
	get_fn get = (get_fn)function(from_accessor);
	put_fn put = (put_fn)function(to_accessor);
	struct caf_token add_token = { .own = from_add };
	union any_desc room, between = { .desc.base = NULL };
	uint32_t from_image, to_image;
	int32_t is_allocated = false;

	if (!image_selected(from_index, NULL, NULL, from_stat, &from_image) ||
	    !image_selected(to_index, to_team, to_number, to_stat, &to_image))
		return;
	get(from_add, &from_index, &between, &is_allocated,
	    remote(&room, from_token, from_image, from), &add_token, 0, to_len,
	    from_len);
	add_token.own = to_add;
	put(to_add, &to_index, remote(&room, to_token, to_image, to),
	    is_scalar ? (void *)between.desc.base : &between, &add_token, 0,
	    to_len, from_len);
	if (is_allocated)
		free(between.desc.base);
}

int32_t _gfortran_caf_is_present_on_remote(void *token, int index, int accessor,
					   void *add, size_t add_size)
{
	present_fn present = (present_fn)function(accessor);
	struct caf_token add_token = { .own = add };
	union any_desc room;
	int32_t result = 0;
	uint32_t image;

	if (!token || !image_selected(index, NULL, NULL, NULL, &image))
		return 0;
	present(add, &index, &result,
		remote(&room, token, image, token_of(token)->desc), &add_token,
		0);
	return result;
}
