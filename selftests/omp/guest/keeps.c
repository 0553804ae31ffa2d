// SPDX-License-Identifier: GPL-2.0
/* A library that knows nothing of OpenMP, for state.cc: it keeps a number. */
static long kept;

void library_set(long value)
{
	kept = value;
}

long library_get(void)
{
	return kept;
}
