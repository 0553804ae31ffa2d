// SPDX-License-Identifier: GPL-2.0
/*
 * Devices: there is only the host, whose memory is the team's, so nothing has to
 * be brought anywhere.  A target region is a call of its body.
 */
#include <errno.h>
#include <stdlib.h>

#include "api.h"
#include "gomp.h"

#define KIND_FIRSTPRIVATE	12	/* the region has a copy */
#define KIND_MASK		0xff
#define KIND_ALIGN_SHIFT	8
#define DEFAULT_DEVICE		(-1)
#define NO_DEVICE		(-2)	/* if(false) */
/* Arguments of a target region: a number's kind and, above or behind it, the number. */
#define ARGUMENT_DEVICE		0x7f	/* 0: it is for all */
#define ARGUMENT_BEHIND		0x80
#define ARGUMENT_KIND		0xff00
#define ARGUMENT_LIMIT		0x200	/* thread_limit */
#define ARGUMENT_SHIFT		16
#define MANY_DIMENSIONS		16
#define BAD			EINVAL	/* as these calls say it */

void omp_set_default_device(int n)
{
	icvs()->device = n;
}

int omp_get_default_device(void)
{
	return icvs()->device;
}

int omp_get_num_devices(void)
{
	return 0;
}

int omp_get_initial_device(void)
{
	return 0;
}

int omp_get_device_num(void)
{
	return 0;
}

int omp_is_initial_device(void)
{
	return 1;
}

int omp_get_num_teams(void)
{
	return icvs()->nr_teams;
}

int omp_get_team_num(void)
{
	return icvs()->team;
}

/* The host has no device, and is the one with the number after the last. */
static void demand_device(int where)
{
	if (where == DEFAULT_DEVICE)
		where = icvs()->device;
	if (settings->must_offload && where && where != NO_DEVICE)
		omp_die("OMP_TARGET_OFFLOAD is set to MANDATORY, but device "
			"not found");
}

void *omp_target_alloc(size_t size, int where)
{
	return mios_omp_alloc(size);
}

void omp_target_free(void *p, int where)
{
	free(p);
}

/* What the region gets by value, behind one another in @room; or how much. */
static size_t copy_private(size_t n, void **addresses, const size_t *sizes,
			   const uint16_t *kinds, char *room)
{
	size_t at = 0, align, i;

	for (i = 0; i < n; i++) {
		/* NULL: an optional argument that is absent */
		if ((kinds[i] & KIND_MASK) != KIND_FIRSTPRIVATE || !addresses[i])
			continue;
		align = (size_t)1 << (kinds[i] >> KIND_ALIGN_SHIFT);
		at = (at + align - 1) & ~(align - 1);
		if (room) {
			memcpy(room + at, addresses[i], sizes[i]);
			addresses[i] = room + at;
		}
		at += sizes[i];
	}
	return at;
}

/* 0: there is none. */
static uint32_t limit_of(void **arguments)
{
	uintptr_t kind, n;

	while (arguments && *arguments) {
		kind = (uintptr_t)*arguments++;
		n = kind & ARGUMENT_BEHIND ? (uintptr_t)*arguments++ :
		    kind >> ARGUMENT_SHIFT;
		if (!(kind & ARGUMENT_DEVICE) &&
		    (kind & ARGUMENT_KIND) == ARGUMENT_LIMIT)
			return n < INT32_MAX ? n : INT32_MAX;
	}
	return 0;
}

/* One thread of its own, with what the environment and its clause say. */
static void run(body_fn fn, void **addresses, uint32_t limit)
{
	struct context c, *outer = context();

	region_enter(&c, outer, NULL, 0, 1, NULL);
	c.level = 0;
	c.active = 0;
	c.at_work = &c.own_at_work;
	icvs_first(&c.part.icvs);
	if (limit)
		c.part.icvs.limit = limit;
	fn(addresses);
	tasks_alone_end(&c);
	region_leave(&c, outer);
}

void GOMP_target_ext(int where, body_fn fn, size_t n, void **addresses,
		     size_t *sizes, uint16_t *kinds, unsigned int flags,
		     void **depend, void **arguments)
{
	size_t size = copy_private(n, addresses, sizes, kinds, NULL);
	char *room = size ? mios_omp_memalign(4096, size) : NULL;

	demand_device(where);
	if (depend)
		GOMP_taskwait_depend(depend);
	if (size && !room)
		omp_die("no memory left in the window for a target region");
	if (size)
		copy_private(n, addresses, sizes, kinds, room);
	run(fn, addresses, limit_of(arguments));
	free(room);
}

