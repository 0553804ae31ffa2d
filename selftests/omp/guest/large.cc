// SPDX-License-Identifier: GPL-2.0
/*
 * Large data, which -mcmodel=medium puts apart, far above the rest: "large MEMBERS".
 */
#include <cstdlib>
#include <omp.h>

#include "check.h"

static double far_zero[1 << 20], far_set[1 << 16] = { 1 };
static int near_zero[64], near_set[64] = { 1 };

int main(int argc, char **argv)
{
	int members = atoi(argv[1]);
	double sums[4] = {};

	far_set[1] = far_zero[1] = near_set[1] = near_zero[1] = members;
#pragma omp parallel
	{
		int n = omp_get_thread_num() + 2;

		far_set[n] = far_set[1];
		far_zero[n] = far_zero[1];
		near_set[n] = near_set[1];
		near_zero[n] = near_zero[1];
	}
	for (int i = 2; i < members + 2; i++) {
		sums[0] += far_set[i];
		sums[1] += far_zero[i];
		sums[2] += near_set[i];
		sums[3] += near_zero[i];
	}
	check(far_set[0] == 1 && near_set[0] == 1, "what it begins with");
	for (double sum : sums)
		check(sum == members * members, "the sum of what all have stored");
	printf("%d members, all right\n", members);
	return 0;
}
