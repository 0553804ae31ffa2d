// SPDX-License-Identifier: GPL-2.0
/*
 * Integer sort by counting: each node counts its keys, adds its counts to the
 * shared ones by atomic instructions, and moves its keys to their places.
 * Right: what comes out is in order, and has the same sum.
 */
#include "program.h"
#include "sort.h"

const char program_name[] = "sort";
const int program_size = SORT_SIZE;

int program(int size)
{
	int *count = shared(0, SORT_RANGE * sizeof(*count), 0);
	int *place = shared(1, SORT_RANGE * sizeof(*place), 0);
	int *out = shared(2, size * sizeof(*out), MIOS_DSM_STRIPED);
	int own[SORT_RANGE] = { 0 }, from = part_begin(size), to = part_end(size);
	double sum = 0, all = 0;
	int bad = 0;

	for (int i = from; i < to; i++) {
		own[sort_key(i)]++;
		sum += sort_key(i);
	}
	for (int k = 0; k < SORT_RANGE; k++)
		if (own[k])
			__atomic_fetch_add(&count[k], own[k], __ATOMIC_SEQ_CST);
	must(mios_dsm_barrier(), "barrier");
	if (!mios_dsm_node())
		for (int k = 1; k < SORT_RANGE; k++)
			place[k] = place[k - 1] + count[k - 1];
	must(mios_dsm_barrier(), "barrier");
	/* A place for each of ours, of all that have the same key. */
	for (int k = 0; k < SORT_RANGE; k++)
		own[k] = __atomic_fetch_add(&place[k], own[k],
					    __ATOMIC_SEQ_CST);
	for (int i = from; i < to; i++)
		out[own[sort_key(i)]++] = sort_key(i);
	must(mios_dsm_sum(&sum), "sum");
	for (int i = 0; i < size; i++) {
		all += out[i];
		bad |= i && out[i] < out[i - 1];
	}
	return bad || all != sum;
}
