// SPDX-License-Identifier: GPL-2.0
/*
 * What an instance begins with, by its options or else the settings: the first
 * process on the root of instance 0, or a root of its own on a device that it was
 * given, which has its own.  Called by boot.c, boot_plan.c and boot_node().
 */
#include <string.h>

#include "boot.h"
#include "libmios/libmios.h"
#include "set.h"

/* What that says; ends where it is no value. */
static const char *init_of(const struct setting *s)
{
	static char value[SET_VALUE];
	int err = setting_now(s, value);

	if (err < 0 || setting_valid(s, value))
		mios_die(MIOS_EXIT_FAILED, "boot: /etc/mios.conf: %s is busybox or "
			 "systemd", s->name);
	return value;
}

/* "busybox" or "systemd" */
const char *first_process(const struct boot_options *opt, unsigned int node)
{
	const char *own = opt->init ?: init_of(setting_init(node));

	return strcmp(own, "none") ? own : init_of(setting_find("init"));
}

const char *boot_root(const struct boot_options *opt, unsigned int node)
{
	const struct setting *s = setting_root(node);
	static char value[SET_VALUE];
	char given[SET_VALUE];

	if (opt->root)
		strcpy(value, opt->root);	/* valid, so no longer */
	else if (setting_now(s, value) < 0 || setting_valid(s, value))
		mios_die(MIOS_EXIT_FAILED, "boot %u: /etc/mios.conf: %s is " ROOT_FORM,
			 node, s->name);
	if (!strcmp(value, "none"))
		return NULL;
	if (opt->init)
		mios_die(MIOS_EXIT_FAILED, "boot %u: --init chooses on a root that "
			 "is served, and %s names one of its own: --root none",
			 node, s->name);
	if (strcmp(init_of(setting_init(node)), "none"))
		mios_die(MIOS_EXIT_FAILED, "boot %u: init.%u chooses on a root that "
			 "is served, and there is one of its own: mios set "
			 "init.%u=none", node, node, node);
	/* Before mios is loaded it is nobody. */
	if (mios_self() > 0)
		mios_die(MIOS_EXIT_FAILED, "boot %u: only instance 0 gives it the "
			 "device that its root is on: mios boot --root none",
			 node);
	if (!setting_now(setting_give(node), given) && !strcmp(given, "none"))
		mios_die(MIOS_EXIT_FAILED, "boot %u: a root of its own is on a "
			 "device of its own: mios set give.%u=ADDRESS, such as "
			 "03:00.0", node, node);
	return value;
}

struct boot_start boot_start(const struct boot_plan *plan, unsigned int node)
{
	struct boot_start how = {
		.init = first_process(&plan->options, node),
		.root = boot_root(&plan->options, node),
		.server = boot_server(plan->ring),
	};

	if (!how.root)
		boot_server_check(how.server, node);
	return how;
}
