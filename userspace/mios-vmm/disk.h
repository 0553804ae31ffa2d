/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The guest's disks: files of node 0, each behind a virtio device.
 */
#ifndef DISK_H
#define DISK_H

#include "vmm.h"

#define DISKS_MAX	(VMM_VIRTIO_MAX - 1)	/* and a network */

struct disks {
	uint16_t count;
	const char *what[DISKS_MAX];	/* FILE or FILE,ro */
};

/* By node 0.  Each: 0, or -1 after a line. */
int disks_start(const struct disks *d);

#endif /* DISK_H */
