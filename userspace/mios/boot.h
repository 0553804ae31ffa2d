/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What "mios boot" hands to the part that boots one node: everything checked
 * and in memory, the same for all nodes.
 */
#ifndef MIOS_BOOT_H
#define MIOS_BOOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "loader/loader.h"
#include "output.h"

/* What was asked for; the strings are those of the command line. */
struct boot_options {
	const char *kernel, *initrd, *append, *init, *root;
	const char *cpus, *memory;	/* of a part that is to be made */
	long ring, timeout;	/* seconds */
	int reuse, no_wait, again, configured, dry_run;
	struct output output;
};

struct boot_plan {
	struct loader_file kernel;
	struct loader_file initrd;
	struct loader_image image;
	char cmdline[LOADER_CMDLINE_MAX];
	unsigned int ring;
	unsigned int timeout_ms;
	int wait;		/* until init has finished */
	const char *kernel_path, *initrd_path;
	struct boot_options options;	/* for --again */
};

/* boot.c: they end with a line about what is wrong; the last boots */
void boot_options_parse(int argc, char **argv, struct boot_options *opt);
int boot_planned(struct boot_plan *plan, uint64_t nodes,
		 const struct output *output);

/* boot_plan.c: the first three end likewise */
struct boot_plan *boot_plan_make(const struct boot_options *opt);
void boot_plan_check(const struct boot_plan *plan, uint64_t nodes);
void boot_plan_fits(const struct boot_plan *plan, unsigned int node, uint64_t memory);
void boot_plan_show(const struct boot_plan *plan, unsigned int node);

/* How long a boot took, in seconds. */
struct boot_times {
	double take, load, start;
};

/* boot_part.c: they end where it cannot be made */
void boot_part_check(const struct boot_options *opt, int argc, char **argv);
void boot_part(const struct boot_plan *plan);

/* boot_node.c: they return the exit status; boot_bare() until it has joined, no more */
int boot_node(const struct boot_plan *plan, unsigned int node);
int boot_bare(const struct boot_plan *plan, unsigned int node,
	      struct boot_times *times);

/* boot_wait.c: the same; @own_root: not that of instance 0 */
int boot_wait(const struct boot_plan *plan, unsigned int node, bool own_root);
int boot_wait_network(const struct boot_plan *plan, unsigned int node);

/* boot_again.c: the second ends when there is nothing to go by */
void boot_remember(const struct boot_plan *plan, unsigned int node);
struct boot_plan *boot_recall(unsigned int node);

/* boot_give.c: what the setting give.N names; without @wait it says so alone */
int boot_give(unsigned int node, bool wait);

/* What an instance begins with. */
struct boot_start {
	const char *init;	/* "busybox" or "systemd" on a served root */
	const char *root;	/* its own, or NULL */
	unsigned int server;	/* which instance serves that of the others */
};

/* boot_key.c: @both: @initrd with what is in front of it */
void add_key(const struct loader_file *initrd, struct loader_file *both,
	     int must, const struct boot_start *how);

/* boot_root.c: they end where a setting is no value, or cannot be so */
const char *first_process(const struct boot_options *opt, unsigned int node);
const char *boot_root(const struct boot_options *opt, unsigned int node);
struct boot_start boot_start(const struct boot_plan *plan, unsigned int node);

/* boot_server.c: who serves the root; and those that are up and have it from @server */
unsigned int boot_server(unsigned int ring);
void boot_server_check(unsigned int server, unsigned int node);
void boot_served_remember(unsigned int server, unsigned int node);
uint64_t boot_served(unsigned int server);

/* holder.c */
void frame_holder(uint64_t frame, char *text, size_t size);

/* boot_files.c: defaults for --kernel and --initrd, and what they rely on */
void wait_for_host_setup(void);
const char *default_kernel(void);
const char *default_initrd(const char *release);
bool boot_run(char * const argv[]);
void add_address(unsigned int ring);
void update_names(unsigned int ring);

#endif /* MIOS_BOOT_H */
