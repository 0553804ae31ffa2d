/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The guest's network: a tap of node 0's host, behind a virtio device.
 */
#ifndef NET_H
#define NET_H

#include "vmm.h"

#define NET_MAC		6	/* bytes of an address */

/* By node 0: the device of that number, over a tap.  0, or -1 after a line. */
int net_open(uint16_t number, const char *tap);
/* Over what gives and takes a frame at a time, and does not wait. */
int net_start(uint16_t number, int fd, const uint8_t mac[NET_MAC]);

#endif /* NET_H */
