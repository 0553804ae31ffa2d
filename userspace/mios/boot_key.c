// SPDX-License-Identifier: GPL-2.0
/*
 * Puts the machine's key in front of an initrd, as the file /mios-key of an
 * archive of its own: so it reaches the instance through the node's memory
 * and lies in no file that others, or other instances, can read.  Beside it
 * lies /mios-network, which the instance needs before it can read any file of
 * instance 0's, and /mios-init, which names its first process.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "boot.h"
#include "libmios/key.h"
#include "libmios/libmios.h"

#define KEY		"mios-key"
#define NETWORK		"mios-network"
#define INIT		"mios-init"
#define ALIGN		512	/* of what follows an archive */

/* One entry of a "newc" archive, everything padded to four bytes. */
static size_t put_entry(unsigned char *to, const char *name, unsigned int mode,
			const void *data, size_t size)
{
	size_t len;

	/* number, mode, uid, gid, links, time, size, devices, name, sum */
	len = sprintf((char *)to, "070701%08x%08x%08x%08x%08x%08x%08zx%08x%08x"
		      "%08x%08x%08zx%08x", 0, mode, 0, 0, 1, 0, size, 0, 0, 0,
		      0, strlen(name) + 1, 0);
	len += sprintf((char *)to + len, "%s", name) + 1;
	len = loader_align_up(len, 4);
	if (size)
		memcpy(to + len, data, size);
	return loader_align_up(len + size, 4);
}

/*
 * In front, since what follows may be compressed in a way that reads to its
 * end.  Only an instance that @must run miosd, or has another first process than
 * the usual one, cannot do without.
 */
void add_key(struct loader_file *initrd, int must, const char *init)
{
	unsigned char key[MIOS_KEY_LEN], head[2 * ALIGN] = "", *both;
	char network[MIOS_NETWORK_LEN + 1];
	int err = mios_key_read(key);
	size_t len;

	if (err && !must && !strcmp(init, "busybox"))
		return;
	if (err)
		mios_die(MIOS_EXIT_FAILED, "boot: %s", mios_key_error(err));
	if (mios_network_text(network))
		mios_die(MIOS_EXIT_FAILED, "boot: %s", MIOS_NO_NETWORK);
	strcat(network, "\n");
	len = put_entry(head, KEY, 0100600, key, sizeof(key));
	len += put_entry(head + len, NETWORK, 0100644, network,
			 strlen(network));
	len += put_entry(head + len, INIT, 0100644, init, strlen(init));
	len += put_entry(head + len, "TRAILER!!!", 0, NULL, 0);
	len = loader_align_up(len, ALIGN);
	both = malloc(len + initrd->size);
	if (!both)
		mios_die(MIOS_EXIT_FAILED, "boot: no memory left");
	memcpy(both, head, len);
	memcpy(both + len, initrd->data, initrd->size);
	free(initrd->data);
	initrd->data = both;
	initrd->size += len;
}
