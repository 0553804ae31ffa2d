/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MIOS_METRICS_H
#define MIOS_METRICS_H

#include "libmios/libmios.h"

void metrics_print(const struct mios_instance *list, int nr, uint64_t which);

#endif /* MIOS_METRICS_H */
