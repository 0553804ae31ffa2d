// SPDX-License-Identifier: GPL-2.0
/*
 * What OMP_* variables of allocators, devices and teams make of a program, to be
 * compared with what the distribution's libgomp makes of it.
 */
#include <omp.h>

#include <cstdio>

int main()
{
	int here = -1, parts = 0;

	printf("allocator %ld, device %d, teams %d, threads of one %d\n",
	       (long)omp_get_default_allocator(), omp_get_default_device(),
	       omp_get_max_teams(), omp_get_teams_thread_limit());
#pragma omp teams num_teams(2)
	printf("team %d of %d\n", omp_get_team_num(), omp_get_num_teams());
#pragma omp teams
	printf("team %d of %d, as they come\n", omp_get_team_num(),
	       omp_get_num_teams());
	omp_set_num_teams(4);
#pragma omp teams
#pragma omp parallel
#pragma omp atomic
	parts += 1 + omp_get_num_teams();
	printf("%d in all\n", parts);
	fflush(stdout);
#pragma omp target map(from : here)
	here = omp_is_initial_device();
	parts = 0;
#pragma omp target teams distribute num_teams(3) map(tofrom : parts)
	for (int i = 0; i < 9; i++)
		parts += omp_get_num_teams() * 10 + omp_get_team_num();
	printf("on the host %d, %d in all\n", here, parts);
#pragma omp parallel
#pragma omp critical
	printf("place %d of %d, bound %d\n", omp_get_place_num(),
	       omp_get_num_places(), omp_get_proc_bind());
	return 0;
}
