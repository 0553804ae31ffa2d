// SPDX-License-Identifier: GPL-2.0
/*
 * What a program may ask and set by omp_*(), and its locks: those that may be
 * locked again, and those that are only tried.
 *	queries MEMBERS
 */
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <omp.h>

#include "check.h"

enum { EACH = 200 };

static int members;

static void locks()
{
	long count = 0, tried = 0, wrong = 0;
	omp_nest_lock_t nested;
	omp_lock_t lock;

	omp_init_nest_lock(&nested);
	omp_init_lock(&lock);
#pragma omp parallel reduction(+ : wrong)
	for (int i = 0; i < EACH; i++) {
		omp_set_nest_lock(&nested);
		wrong += omp_test_nest_lock(&nested) != 2;
		omp_set_nest_lock(&nested);
		count++;
		omp_unset_nest_lock(&nested);
		omp_unset_nest_lock(&nested);
		omp_unset_nest_lock(&nested);
		while (!omp_test_lock(&lock))
			;
		wrong += omp_test_lock(&lock) != 0;
		tried++;
		omp_unset_lock(&lock);
	}
	check(!wrong && count == EACH * members, "omp_*_nest_lock");
	check(tried == count, "omp_test_lock");
	omp_set_nest_lock(&nested);
	wrong = 0;
#pragma omp parallel reduction(+ : wrong)
	if (omp_get_thread_num())
		wrong += omp_test_nest_lock(&nested) != 0;
	omp_unset_nest_lock(&nested);
	check(!wrong, "a lock of another member");
	omp_destroy_nest_lock(&nested);
	omp_destroy_lock(&lock);
}

static void regions()
{
	long wrong = omp_in_parallel() || omp_get_level() || omp_in_final();
	int most = omp_get_max_threads(), count = 0;

#pragma omp parallel reduction(+ : wrong)
	{
		wrong += !omp_in_parallel() || omp_get_level() != 1 ||
			 omp_get_active_level() != 1 ||
			 omp_get_team_size(1) != members ||
			 omp_get_ancestor_thread_num(0) ||
			 omp_get_ancestor_thread_num(1) != omp_get_thread_num();
#pragma omp task final(true) shared(wrong)
		{
			long bad = !omp_in_final();
#pragma omp atomic
			wrong += bad;
		}
	}
	omp_set_num_threads(2);
#pragma omp parallel reduction(+ : count)
	count += omp_get_num_threads();
	check(!wrong && count == 4, "regions, omp_set_num_threads");
	omp_set_num_threads(most);
	omp_set_dynamic(1);
	wrong += !omp_get_dynamic();
	omp_set_dynamic(0);
	wrong += omp_get_dynamic() || omp_get_num_procs() < 1 ||
		 omp_get_supported_active_levels() < 2;
	check(!wrong, "omp_get_dynamic");
}

static void memory()
{
	char *a = (char *)omp_aligned_alloc(256, 512, omp_default_mem_alloc);
	int *b = (int *)omp_calloc(100, sizeof(*b), omp_large_cap_mem_alloc);
	long sum = 1;

	for (int i = 0; b && i < 100; i++)
		sum += b[i];
	check(a && !((uintptr_t)a % 256) && b && sum == 1, "omp_calloc");
	omp_free(a, omp_default_mem_alloc);
	omp_free(b, omp_null_allocator);
	omp_set_default_allocator(omp_const_mem_alloc);
	check(omp_get_default_allocator() == omp_const_mem_alloc,
	      "omp_set_default_allocator");
	omp_set_default_allocator(omp_default_mem_alloc);
}

static void devices()
{
	int host = omp_get_initial_device(), value = 7, copy;
	long wrong = omp_get_num_devices() != 0;

	omp_set_default_device(3);
	wrong += omp_get_default_device() != 3;
	omp_set_default_device(0);
	wrong += omp_target_associate_ptr(&value, &copy, 4, 0, host) != EINVAL ||
		 omp_target_disassociate_ptr(&value, host) != EINVAL;
	check(!wrong, "devices");
}

static void places()
{
	int n = omp_get_partition_num_places(), all[1024];

	check(n >= 0 && n <= 1024, "omp_get_partition_num_places");
	omp_get_partition_place_nums(all);
	for (int i = 0; i < n; i++)
		check(all[i] == i, "omp_get_partition_place_nums");
}

static void times()
{
	double begin = omp_get_wtime(), tick = omp_get_wtick();

	while (omp_get_wtime() - begin < 0.002)
		;
	check(tick > 0 && tick < 0.1, "omp_get_wtick");
}

int main(int argc, char **argv)
{
	members = atoi(argv[1]);
	regions();
	locks();
	memory();
	devices();
	places();
	times();
	printf("%d members, all right\n", members);
	return 0;
}
