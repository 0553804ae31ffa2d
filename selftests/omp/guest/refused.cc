// SPDX-License-Identifier: GPL-2.0
/* A construct that a team over instances has not: it must end with a line. */
int main()
{
	int done = 0;

#pragma omp target map(tofrom : done)
	done = 1;
	return !done;
}
