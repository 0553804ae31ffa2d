/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What an instance's miosd reports about the sessions that run there.
 */
#ifndef LIBMIOS_REPORT_H
#define LIBMIOS_REPORT_H

#include "proto.h"

#include <stddef.h>

struct task_report {
	struct mios_task *tasks;
	unsigned int nr_tasks;
};

int report_fetch(int instance, struct task_report *r, char *why, size_t size);
void report_free(struct task_report *r);

#endif /* LIBMIOS_REPORT_H */