void GOMP_target(int where, body_fn fn, const void *unused, size_t n,
		 void **addresses, size_t *sizes, unsigned char *kinds)
{
	run(fn, addresses, 0);
}

#define NOTHING(NAME)							\
void NAME(void)								\
{									\
}

NOTHING(GOMP_target_data)
NOTHING(GOMP_target_data_ext)
NOTHING(GOMP_target_end_data)
NOTHING(GOMP_target_update)
NOTHING(GOMP_teams)

void GOMP_target_update_ext(int where, size_t n, void **addresses,
			    size_t *sizes, uint16_t *kinds, unsigned int flags,
			    void **depend)
{
	if (depend)
		GOMP_taskwait_depend(depend);
}

void GOMP_target_enter_exit_data(int where, size_t n, void **addresses,
				 size_t *sizes, uint16_t *kinds,
				 unsigned int flags, void **depend)
{
	if (depend)
		GOMP_taskwait_depend(depend);
}

/* On the host: the region is run once for each team, as long as we say so. */
bool GOMP_teams4(unsigned int low, unsigned int high, unsigned int limit,
		 bool first)
{
	struct icvs *own = icvs();

	if (first && limit)
		own->limit = limit;
	if (first)
		own->nr_teams = high ? high : 1;
	else
		own->team++;
	if (own->team < own->nr_teams)
		return true;
	own->team = 0;
	own->nr_teams = 1;
	return false;
}

/* Of gcc 14: a function of the device's. */
void *GOMP_target_map_indirect_ptr(void *p)
{
	return p;
}

int omp_target_is_present(const void *p, int where)
{
	return 1;
}

int omp_target_is_accessible(const void *p, size_t size, int where)
{
	return 1;
}

void *omp_get_mapped_ptr(const void *p, int where)
{
	return (void *)p;
}

int omp_target_associate_ptr(const void *host, const void *there, size_t size,
			     size_t offset, int where)
{
	return BAD;
}

int omp_target_disassociate_ptr(const void *host, int where)
{
	return BAD;
}

int omp_target_memcpy(void *to, const void *from, size_t size, size_t to_at,
		      size_t from_at, int to_where, int from_where)
{
	memcpy((char *)to + to_at, (const char *)from + from_at, size);
	return 0;
}

int omp_target_memcpy_async(void *to, const void *from, size_t size,
			    size_t to_at, size_t from_at, int to_where,
			    int from_where, int n, void **objects)
{
	task_await_objects(n, objects);
	return omp_target_memcpy(to, from, size, to_at, from_at, to_where,
				 from_where);
}

/* A box of an array: its first corner, how large it is, and the array. */
struct box {
	char *at;
	const size_t *corner, *array;
};

static void copy_box(struct box to, struct box from, int n, const size_t *size,
		     size_t element)
{
	size_t to_each = element, from_each = element, i;
	int d;

	for (d = 1; d < n; d++) {
		to_each *= to.array[d];
		from_each *= from.array[d];
	}
	to.at += to.corner[0] * to_each;
	from.at += from.corner[0] * from_each;
	if (n == 1) {
		memcpy(to.at, from.at, size[0] * element);
		return;
	}
	to.corner++;
	to.array++;
	from.corner++;
	from.array++;
	for (i = 0; i < size[0]; i++) {
		copy_box(to, from, n - 1, size + 1, element);
		to.at += to_each;
		from.at += from_each;
	}
}

int omp_target_memcpy_rect(void *to, const void *from, size_t element, int n,
			   const size_t *size, const size_t *to_corner,
			   const size_t *from_corner, const size_t *to_array,
			   const size_t *from_array, int to_where,
			   int from_where)
{
	if (!to && !from)
		return MANY_DIMENSIONS;
	if (n < 1 || n > MANY_DIMENSIONS)
		return BAD;
	copy_box((struct box){ to, to_corner, to_array },
		 (struct box){ (char *)from, from_corner, from_array }, n,
		 size, element);
	return 0;
}

int omp_target_memcpy_rect_async(void *to, const void *from, size_t element,
				 int n, const size_t *size,
				 const size_t *to_corner,
				 const size_t *from_corner,
				 const size_t *to_array,
				 const size_t *from_array, int to_where,
				 int from_where, int nr_objects,
				 void **objects)
{
	task_await_objects(nr_objects, objects);
	return omp_target_memcpy_rect(to, from, element, n, size, to_corner,
				      from_corner, to_array, from_array,
				      to_where, from_where);
}
