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

/* What is beyond any number is no other one. */
static int near(int64_t n)
{
	return n > INT32_MAX ? INT32_MAX : n < INT32_MIN ? INT32_MIN : n;
}

#define SET(NAME)							\
void NAME##_(const int32_t *n)						\
{									\
	NAME(*n);							\
}									\
void NAME##_8_(const int64_t *n)					\
{									\
	NAME(near(*n));							\
}

#define ASK(NAME)							\
int32_t NAME##_(const int32_t *n)					\
{									\
	return NAME(*n);						\
}									\
int32_t NAME##_8_(const int64_t *n)					\
{									\
	return NAME(near(*n));						\
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
GET(omp_get_max_teams)
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
GET(omp_get_teams_thread_limit)
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
SET(omp_set_num_teams)
SET(omp_set_num_threads)
SET(omp_set_teams_thread_limit)

ASK(omp_get_ancestor_thread_num)
ASK(omp_get_place_num_procs)
ASK(omp_get_team_size)

void omp_get_partition_place_nums_(int32_t *places)
{
	omp_get_partition_place_nums(places);
}

void omp_get_partition_place_nums_8_(int64_t *places)
{
	int i;

	for (i = 0; i < omp_get_partition_num_places(); i++)
		places[i] = i;
}

void omp_get_place_proc_ids_(const int32_t *place, int32_t *ids)
{
	omp_get_place_proc_ids(*place, ids);
}

void omp_get_place_proc_ids_8_(const int64_t *place, int64_t *ids)
{
	int32_t n = omp_get_place_num_procs(*place), all[n + 1], i;

	omp_get_place_proc_ids(*place, all);
	for (i = 0; i < n; i++)
		ids[i] = all[i];
}

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

double omp_get_wtime_(void)
{
	return omp_get_wtime();
}

double omp_get_wtick_(void)
{
	return omp_get_wtick();
}
