/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the host watches: instances that end without a word, or hang; on
 * instance 0 its own end; and, on every instance, sleep.  It tells end/ what is
 * to go.
 */
#ifndef MIOS_WATCH_H
#define MIOS_WATCH_H

#include <linux/types.h>

#include "../node/node.h"

/* How often the watch looks at every node, a second. */
#define MIOS_WATCH_HZ		20

/* watch.c: instances that end by themselves */
extern const struct mios_link_ops mios_life_ops;
int mios_life_init(void);
void mios_life_exit(void);
void mios_watch_start(void);
void mios_watch_stop(void);

/* successor.c: an instance that is host in place of instance 0 */
int mios_successor_prepare(void);
void mios_successor_take_over(void);
void mios_successor_resign(void);
void mios_successor_exit(void);

/* hang.c: an instance that stands still */
bool mios_node_give_up(struct mios_node *node);
const char *mios_node_hangs(struct mios_node *node);
void mios_hang_publish(void);
void mios_hang_inherit(void);

/* host_end.c: the end of instance 0 */
void mios_host_watch(void);
void mios_host_unwatch(void);

/* sleep.c: suspend and hibernation, on every instance */
int mios_sleep_init(void);
void mios_sleep_exit(void);

#endif /* MIOS_WATCH_H */
