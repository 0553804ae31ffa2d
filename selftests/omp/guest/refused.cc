// SPDX-License-Identifier: GPL-2.0
/* A construct that a team over instances has not: it must end with a line. */
int main()
{
	int done = 0;

#pragma acc parallel copy(done)
	done = 1;
	return !done;
}
