/* SPDX-License-Identifier: GPL-2.0 */
/* omp_*() and the small entry points: see api.c. */
#ifndef MIOS_GOMP_API_H
#define MIOS_GOMP_API_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

void omp_set_num_threads(int n);
int omp_get_num_threads(void);
int omp_get_thread_num(void);
int omp_get_thread_limit(void);
int omp_get_max_threads(void);
int omp_get_num_procs(void);
int omp_in_parallel(void);
int omp_get_level(void);
int omp_get_active_level(void);
int omp_get_ancestor_thread_num(int level);
int omp_get_team_size(int level);
void omp_set_dynamic(int on);
int omp_get_dynamic(void);
void omp_set_nested(int on);
int omp_get_nested(void);
void omp_set_max_active_levels(int n);
int omp_get_max_active_levels(void);
int omp_get_supported_active_levels(void);
void omp_set_schedule(int kind, int chunk);
void omp_get_schedule(int *kind, int *chunk);
int omp_in_final(void);
int omp_in_explicit_task(void);
int omp_get_cancellation(void);
int omp_get_max_task_priority(void);
double omp_get_wtime(void);
double omp_get_wtick(void);
int omp_get_proc_bind(void);
int omp_get_num_places(void);
int omp_get_place_num(void);
int omp_get_partition_num_places(void);
void omp_get_partition_place_nums(int *places);
int omp_get_place_num_procs(int place);
void omp_get_place_proc_ids(int place, int *ids);
void omp_display_affinity(const char *text);
void omp_set_default_device(int n);
int omp_get_default_device(void);
int omp_get_num_devices(void);
int omp_get_initial_device(void);
int omp_get_device_num(void);
int omp_is_initial_device(void);
int omp_get_num_teams(void);
int omp_get_team_num(void);
int omp_get_max_teams(void);
void omp_set_num_teams(int n);
int omp_get_teams_thread_limit(void);
void omp_set_teams_thread_limit(int n);
void *omp_target_alloc(size_t size, int where);
void omp_target_free(void *p, int where);
bool GOMP_cancel(int which, bool now);
bool GOMP_cancellation_point(int which);
bool GOMP_barrier_cancel(void);
bool GOMP_loop_end_cancel(void);
bool GOMP_sections_end_cancel(void);
void GOMP_teams_reg(void (*fn)(void *data), void *data, unsigned int teams,
		    unsigned int threads, unsigned int flags);

#endif /* MIOS_GOMP_API_H */
