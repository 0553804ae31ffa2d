/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The guest's disks: files of node 0, each behind a virtio device.
 */
#ifndef DISK_H
#define DISK_H

#include "vmm.h"

struct disks {
	uint16_t count;
	const char *what[VMM_VIRTIO_MAX];	/* FILE or FILE,ro */
};

/* By node 0.  Each: 0, or -1 after a line. */
int disks_start(const struct disks *d);

#endif /* DISK_H */
