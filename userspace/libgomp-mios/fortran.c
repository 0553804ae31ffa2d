// SPDX-License-Identifier: GPL-2.0
/*
 * Fortran's names of omp_*(): an underscore behind, arguments by reference, and
 * for those with arguments a second one for 8-byte integers.  Logical values
 * are integers, 0 or 1.
 */
#include "api.h"
#include "gomp.h"

#define GET(NAME)							\
int32_t NAME##_(void)							\
{									\
	return NAME();							\
}

#define SET(NAME)							\
void NAME##_(const int32_t *n)						\
{									\
	NAME(*n);							\
}									\
void NAME##_8_(const int64_t *n)					\
{									\
	NAME(*n);							\
}

#define ASK(NAME)							\
int32_t NAME##_(const int32_t *n)					\
{									\
	return NAME(*n);						\
}									\
int32_t NAME##_8_(const int64_t *n)					\
{									\
	return NAME(*n);						\
}

GET(omp_get_active_level)
GET(omp_get_cancellation)
GET(omp_get_default_device)
GET(omp_get_device_num)
GET(omp_get_dynamic)
GET(omp_get_initial_device)
GET(omp_get_level)
GET(omp_get_max_active_levels)
GET(omp_get_max_task_priority)
GET(omp_get_max_threads)
GET(omp_get_nested)
GET(omp_get_num_devices)
GET(omp_get_num_places)
GET(omp_get_num_procs)
GET(omp_get_num_teams)
GET(omp_get_num_threads)
GET(omp_get_partition_num_places)
GET(omp_get_place_num)
GET(omp_get_proc_bind)
GET(omp_get_supported_active_levels)
GET(omp_get_team_num)
GET(omp_get_thread_limit)
GET(omp_get_thread_num)
GET(omp_in_explicit_task)
GET(omp_in_final)
GET(omp_in_parallel)
GET(omp_is_initial_device)

SET(omp_set_default_device)
SET(omp_set_dynamic)
SET(omp_set_max_active_levels)
SET(omp_set_nested)
SET(omp_set_num_threads)

ASK(omp_get_ancestor_thread_num)
ASK(omp_get_place_num_procs)
ASK(omp_get_team_size)

void omp_set_schedule_(const int32_t *kind, const int32_t *chunk)
{
	omp_set_schedule(*kind, *chunk);
}

void omp_set_schedule_8_(const int32_t *kind, const int64_t *chunk)
{
	omp_set_schedule(*kind, *chunk);
}

void omp_get_schedule_(int32_t *kind, int32_t *chunk)
{
	omp_get_schedule(kind, chunk);
}

void omp_get_schedule_8_(int32_t *kind, int64_t *chunk)
{
	int32_t n;

	omp_get_schedule(kind, &n);
	*chunk = n;
}

void omp_set_default_allocator_(const uintptr_t *allocator)
{
	omp_set_default_allocator(*allocator);
}

uintptr_t omp_get_default_allocator_(void)
{
	return omp_get_default_allocator();
}

double omp_get_wtime_(void)
{
	return omp_get_wtime();
}

double omp_get_wtick_(void)
{
	return omp_get_wtick();
}
