/* SPDX-License-Identifier: GPL-2.0 */
/* CPUs that tasks of other jobs are bound to: see run_bound.c. */
#ifndef MIOS_RUN_BOUND_H
#define MIOS_RUN_BOUND_H

#include "libmios/placement.h"

void bound_ask(const struct placement_request *rq, struct placement *places, int n);

#endif /* MIOS_RUN_BOUND_H */
