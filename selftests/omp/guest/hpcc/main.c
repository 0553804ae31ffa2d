// SPDX-License-Identifier: GPL-2.0
/*
 * STREAM and FFT of hpcc, as its main() has one process run them:
 *   hpcc BYTES REPORT
 */
#include <hpcc.h>

enum { THRESHOLD = 16 };	/* as hpccinf.txt has it */

int HPCC_LocalVectorSize(HPCC_Params *params, int vectors, size_t size,
			 int power_of_2)
{
	long n = params->HPLMaxProcMem / size / vectors, power = 1;

	while (2 * power <= n)
		power *= 2;
	return power_of_2 ? power : n;
}

int main(int argc, char **argv)
{
	HPCC_Params params = { .test.thrsh = THRESHOLD };
	double copy, scale, sum, triad, gflops;
	int n, failure = 1;

	if (argc != 3)
		return 2;
	params.HPLMaxProcMem = atol(argv[1]);
	snprintf(params.outFname, sizeof(params.outFname), "%s", argv[2]);
	if (HPCC_Stream(&params, 1, MPI_COMM_WORLD, 0, &copy, &scale, &sum,
			&triad, &failure) || failure)
		return 1;
	return HPCC_TestFFT(&params, 1, &gflops, &n, &failure) || failure;
}
