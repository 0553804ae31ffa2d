/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How an instance ends and is buried: by force or asked, fenced, its memory
 * dumped or not, and its node given back.  Called by watch/ and start/ when
 * something has gone wrong, by dev/ for a person.
 */
#ifndef MIOS_END_H
#define MIOS_END_H

#include <linux/types.h>

#include "../node/node.h"
#include "given.h"

/**
 * struct mios_choice - a module parameter that is one of some words
 * @names:	the words; the value is an index of them
 * @count:	how many
 * @value:	the one that holds now
 */
struct mios_choice {
	const char * const *names;
	size_t count;
	unsigned int value;
};

static inline const char *mios_choice_name(const struct mios_choice *choice)
{
	return choice->names[READ_ONCE(choice->value)];
}

/* command.c */
int mios_command_start(const char *command, u32 instance, const char *option);

/* choice.c: module_param_cb(name, &mios_choice_ops, &choice, mode) */
extern const struct kernel_param_ops mios_choice_ops;

/* fence.c: an instance that is dead stays dead */
struct mios_notes *mios_node_notes(const struct mios_node *node);
int mios_node_fence(struct mios_node *node);

/* bury.c: from fencing to down */
void mios_node_reap(struct mios_node *node);
void mios_node_reap_more(struct mios_node *node);
void mios_node_unhold(struct mios_node *node);
int mios_reaper_init(void);
void mios_reaper_flush(void);
void mios_reaper_exit(void);

/* end.c: how an instance ends */
int mios_node_stop(u32 instance, unsigned int timeout_ms,
		   struct mios_reason *why);
int mios_node_kill(u32 instance, unsigned int timeout_ms,
		   struct mios_reason *why);
void mios_nodes_kill_all(void);

/* dump.c: the memory of a dead instance, until it has been read */
struct file;
bool mios_node_hold(struct mios_node *node);
void mios_node_dump_ask(struct mios_node *node);
void mios_node_hold_check(struct mios_node *node);
int mios_node_discard(struct mios_node *node, struct mios_reason *why);
int mios_node_dump_discard(u32 instance, struct mios_reason *why);
struct file *mios_node_dump_open(struct mios_dump *dump,
				 struct mios_dump_cpu *cpus,
				 struct mios_reason *why);

#endif /* MIOS_END_H */
