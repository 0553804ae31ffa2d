// SPDX-License-Identifier: GPL-2.0
/*
 * Which instance serves the root of those without one of their own: instance 0, or
 * who the setting root-server names; and who has his root from whom, so that a
 * server is not stopped under the others.  Called by mios boot, stop and restart.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "boot.h"
#include "libmios/libmios.h"
#include "set.h"

#define FOLDER		"/run/mios/boot"	/* boot_remember() has made it */
#define SERVES		"/run/mios/server"	/* this instance does: initrd/init */

static void path_of(unsigned int node, char path[64])
{
	snprintf(path, 64, FOLDER "/%u.root", node);
}

/* From whom @node has its root since its last boot, or -1. */
static int root_of(unsigned int node)
{
	char path[64];
	FILE *file;
	int of;

	path_of(node, path);
	file = fopen(path, "re");
	if (!file)
		return -1;
	if (fscanf(file, "%d", &of) != 1)
		of = -1;
	fclose(file);
	return of;
}

/* In another ring than 0 it is instance 0: nobody else is in two. */
unsigned int boot_server(unsigned int ring)
{
	const struct setting *s = setting_find("root-server");
	char value[SET_VALUE];

	if (ring)
		return 0;
	if (!access(SERVES, F_OK))
		return mios_self();
	if (setting_now(s, value) < 0 || setting_valid(s, value))
		mios_die(MIOS_EXIT_FAILED, "boot: /etc/mios.conf: root-server is "
			 "the number of an instance");
	return atoi(value);
}

/* Before @node is taken: an instance that finds no root gives up. */
void boot_server_check(unsigned int server, unsigned int node)
{
	struct mios_instance inst;

	if (!server && !mios_self())
		return;
	if (server == node)
		mios_die(MIOS_EXIT_FAILED, "boot %u: it is to serve the root of "
			 "the others and has none of its own: mios set root.%u= "
			 "names it", node, node);
	if (mios_instance_read(server, &inst) || inst.state != MIOS_STATE_UP)
		mios_die(MIOS_EXIT_FAILED, "boot %u: instance %u, which serves "
			 "its root, is not up: boot that first", node, server);
	if (!mios_self() && root_of(server) != (int)server)
		mios_die(MIOS_EXIT_FAILED, "boot %u: instance %u, which is to serve "
			 "its root, was booted without one of its own: see mios "
			 "set root.%u, and boot that anew", node, server, server);
}

/* Only who has the claim of @node writes its file; others read it meanwhile. */
void boot_served_remember(unsigned int server, unsigned int node)
{
	char path[64], fresh[72];
	FILE *file;

	path_of(node, path);
	snprintf(fresh, sizeof(fresh), "%s.new", path);
	file = fopen(fresh, "we");
	if (!file || fprintf(file, "%u\n", server) < 0 || fclose(file) ||
	    rename(fresh, path))
		mios_error("mios", "boot %u: %s: %m", node, path);
}

/* But @server itself. */
uint64_t boot_served(unsigned int server)
{
	struct mios_instance inst;
	uint64_t nodes = 0;
	unsigned int i;

	for (i = 1; i < MIOS_MAX_INSTANCES; i++)
		if (i != server && root_of(i) == (int)server &&
		    !mios_instance_read(i, &inst) &&
		    inst.state != MIOS_STATE_DOWN &&
		    inst.state != MIOS_STATE_DEAD &&
		    inst.state != MIOS_STATE_HELD)
			nodes |= 1ULL << i;
	return nodes;
}
