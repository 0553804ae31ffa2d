/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What instances' miosds report about the sessions that run there.
 */
#ifndef LIBMIOS_REPORT_H
#define LIBMIOS_REPORT_H

#include "proto.h"

#include <stddef.h>

struct task_report {
	int instance;
	int error;			/* 0, or -errno and a line in why */
	char why[MIOS_TEXT_LEN + 32];
	struct mios_task *tasks;
	unsigned int nr_tasks;
};

void report_fetch(struct task_report *list, unsigned int nr);
void report_free(struct task_report *r);

#endif /* LIBMIOS_REPORT_H */
