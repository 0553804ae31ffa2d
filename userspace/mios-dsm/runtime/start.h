/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The node that this process is, and how mios-dsm run tells it so: a variable
 * of the environment with numbers, the last of which are the descriptors that
 * lead to the other nodes.
 */
#ifndef START_H
#define START_H

#include "dsm_node.h"

#define START_VARIABLE	"MIOS_DSM"
/*
 * With it nodes are on an Ethernet: cluster, incarnation, 1: sockets, the descriptor
 * of a struct seal_secret or -1, interface.
 */
#define START_WIRE	"MIOS_DSM_WIRE"
#define START_PAGES	32768	/* of a window, unless told */

/* start.c; set by mios_dsm_start() before anybody else reads it. */
extern struct node node_self;

#endif /* START_H */
