/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What "mios boot" hands to the part that boots one node: everything checked
 * and in memory, the same for all nodes.
 */
#ifndef MIOS_BOOT_H
#define MIOS_BOOT_H

#include <stddef.h>
#include <stdint.h>

#include "loader/loader.h"

struct boot_plan {
	struct loader_file kernel;
	struct loader_file initrd;
	struct loader_image image;
	char cmdline[LOADER_CMDLINE_MAX];
	unsigned int ring;
	unsigned int timeout_ms;
	int wait;		/* until init has finished */
	char *const *options;	/* as typed, for --again */
	int nr_options;
};

/* boot_node.c: returns the exit status */
int boot_node(const struct boot_plan *plan, unsigned int node);

/* boot_wait.c: the same */
int boot_wait(const struct boot_plan *plan, unsigned int node);

/* boot_again.c: the second returns the exit status */
void boot_remember(const struct boot_plan *plan, unsigned int node);
int boot_again(uint64_t nodes);

/* boot_key.c */
void add_key(struct loader_file *initrd, int must);

/* holder.c */
void frame_holder(uint64_t frame, char *text, size_t size);

/* boot_files.c: defaults for --kernel and --initrd, and what they rely on */
void wait_for_host_setup(void);
const char *default_kernel(void);
const char *default_initrd(const char *release);
void update_names(unsigned int ring);

#endif /* MIOS_BOOT_H */
