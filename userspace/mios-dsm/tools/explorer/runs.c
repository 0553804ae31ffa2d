// SPDX-License-Identifier: GPL-2.0
/*
 * Many seeded runs of a litmus test, each on the next of all clusters that
 * the explorer would try.  One seed gives the same runs on every machine.
 * Called by cmd_litmus.c.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "../../../libmios/cli.h"
#include "../../../libmios/random.h"
#include "runs.h"

int runs_all(struct runs *r, runs_one *one)
{
	struct plan p = { .t = r->t, .protocol = r->protocol,
			  .order = r->order, .mixed = r->protocol == DSM_PROTOCOLS,
			  .thorough = true, .spare = r->spare };
	struct world w = r->world;
	struct world_state *s = malloc(W_STATE);
	u64 seed = r->seed, now;
	int err = 0;

	if (!s)
		return cli_error("out of memory");
	if (p.mixed)
		p.protocol = DSM_WUPLUS;
	plan_first(&p, &w);
	while (r->done < r->runs && !r->v.violated && !r->v.limit && !err) {
		now = random_next(&seed);
		err = one(r, &w, s, now);
		r->done++;
		r->tell = r->trace && r->v.violated;
		if (r->tell)
			one(r, &w, s, now);
		if (r->v.violated || r->v.limit) {
			size_t n = snprintf(r->where, sizeof(r->where),
					    "run %" PRIu64 " of seed %" PRIu64
					    "; ", r->done, r->seed);

			plan_name(&w, r->where + n, sizeof(r->where) - n);
		}
		if (!plan_next(&p, &w))
			plan_first(&p, &w);
	}
	free(s);
	return err;
}
