// SPDX-License-Identifier: GPL-2.0
/* Calls of omp.h that programs seldom make, each with what it must give. */
#include <omp.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

static void check(bool good, const char *what)
{
	if (good)
		return;
	printf("WRONG: %s\n", what);
	exit(1);
}

static void memory()
{
	omp_alloctrait_t traits[] = { { omp_atk_alignment, 256 } };
	omp_allocator_handle_t own =
		omp_init_allocator(omp_default_mem_space, 1, traits);
	char *a = (char *)omp_alloc(100, own);
	char *b = (char *)omp_aligned_calloc(64, 10, 10, omp_default_mem_alloc);
	int sum = 0;

	check(a && !((uintptr_t)a % 256), "an allocator's alignment");
	strcpy(a, "kept");
	a = (char *)omp_realloc(a, 100000, own, own);
	check(!strcmp(a, "kept") && !((uintptr_t)a % 256), "omp_realloc");
	for (int i = 0; i < 100; i++)
		sum += b[i];
	check(!sum && !((uintptr_t)b % 64), "omp_aligned_calloc");
	omp_free(a, own);
	omp_free(b, omp_null_allocator);
	omp_destroy_allocator(own);
}

/* What an allocator may give, and what is done when it has given that. */
static void pools()
{
	omp_alloctrait_t small[] = { { omp_atk_pool_size, 4096 },
				     { omp_atk_fallback, omp_atv_null_fb } };
	omp_allocator_handle_t pool =
		omp_init_allocator(omp_default_mem_space, 2, small);
	omp_alloctrait_t other[] = { { omp_atk_pool_size, 1024 },
				     { omp_atk_fallback, omp_atv_allocator_fb },
				     { omp_atk_fb_data, (omp_uintptr_t)pool } };
	omp_allocator_handle_t goes_on =
		omp_init_allocator(omp_default_mem_space, 3, other);
	omp_alloctrait_t none[] = { { omp_atk_alignment, 3 } };
	void *a = omp_alloc(3000, pool), *b = omp_alloc(3000, pool), *c;

	check(a && !b, "a pool is used up");
	omp_free(a, omp_null_allocator);
	a = omp_realloc(omp_alloc(3000, pool), 4000, pool, pool);
	check(a, "what is given back, and grows, is counted once");
	c = omp_alloc(900, goes_on);
	check(c && !omp_alloc(900, goes_on), "one allocator after the other");
	omp_free(a, pool);
	a = omp_alloc(900, goes_on);
	check(a, "of the second one");
	omp_free(a, goes_on);
	omp_free(c, goes_on);
	omp_destroy_allocator(goes_on);
	omp_destroy_allocator(pool);
	check(omp_init_allocator(omp_default_mem_space, 1, none) ==
	      omp_null_allocator, "an alignment that is none");
}

static void affinity(int members)
{
	char text[100], want[20];
	int wrong = 0;

	omp_set_affinity_format("%n of %{num_threads}%%");
	check(omp_get_affinity_format(text, 5) == 22 && !strcmp(text, "%n o"),
	      "the format, cut");
#pragma omp parallel private(text, want) reduction(+ : wrong)
	{
		omp_capture_affinity(text, sizeof(text), "%0.3n");
		snprintf(want, sizeof(want), "%d", omp_get_thread_num());
		wrong += atoi(text) != atoi(want);
	}
	check(!wrong, "a member's own number");
	check(omp_capture_affinity(text, sizeof(text), NULL) == 7 &&
	      !strcmp(text, "0 of 1%"), "the format, followed");
	omp_display_affinity("%L");
	omp_display_env(0);
	check(omp_pause_resource_all(omp_pause_soft) <= 0, "pause");
	omp_set_num_teams(3);
	check(omp_get_max_teams() == 3, "teams");
	check(omp_get_num_places() >= 0 && omp_get_max_threads() == members,
	      "places");
#pragma omp error at(execution) severity(warning) message("not too loud")
}

/* What a program is told by its own directives. */
static void errors(const char *text)
{
#pragma omp error at(execution) severity(warning)
#pragma omp error at(execution) severity(warning) message(text)
#pragma omp error at(execution) message(text)
}

int main(int argc, char **argv)
{
	int members = atoi(argv[1]);

	if (argc > 2 && !strcmp(argv[2], "errors"))
		errors("some text");
	memory();
	pools();
	affinity(members);
	printf("%d members, all right\n", members);
	return 0;
}
